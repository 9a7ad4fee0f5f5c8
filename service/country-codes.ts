const displayNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

/** Names that people and forms write beside the English name of Unicode's list, as `plainName` writes them. */
const variants = {
  usa: 'US',
  us: 'US',
  'united states of america': 'US',
  uk: 'GB',
  'great britain': 'GB',
  turkey: 'TR',
  'czech republic': 'CZ',
  'russian federation': 'RU',
  'republic of korea': 'KR',
  'hong kong': 'HK',
  macau: 'MO',
};

/** Made by the first call: it takes as long as loading a package, and most processes never need it. */
let codesByName: ReadonlyMap<string, string> | undefined;

/**
 * The two-letter code of a country: `United States` is `US`, a code is returned in capitals; undefined for an unknown
 * name. The service takes codes and returns names, so an address from an answer needs this before it is sent again.
 */
export function countryCodeOf(country: string): string | undefined {
  const name = plainName(country);
  codesByName ??= new Map([...namedRegions(), ...Object.entries(variants)]);
  return codesByName.get(name) ?? (/^[a-z]{2}$/.test(name) ? name.toUpperCase() : undefined);
}

function namedRegions(): [name: string, code: string][] {
  const letters = Array.from({ length: 26 }, (_, n) => String.fromCharCode('A'.charCodeAt(0) + n));
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  return codes.flatMap((code) => {
    // "Unknown Region" and the two pseudo regions are Unicode's own, not countries.
    if (['ZZ', 'XA', 'XB'].includes(code)) return [];
    // A withdrawn code shares its successor's name (DD and DE are both "Germany"): only the current one counts.
    if (new Intl.Locale(`und-${code}`).region !== code) return [];
    const name = displayNames.of(code);
    return name === undefined ? [] : [[plainName(name), code]];
  });
}

/** Lower case, without accents, punctuation and a leading article. */
function plainName(name: string): string {
  const letters = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();
  return letters
    .replace(/&/g, ' and ')
    .replace(/[.'’]/g, '')
    .replace(/[^\p{Letter}]+/gu, ' ')
    .trim()
    .replace(/^the /, '');
}
