import sampler from 'openapi-sampler';
import { type Description, isPart, listIn, type Operation, type Part, partIn, resolved } from './description.js';
import type { Schemas } from './schemas.js';

/** An answer that the description shows, or one that was made of its schema. */
export interface Example {
  /** Where it is from: the example's name, or `schema`. */
  name: string;
  value: unknown;
  isMade: boolean;
  /** False if it breaks its own schema: then it does not say what an answer is like. */
  isValid: boolean;
}

const json = /^application\/(?:[a-z.+-]*\+)?json$/;

/** The examples of an operation's successful answer, and one that is made of the schema if none of them is valid. */
export function examplesOf({ document }: Description, { answer }: Operation, schemas: Schemas): Example[] {
  const content = Object.entries(answer).find(([type]) => json.test(type))?.[1];
  if (!content) return [];
  const schema = isPart(content['schema']) ? content['schema'] : {};
  const checked = (given: Pick<Example, 'name' | 'value'>, isMade: boolean): Example => ({
    ...given,
    isMade,
    isValid: schemas.faultsOf(schema, given.value).length === 0,
  });
  const shown = [...named(document, content), ...ofSchema(resolved(document, schema))];
  const examples = shown.map((given) => checked(given, false));
  return examples.some(({ isValid }) => isValid) ? examples : [...examples, checked(madeOf(document, schema), true)];
}

function named(document: Part, content: Part): Pick<Example, 'name' | 'value'>[] {
  const several = Object.entries(partIn(content, 'examples')).map(([name, given]) => ({
    name,
    value: resolved(document, given)['value'],
  }));
  return 'example' in content ? [{ name: 'example', value: content['example'] }, ...several] : several;
}

function ofSchema(schema: Part): Pick<Example, 'name' | 'value'>[] {
  const { example } = schema;
  return [...(example === undefined ? [] : [example]), ...listIn(schema, 'examples')].map((value) => ({
    name: 'schema example',
    value,
  }));
}

function madeOf(document: Part, schema: Part): Pick<Example, 'name' | 'value'> {
  const plain = plainDocuments.get(document) ?? (withoutExamples(document) as Part);
  plainDocuments.set(document, plain);
  // Schemas that contain themselves end where the sampler's depth does.
  const options = { quiet: true, maxSampleDepth: 20 };
  return { name: 'schema', value: sampler.sample(withoutExamples(schema) as Part, options, plain) };
}

/** The documents without examples: that of a part may break its schema, and the sampler would use it. */
const plainDocuments = new WeakMap<Part, Part>();

/** A property may be called `example`, too. */
function withoutExamples(part: unknown, isSchema = true): unknown {
  if (Array.isArray(part)) return part.map((each) => withoutExamples(each));
  if (!isPart(part)) return part;
  const kept = Object.entries(part).filter(([name]) => !isSchema || (name !== 'example' && name !== 'examples'));
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutExamples(each, name !== 'properties')]));
}

export function isPdf({ answer }: Operation): boolean {
  return 'application/pdf' in answer;
}
