import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { EncryptionSettingInvalid, readEncryption, readKeyRing } from '../../../client/config.js';
import { KeyRingInvalid, parseKeyRing } from '../../../client/encryption/key-ring.js';

const bytes = randomBytes(32);
const base64 = bytes.toString('base64');

function faultsOf(text: string): readonly string[] {
  try {
    parseKeyRing(text);
  } catch (error) {
    if (!(error instanceof KeyRingInvalid)) throw error;
    return error.faults;
  }
  return expect.unreachable('the key ring was accepted');
}

test('the first key comes first, with its bytes', () => {
  const ring = parseKeyRing(` new:${base64} , old:${randomBytes(32).toString('base64')},`);
  expect(ring.map(({ id }) => id)).toEqual(['new', 'old']);
  expect(ring[0].key.export()).toEqual(bytes);
});

test('a key may be written for URLs and without its padding', () => {
  expect(parseKeyRing(`k:${bytes.toString('base64url')}`)[0].key.export()).toEqual(bytes);
});

describe('a ring is refused, by position if there are several keys,', () => {
  test.each([
    [undefined as never, 'is missing'],
    ['', 'holds no key'],
    [' , ', 'holds no key'],
    [base64, 'is not <key id>:<32 bytes in base64>'],
    [`k:${base64.slice(0, 20)}`, 'has a key of 15 bytes instead of 32'],
    [`k:${randomBytes(33).toString('base64')}`, 'has a key of 33 bytes instead of 32'],
    ['k:', 'has a key that is not base64'],
    [`k:${base64.slice(0, 10)} ${base64.slice(10)}`, 'has a key that is not base64'],
    [`k:${base64.slice(0, 10)}!${base64.slice(10)}`, 'has a key that is not base64'],
    [`:${base64}`, 'has a key id that is not 1 to 64 letters, digits, dots, hyphens or underscores'],
    [`a b:${base64}`, 'has a key id that is not 1 to 64 letters, digits, dots, hyphens or underscores'],
  ])('%j', (text, fault) => {
    expect(faultsOf(text)).toEqual([fault]);
  });

  test.each([
    ['zeros', Buffer.alloc(32)],
    ['a word that repeats', Buffer.from('passwordpasswordpasswordpassword')],
    ['digits', Buffer.from('12345678901234567890123456789012')],
  ])('a ring is refused for a key that is not random: %s', (_what, bytes) => {
    expect(() => parseKeyRing(`k:${bytes.toString('base64')}`)).toThrow(/has a key that is not random: use openssl/);
  });

  test('a ring is refused for a key id that is there twice, even with the same bytes', () => {
    expect(faultsOf(`k:${base64},other:${base64},k:${base64}`)).toEqual(['(key 3 of 3) has the key id of key 1']);
  });

  test('a ring is refused with every fault at once', () => {
    expect(faultsOf(`k:short,k2:${base64},nothing`)).toEqual([
      '(key 1 of 3) has a key of 3 bytes instead of 32',
      '(key 3 of 3) is not <key id>:<32 bytes in base64>',
    ]);
  });
});

test('neither a fault nor a ring shows the bytes of a key', () => {
  expect(() => parseKeyRing(`${base64},${base64}:x,k:${base64}${base64}`)).toThrow(KeyRingInvalid);
  expect(() => parseKeyRing(`${base64},${base64}:x,k:${base64}${base64}`)).not.toThrow(base64);
  const shown = inspect(parseKeyRing(`k:${base64}`), { depth: 9 }) + JSON.stringify(parseKeyRing(`k:${base64}`));
  expect(shown).not.toContain(base64);
  expect(shown).not.toContain(bytes.toString('hex'));
});

test('the client reads whether encryption is required', () => {
  expect(readEncryption({})).toBeUndefined();
  expect(readEncryption({ NODE_ENV: 'production' })).toBe('required');
  expect(readEncryption({ NODE_ENV: 'production', LABOPS_ENCRYPTION: 'optional' })).toBe('optional');
  expect(readEncryption({ LABOPS_ENCRYPTION: ' required ' })).toBe('required');
  expect(() => readEncryption({ LABOPS_ENCRYPTION: 'sometimes' })).toThrow(EncryptionSettingInvalid);
  // Another program's.
  expect(readEncryption({ ENCRYPTION: 'aes-256' })).toBeUndefined();
});

test('the client reads its setting, and treats a blank one as missing', () => {
  expect(readKeyRing({ LABOPS_ENCRYPTION_KEYS: `k:${base64}` })?.[0].id).toBe('k');
  expect(readKeyRing({ LABOPS_ENCRYPTION_KEYS: ' ' })).toBeUndefined();
  expect(readKeyRing({})).toBeUndefined();
});
