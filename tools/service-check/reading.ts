import { AnswerUnreadable } from '../../service/errors.js';
import { isPart } from './description.js';
import type { Outcome } from './exchanges.js';

/** What pages and confirmations say of themselves: the client uses it up. */
const usedUp: ReadonlySet<string> = new Set([
  'total',
  'page',
  'pages',
  'size',
  'offset',
  'limit',
  'nextcursor',
  'success',
  'message',
]);

interface Leaf {
  path: string;
  key: string;
  value: string;
}

/** What is wrong with the reading of an example: it is refused, or values of it are lost. */
export function readingFaults(example: unknown, outcome: Outcome): string[] {
  if ('error' in outcome) {
    const { error } = outcome;
    const problem = error instanceof Error ? error.message : String(error);
    return [error instanceof AnswerUnreadable ? `is not read: ${problem}` : `is refused: ${problem}`];
  }
  // The client has no use for the answer.
  if (outcome.result === undefined || typeof outcome.result === 'boolean') return [];
  const read = leavesOf(outcome.result);
  const pairs = new Set(read.map(({ key, value }) => `${key}=${value}`));
  const values = new Set(read.map(({ value }) => value).filter((value) => value.length > 5));
  const lost = leavesOf(example).filter(
    ({ key, value }) => !usedUp.has(key) && !pairs.has(`${key}=${value}`) && !values.has(value),
  );
  return [...new Set(lost.map(({ path }) => path.replaceAll(/\d+/g, '0')))].map((path) => `loses ${path}`);
}

/** The values of a JSON value, without nulls and empty texts, each as a text that its other spellings share. */
function leavesOf(value: unknown, path = '', key = ''): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => leavesOf(each, `${path}.${index}`, key));
  if (isPart(value)) return Object.entries(value).flatMap(([name, each]) => leavesOf(each, `${path}.${name}`, name));
  if (value === null || value === undefined || value === '') return [];
  // The client writes some names in camel case.
  return [{ path: path.slice(1) || 'the answer', key: key.replaceAll('_', '').toLowerCase(), value: spelt(value) }];
}

/** A time has many spellings, and an id may be a number. */
function spelt(value: unknown): string {
  const text = String(value);
  if (!/^\d{4}-\d{2}-\d{2}[T ]/.test(text)) return text;
  const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`;
  const time = Date.parse(zoned.replace(' ', 'T'));
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}

const mark = 'a-value-that-no-field-takes';

/** The example with an odd value in each of its fields in turn: a field that brings it to the result is not known to the client. */
export function markedIn(example: unknown): { path: string; value: unknown }[] {
  return pathsOf(example).map((path) => ({ path: path.join('.'), value: withMark(example, path) }));
}

export function bringsMark(outcome: Outcome): boolean {
  return 'result' in outcome && JSON.stringify(outcome.result ?? null).includes(mark);
}

/** Of a list, the first entry stands for all. */
function pathsOf(value: unknown): string[][] {
  if (Array.isArray(value)) return value.length === 0 ? [] : pathsOf(value[0]).map((path) => ['0', ...path]);
  if (!isPart(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => [[name], ...pathsOf(each).map((path) => [name, ...path])]);
}

function withMark(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  const given = rest.length === 0 ? [[mark]] : withMark((value as Record<string, unknown>)[name], rest);
  // The other entries of a list would keep an answer readable in which the first one is not.
  return Array.isArray(value) ? [given] : { ...(value as object), [name]: given };
}
