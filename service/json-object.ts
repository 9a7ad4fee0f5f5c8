/** A JSON object: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string with something in it. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
