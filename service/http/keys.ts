import { defaultBrand } from '../description.js';

/** The key settings of `ServiceConfig`; see there. */
interface KeyConfig {
  apiKey: string;
  managementKey?: string | undefined;
  keyPrefixes?: { team?: string | undefined; management?: string | undefined };
  brand?: string | undefined;
  deprecatedManagementHeader?: boolean;
  warn?: (warning: string) => void;
}

/** The fault of a key, as a text that follows its name and does not repeat it. */
export interface KeyFault {
  key: 'apiKey' | 'managementKey' | 'keyPrefixes';
  problem: string;
}

/**
 * Faults of the keys that could never work: a management key cannot be used as a team API key (specification,
 * "Authentication"), nor the other way round.
 */
export function keyFault({ apiKey, managementKey, keyPrefixes = {} }: KeyConfig): KeyFault | undefined {
  if (apiKey === undefined || apiKey === '') return { key: 'apiKey', problem: 'is missing' };
  if (apiKey === managementKey) return { key: 'apiKey', problem: 'must not be the management key' };
  const { team = '', management = '' } = keyPrefixes;
  if (team !== '' && team === management) {
    return { key: 'keyPrefixes', problem: 'must differ for the two kinds of keys' };
  }
  const problem = problemOf(apiKey, 'team', keyPrefixes);
  if (problem !== undefined) return { key: 'apiKey', problem };
  const other = managementKey === undefined ? undefined : problemOf(managementKey, 'management', keyPrefixes);
  return other === undefined ? undefined : { key: 'managementKey', problem: other };
}

type Kind = 'team' | 'management';

function problemOf(key: string, own: Kind, prefixes: { [kind in Kind]?: string | undefined }): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(key)) return 'must be printable ASCII without spaces';
  const fitting = (['team', 'management'] as const)
    .map((kind) => ({ kind, prefix: prefixes[kind] ?? '' }))
    .filter(({ prefix }) => prefix !== '' && key.startsWith(prefix))
    // One prefix may begin with the other.
    .toSorted((one, other) => other.prefix.length - one.prefix.length);
  const kind = fitting[0]?.kind;
  if (kind !== undefined && kind !== own) return `begins as a ${kind} key does`;
  return kind === undefined && (prefixes[own] ?? '') !== '' ? `does not begin as a ${own} key does` : undefined;
}

/** The name of the header that carries the management key. */
export function managementHeader({ brand = defaultBrand, deprecatedManagementHeader = false }: KeyConfig): string {
  return deprecatedManagementHeader ? `x-${brand.toLowerCase()}-org-key` : 'x-management-key';
}

/** Reports once, at the first use, that the header's name is deprecated: to `warn`, else as a process warning. */
export function warnOfDeprecatedHeader(config: KeyConfig): void {
  if (config.deprecatedManagementHeader !== true || config.managementKey === undefined) return;
  const header = managementHeader(config);
  const warning = `the header ${header} is deprecated: send X-Management-Key as soon as the deployment takes it`;
  if (config.warn) config.warn(warning);
  else process.emitWarning(warning, { type: 'DeprecationWarning', code: 'LABOPS_MANAGEMENT_HEADER' });
}
