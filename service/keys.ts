/** What `ServiceConfig` says about keys; see there. */
export interface KeyConfig {
  apiKey: string;
  managementKey?: string;
  keyPrefixes?: { team?: string; management?: string };
  brand?: string;
  deprecatedManagementHeader?: boolean;
  warn?: (warning: string) => void;
}

/**
 * Throws a TypeError where the keys could never work, in words that do not repeat one: a management key cannot be used as
 * a team API key (specification, "Authentication"), nor the other way round.
 */
export function checkKeys(config: KeyConfig): void {
  if (config.apiKey === config.managementKey) throw new TypeError('apiKey must not be the management key');
  for (const [name, own] of [
    ['apiKey', 'team'],
    ['managementKey', 'management'],
  ] as const) {
    const key = config[name];
    if (key === undefined) continue;
    if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError(`${name} must be printable ASCII without spaces`);
    checkKind(name, key, own, config.keyPrefixes ?? {});
  }
}

type Kind = 'team' | 'management';

function checkKind(name: string, key: string, own: Kind, prefixes: { [kind in Kind]?: string }): void {
  const { team = '', management = '' } = prefixes;
  if (team !== '' && team === management) throw new TypeError('keyPrefixes must tell the two kinds of keys apart');
  const fitting = (
    [
      { kind: 'team', prefix: team },
      { kind: 'management', prefix: management },
    ] as const
  )
    .filter(({ prefix }) => prefix !== '' && key.startsWith(prefix))
    // One prefix may begin with the other.
    .toSorted((one, other) => other.prefix.length - one.prefix.length);
  const kind = fitting[0]?.kind;
  if (kind !== undefined && kind !== own) throw new TypeError(`${name} begins as a ${kind} key does`);
  if (kind === undefined && (prefixes[own] ?? '') !== '') {
    throw new TypeError(`${name} does not begin as a ${own} key does`);
  }
}

/** The name of the header that carries the management key. */
export function managementHeader({ brand = 'service', deprecatedManagementHeader = false }: KeyConfig): string {
  return deprecatedManagementHeader ? `x-${brand.toLowerCase()}-org-key` : 'x-management-key';
}

/** Says once, where it is used at all, that the header's name is deprecated: to `warn`, else as a process warning. */
export function warnOfDeprecatedHeader(config: KeyConfig): void {
  if (config.deprecatedManagementHeader !== true || config.managementKey === undefined) return;
  const header = managementHeader(config);
  const warning = `the header ${header} is deprecated: send X-Management-Key as soon as the deployment takes it`;
  if (config.warn) config.warn(warning);
  else process.emitWarning(warning, { type: 'DeprecationWarning', code: 'LABOPS_MANAGEMENT_HEADER' });
}
