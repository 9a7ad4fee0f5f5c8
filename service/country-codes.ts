/** The country of an address from an answer as it is sent again: `US` goes in and comes back as `United States`. Others stay as they are. */
export function countryCodeOf(country: string): string {
  return country.trim().toLowerCase() === 'united states' ? 'US' : country;
}
