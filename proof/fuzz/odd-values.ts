import type { Random } from './random.js';

/** JSON that `JSON.stringify` does not write. `textOf` puts it into the text as it is. */
export class Raw {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** Values of every type, most of them wrong wherever they stand. */
const small: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e21],
  ...['', ' ', 'null', '0', '-1', '.', '..', '../../etc/passwd', 'a/b', "'; drop table users; --", '%00', '{{7*7}}'],
  ...[
    '\u0000',
    '\u202Egnp',
    '\u{1F9EA}',
    'é',
    'İ',
    '\r\nSet-Cookie: a=b',
    '<script>alert(1)</script>',
    '[a](javascript:b)',
  ],
  ...[
    '1900-01-01',
    '0000-00-00',
    '2026-02-30',
    '9999-12-31T23:59:59-23:59',
    '+275760-09-13T00:00:00Z',
    '2026-01-05T10:00:00',
  ],
  ...['2026-01-05 10:00:00+00:00', '2026-01-05T10:00:00.123456789Z', '2026-01-05T24:00:00Z', '1767600000', 'soon'],
  ...['received.testkit.ordered', 'completed.testkit.completed', 'cancelled', 'a.b.c.d', '..', 'received..ordered'],
  ...[
    'labops/default:-:order-1:1',
    'labops/default:root:order:with:colons:2',
    'labops/default:../x:order-1:1',
    'toString',
    '__proto__',
  ],
  ...[[], {}, [null], [[]], [{}], { '': '' }, { length: -1 }, { toString: 1, valueOf: null }, [1, 'a', null, {}]],
  new Raw('1e400'),
  new Raw('-1e400'),
  new Raw('-0'),
  new Raw('12345678901234567890123456789012345678901234567890'),
  new Raw('"\\ud800"'),
  new Raw('"\\udc00 \\ud83d"'),
  new Raw('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"polluted":true}}}'),
  new Raw('{"id":1,"id":"2","id":null}'),
];

/** Each is rare, because it costs as much as a thousand others. */
const large: readonly ((size: number) => unknown)[] = [
  (size) => 'a'.repeat(size),
  (size) => ' '.repeat(size),
  (size) => '\u0000'.repeat(size),
  (size) => '-'.repeat(size),
  (size) => `2026-01-05T10:00:00.${'0'.repeat(size)}Z`,
  (size) => 'a.'.repeat(size / 2),
  (size) => "a'".repeat(size / 2),
  (size) => 'labops/default:'.repeat(size / 15),
  (size) => new Raw('9'.repeat(size)),
  (size) => new Raw('['.repeat(size / 2) + ']'.repeat(size / 2)),
  (size) => new Raw(`${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`),
  (size) => Array.from({ length: size / 2 }, () => null),
  (size) => Array.from({ length: size / 8 }, (_, n) => n),
  (size) => Object.fromEntries(Array.from({ length: size / 10 }, (_, n) => [`k${n}`, n])),
];

export function oddValue(random: Random): unknown {
  if (!random.oneIn(60)) return copyOf(random.pick(small));
  const size = random.oneIn(40) ? 1_000_000 : random.pick([300, 5_000, 5_000, 60_000]);
  return random.pick(large)(size);
}

function copyOf(value: unknown): unknown {
  return value instanceof Raw ? value : structuredClone(value);
}

/** Names that mean something to JavaScript, or nothing to anybody. */
export const oddKeys = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  '0',
  'then',
  'toJSON',
  '\u0000',
  'ID',
];
