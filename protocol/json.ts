/** By code units, the same everywhere; `localeCompare` is not. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** JSON with sorted keys: the same for two snapshots that say the same. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => compareText(a, b)))
      : inner,
  );
}

/* For workflows, which may not import service/. */
export { isObject, omitNullish } from '../service/json-object.js';
