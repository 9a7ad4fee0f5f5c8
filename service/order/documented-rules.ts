import { type CallFacts, RequestInvalid } from '../errors.js';
import type { RefusedField } from '../lab-operations-error.js';

/*
 * The rules that laboratories are documented to have (docs/internals/lab-service.md): names in ASCII, US zip codes, two-letter country
 * codes. A deployment may accept more, so they are checked only if the settings say so; a request that breaks one is then
 * refused before it is sent.
 */

/** `service`: the service decides. `documented`: what it is documented to refuse is not sent. */
export type OrderRules = 'service' | 'documented';

const labNamePattern = /^([a-zA-Z0-9]{1})([a-zA-Z0-9-.,']*(\s[a-zA-Z0-9-.,']+)*[a-zA-Z0-9-.,']?)$/;
const zipPattern = /^\d{5}(-\d{4})?$/;
const countryPattern = /^[A-Z]{2}$/;

const nameRule = "must start with a letter (a-z, A-Z) or digit, and may contain only those, single spaces and - . , '";
const zipRule = 'must be five digits, or five, a hyphen and four (12345 or 12345-6789)';
const countryRule = 'must be a two-letter country code in capitals, for instance US';

/** A request whose form is right. */
interface OfPatient {
  patient_details?: { first_name: string; last_name: string };
  patient_address?: Address;
  shipping_details?: Address;
}

interface Address {
  zip: string;
  country: string;
}

/** @throws RequestInvalid with every broken rule, without its value */
export function checkDocumentedRules(call: CallFacts, rules: OrderRules, request: OfPatient): void {
  if (rules === 'service') return;
  const { patient_details: patient, patient_address: address, shipping_details: shipping } = request;
  const broken = [
    ...faultsOf('patient_details', patient, {
      first_name: [labNamePattern, nameRule],
      last_name: [labNamePattern, nameRule],
    }),
    ...faultsOf('patient_address', address, ofAddresses),
    ...faultsOf('shipping_details', shipping, ofAddresses),
  ];
  if (broken.length > 0) throw new RequestInvalid(call, broken);
}

type Rule = readonly [pattern: RegExp, says: string];

const ofAddresses = { zip: [zipPattern, zipRule], country: [countryPattern, countryRule] } satisfies Record<
  string,
  Rule
>;

function faultsOf<Part extends object>(
  part: string,
  values: Part | undefined,
  rules: Readonly<Partial<Record<keyof Part & string, Rule>>>,
): RefusedField[] {
  if (values === undefined) return [];
  return (Object.entries(rules) as [keyof Part & string, Rule][])
    .filter(([field, [pattern]]) => !pattern.test(String(values[field])))
    .map(([field, [, message]]) => ({ field: `${part}.${field}`, message }));
}
