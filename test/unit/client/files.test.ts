import { describe, expect, test, vi } from 'vitest';
import { NotUtf8, utf8Text } from '../../../client/files.js';
import { labops } from '../command-line/recording-terminal.js';

test('a file of a setting that cannot be read is named with its setting', async () => {
  vi.stubEnv('DATABASE_URL', '');
  vi.stubEnv('DATABASE_URL_FILE', '/nowhere/url');
  const { code, stderr } = await labops('users export user-1');
  vi.unstubAllEnvs();
  expect(code).toBe(2);
  expect(stderr).toMatch(/^SecretFileInvalid: DATABASE_URL_FILE names a file that cannot be read \(ENOENT\)/);
});

const person = '{ "receiver_name": "Jürgen Müller", "street": "Straße 1" }';

function problemOf(bytes: Uint8Array): string {
  try {
    utf8Text(bytes);
  } catch (error) {
    if (error instanceof NotUtf8) return error.problem;
    throw error;
  }
  return 'none';
}

describe('a text that is read', () => {
  test.each(['', 'a', person, '日本 🧪', '\u0000a'.slice(1), 'x\uFFFDy'])('is taken as UTF-8, as it is: %j', (text) => {
    expect(utf8Text(Buffer.from(text))).toBe(text);
  });

  test.each(['', person])('loses its byte order mark: %j', (text) => {
    expect(utf8Text(Buffer.from(`\uFEFF${text}`))).toBe(text);
  });

  test.each([
    ['Latin-1', Buffer.from(person, 'latin1'), 21],
    ['Latin-1 behind a mark', Buffer.concat([Buffer.from('\uFEFF'), Buffer.from(person, 'latin1')]), 24],
    ['Latin-1 behind what is UTF-8', Buffer.concat([Buffer.from('ü\uFFFD'), Buffer.from('é ', 'latin1')]), 5],
    ['text that is cut off', Buffer.from('Straße').subarray(0, 5), 4],
    ['half a pair of surrogates', Buffer.from([0x61, 0xed, 0xa0, 0x80]), 1],
    ['an overlong form', Buffer.from([0x61, 0x62, 0xc0, 0xaf]), 2],
  ])('is refused with the position of its first wrong byte: %s', (_what, bytes, position) => {
    expect(problemOf(bytes)).toBe(`not UTF-8: the byte at position ${position}, counted from 0, is wrong`);
  });

  const little = Buffer.from(person, 'utf16le');
  const big = Buffer.from(little).swap16();
  test.each([
    ['little-endian', Buffer.concat([Buffer.from([0xff, 0xfe]), little])],
    ['big-endian', Buffer.concat([Buffer.from([0xfe, 0xff]), big])],
    ['little-endian, without a mark', little],
    ['big-endian, without a mark', big],
  ])('is called UTF-16 if it is: %s', (_what, bytes) => {
    expect(problemOf(bytes)).toBe('UTF-16 instead of UTF-8');
  });
});
