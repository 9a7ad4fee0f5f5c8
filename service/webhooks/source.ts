import { isObject } from '../json-object.js';

/** The source of data or of a connection, as far as stated. */
export interface SourceRead {
  /** The provider's slug. */
  provider?: string;
  /** The provider's device or app, for instance `watch`; most sources do not name it. */
  type?: string;
}

/** A source is `{name, slug, logo}`, `{provider, type}` or a text, under `source` or `provider` (docs/internals/lab-service.md). */
export function sourceOf(data: unknown): SourceRead {
  if (!isObject(data)) return {};
  const sources = [data['source'], data['provider']];
  const provider = firstWord(
    sources.flatMap((source) => (isObject(source) ? [source['slug'], source['provider']] : [source])),
  );
  const type = firstWord(sources.map((source) => (isObject(source) ? source['type'] : undefined)));
  return { ...(provider !== undefined && { provider }), ...(type !== undefined && { type }) };
}

function firstWord(values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}
