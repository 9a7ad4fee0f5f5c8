/** A JSON object: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string with something in it. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Undefined if the text is not JSON. Nothing quotes it, as a parser's message would. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields that have a value: what is null or undefined is left out, so what is not known is not written. */
export function omitNullish<Fields extends object>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as Present<Fields>;
}

type Optional<Fields> = {
  [Name in keyof Fields]: Fields[Name] extends NonNullable<Fields[Name]> ? never : Name;
}[keyof Fields];

export type Present<Fields> = Omit<Fields, Optional<Fields>> & {
  [Name in Optional<Fields>]?: NonNullable<Fields[Name]>;
};
