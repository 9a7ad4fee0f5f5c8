import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { mutated, textOf } from './mutate.js';
import { oddValue } from './odd-values.js';
import type { Random } from './random.js';

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
