import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { oddKeys, oddValue, Raw } from './odd-values.js';
import type { Random } from './random.js';

type Container = unknown[] | Record<string, unknown>;

/** A place inside a JSON value. */
interface Place {
  holder: Container;
  key: string | number;
}

/** Written after a key, it makes the text repeat the key before it. */
const repeated = '\u0007repeated';
/** Written instead of `__proto__`, which an object literal would take for its prototype. */
const prototypeKey = '\u0007prototype';

/**
 * A copy of a JSON value with one to four faults: a value of another type at any depth, a field that is missing, repeated or
 * renamed, a list that has grown. Write it with `textOf`.
 */
export function mutated(random: Random, value: unknown): unknown {
  const root = { value: structuredClone(value) };
  for (let faults = 1 + random.below(4); faults > 0; faults -= 1) spoil(random, root);
  return root.value;
}

function spoil(random: Random, root: Record<string, unknown>): void {
  const place = placeIn(random, root);
  const { holder, key } = place;
  const value = valueAt(place);
  const put = (given: unknown): void => void Object.assign(holder, { [key]: given });
  switch (random.below(8)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      break;
    case 1:
      if (isContainer(value)) addTo(random, value);
      else put([value]);
      break;
    case 2:
      if (isList(value)) for (let more = random.pick([1, 2, 50, 1_000]); more > 0; more -= 1) value.push(value[0]);
      else put({ value });
      break;
    case 3:
      rename(random, place, value);
      break;
    case 4:
      put(typeof value === 'string' ? bentText(random, value) : (JSON.stringify(value) ?? ''));
      break;
    default:
      put(oddValue(random));
  }
}

/** A megabyte: more than any webhook has. */
const longestText = 1_000_000;

/** Any place, chosen on the way down: what lies deep is reached as often as what lies high. */
function placeIn(random: Random, root: Record<string, unknown>): Place {
  let place: Place = { holder: root, key: 'value' };
  for (;;) {
    const value = valueAt(place);
    if (!isContainer(value) || random.oneIn(value === root['value'] ? 40 : 6)) return place;
    const keys = Object.keys(value);
    if (keys.length === 0) return place;
    const key = random.pick(keys);
    place = { holder: value, key: Array.isArray(value) ? Number(key) : key };
  }
}

function valueAt({ holder, key }: Place): unknown {
  return (holder as Record<string | number, unknown>)[key];
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !(value instanceof Raw);
}

function addTo(random: Random, container: Container): void {
  if (Array.isArray(container)) container.push(oddValue(random));
  else container[writable(random.pick(oddKeys))] = oddValue(random);
}

function rename(random: Random, { holder, key }: Place, value: unknown): void {
  if (Array.isArray(holder)) {
    holder.reverse();
    return;
  }
  const name = random.pick([`${key}${repeated}`, String(key).toUpperCase(), `${key} `, writable(random.pick(oddKeys))]);
  if (!name.endsWith(repeated)) delete holder[key];
  holder[name] = name.endsWith(repeated) ? oddValue(random) : value;
}

function writable(key: string): string {
  return key === '__proto__' ? prototypeKey : key;
}

function bentText(random: Random, text: string): unknown {
  const at = random.below(text.length + 1);
  return random.pick<unknown>([
    text.toUpperCase(),
    text.slice(0, at),
    ` ${text}\n`,
    `${text.slice(0, at)}\u0000${text.slice(at)}`,
    `${text.slice(0, at)}${random.pick(['é', '/', '.', '"', '\\', '\u{1F9EA}', ':', '-'])}${text.slice(at)}`,
    text.repeat(Math.min(random.pick([2, 20, 2_000]), Math.ceil(longestText / (text.length + 1)))),
    new Raw(`${JSON.stringify(text).slice(0, -1)}\\ud800"`),
    Number(text),
    [text],
  ]);
}

/** The JSON text of a mutated value. */
export function textOf(value: unknown): string {
  const raws: string[] = [];
  const text = JSON.stringify(value, (_key, each: unknown) => {
    if (!(each instanceof Raw)) return each;
    raws.push(each.json);
    return `\u0007raw${raws.length - 1}`;
  });
  if (text === undefined) return '';
  return text
    .replaceAll(/(?<!\\)\\u0007repeated/g, '')
    .replaceAll(/(?<!\\)\\u0007prototype/g, '__proto__')
    .replaceAll(/"\\u0007raw(\d+)"/g, (_match, index: string) => raws[Number(index)] ?? 'null');
}

/** A file of seeds/. */
export function readSeeds<T>(name: string): T[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'seeds', name), 'utf8')) as T[];
}

/** The bytes of a JSON value with faults: most are in the value, some in its text, some in its bytes. */
export function spoiltBytes(random: Random, value: unknown): Buffer {
  const text = textOf(random.oneIn(50) ? oddValue(random) : mutated(random, value));
  const bytes = Buffer.from(random.oneIn(25) ? spoiltText(random, text) : text);
  return random.oneIn(25) ? spoilt(random, bytes) : bytes;
}

function spoiltText(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  return random.pick([
    text.slice(0, at),
    `\uFEFF${text}`,
    `${text}${text}`,
    ` \n\t${text} \n`,
    `${text.slice(0, at)},${text.slice(at)}`,
    text.replaceAll('"', "'"),
    text.replace(/:\s*[^,}]+/, ':NaN'),
    text.replaceAll('null', 'undefined'),
    `/* */${text}`,
    '',
  ]);
}

function spoilt(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.below(6)) {
    case 0:
      return gzipSync(bytes, { level: 1 });
    case 1:
      return deflateSync(bytes, { level: 1 });
    case 2:
      return brotliCompressSync(bytes.subarray(0, 5_000));
    case 3:
      return Buffer.from(bytes.toString('latin1'), 'utf16le');
    default: {
      const invalid = random.pick(['ff', 'c080', 'eda080', 'f5808080', 'c3', '80', 'efbfbe', '00']);
      return Buffer.concat([before, Buffer.from(invalid, 'hex'), after]);
    }
  }
}
