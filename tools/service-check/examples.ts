import sampler from 'openapi-sampler';
import { type Description, isPart, listIn, type Operation, type Part, partIn, resolved } from './description.js';

/** An answer that the description shows, or that its schema describes. */
export interface Example {
  /** Where it is from: the example's name, or `schema`. */
  name: string;
  value: unknown;
}

const json = /^application\/(?:[a-z.+-]*\+)?json$/;

/** The examples of an operation's successful answer. One that is made of the schema comes if there is none. */
export function examplesOf({ document }: Description, { answer }: Operation): Example[] {
  const content = Object.entries(answer).find(([type]) => json.test(type))?.[1];
  if (!content) return [];
  const schema = resolved(document, content['schema']);
  const shown = [...named(document, content), ...ofSchema(schema)];
  return shown.length > 0 ? shown : [madeOf(document, content['schema'])];
}

function named(document: Part, content: Part): Example[] {
  const several = Object.entries(partIn(content, 'examples')).map(([name, given]) => ({
    name,
    value: resolved(document, given)['value'],
  }));
  return 'example' in content ? [{ name: 'example', value: content['example'] }, ...several] : several;
}

function ofSchema(schema: Part): Example[] {
  const { example } = schema;
  return [...(example === undefined ? [] : [example]), ...listIn(schema, 'examples')].map((value) => ({
    name: 'schema example',
    value,
  }));
}

function madeOf(document: Part, schema: unknown): Example {
  // Schemas that contain themselves end where the sampler's depth does.
  return {
    name: 'schema',
    value: isPart(schema) ? sampler.sample(schema, { quiet: true, maxSampleDepth: 8 }, document) : {},
  };
}

export function isPdf({ answer }: Operation): boolean {
  return 'application/pdf' in answer;
}
