import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter } from '@temporalio/common';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type KeyRing, KeyRingInvalid, parseKeyRing } from '../../../client/encryption/key-ring.js';
import { fixedKeys, followKeys } from '../../../client/encryption/live-keys.js';
import { createPayloadCodec } from '../../../client/encryption/payload-codec.js';
import { LabOperations } from '../../../client/lab-operations.js';
import { ReferenceHashes } from '../../../store/reference-hashes.js';
import { storeOptions } from '../../../workers/health-data.js';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const [old, fresh] = [key('old'), key('fresh')];
const secret = defaultPayloadConverter.toPayload('Nowhereville');

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A source that gives what it is told to give, and what is reported of it. */
async function followed(first: string) {
  const source = { gives: first as string | Error, asked: 0 };
  const said: unknown[] = [];
  const keys = await followKeys(
    async () => {
      source.asked += 1;
      if (source.gives instanceof Error) throw source.gives;
      return parseKeyRing(source.gives);
    },
    { replaced: (ring: KeyRing) => said.push(ring.map(({ id }) => id)), failed: (fault) => said.push(fault) },
  );
  return { source, said, keys };
}

const halfMinute = () => vi.advanceTimersByTimeAsync(30_000);

test('a key that was moved to the front encrypts half a minute later, wherever the codec is used, and a removed one no longer decrypts', async () => {
  const { source, said, keys } = await followed(`${old},${fresh}`);
  const codec = createPayloadCodec(keys);
  const hashes = new ReferenceHashes(storeOptions({ keys, rejectedEventsDays: 90 }).referenceKeys);
  const [before, hashed] = [await codec.encode([secret]), hashes.kept('a-reference')];
  source.gives = `${fresh},${old}`;
  await halfMinute();
  const after = await codec.encode([secret]);
  expect(await createPayloadCodec(parseKeyRing(fresh)).decode(after)).toHaveLength(1);
  expect(await codec.decode([...before, ...after])).toHaveLength(2);
  expect(hashes.all('a-reference')).toEqual([hashes.kept('a-reference'), hashed]);
  source.gives = fresh;
  await halfMinute();
  await expect(codec.decode(before)).rejects.toThrow('encrypted with key "old"');
  expect(said).toEqual([['fresh', 'old'], ['fresh']]);
  keys.stop();
  source.gives = old;
  await halfMinute();
  expect(keys.ring[0].id).toBe('fresh');
});

test('a key that is put in front without having been there before decrypts at once, and encrypts when every other process has it', async () => {
  const { source, said, keys } = await followed(old);
  const { keys: slower } = await followed(old);
  const [codec, other] = [createPayloadCodec(keys), createPayloadCodec(slower)];
  source.gives = `${fresh},${old}`;
  for (let times = 0; times < 10; times += 1) {
    await halfMinute();
    expect(await other.decode(await codec.encode([secret]))).toHaveLength(1);
  }
  expect(await codec.decode(await createPayloadCodec(parseKeyRing(fresh)).encode([secret]))).toHaveLength(1);
  await halfMinute();
  await expect(other.decode(await codec.encode([secret]))).rejects.toThrow('encrypted with key "fresh"');
  expect(said).toEqual([
    ['old', 'fresh'],
    ['fresh', 'old'],
  ]);
});

test('a source that fails leaves the last ring, and is reported once, without what it said', async () => {
  const { source, said, keys } = await followed(old);
  source.gives = new Error(`vault says ${old}`);
  await halfMinute();
  await halfMinute();
  source.gives = `${old},k:short`;
  await halfMinute();
  source.gives = old;
  await halfMinute();
  expect(said).toEqual(['cannot be read (Error)', '(key 2 of 2) has a key of 3 bytes instead of 32']);
  expect(keys.ring.map(({ id }) => id)).toEqual(['old']);
  await expect(followed('nonsense')).rejects.toThrow(KeyRingInvalid);
});

test('a payload of a key that is not there yet has the source asked at once, but not for every such payload', async () => {
  const { source, keys } = await followed(old);
  const codec = createPayloadCodec(keys);
  const payloads = await createPayloadCodec(parseKeyRing(fresh)).encode([secret]);
  await expect(codec.decode(payloads)).rejects.toThrow('encrypted with key "fresh"');
  source.gives = `${old},${fresh}`;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await Promise.all([codec.decode(payloads), codec.decode(payloads)])).toHaveLength(2);
  expect(source.asked).toBe(2);
  const foreign = await createPayloadCodec(parseKeyRing(key('foreign'))).encode([secret]);
  for (let times = 0; times < 3; times += 1) await expect(codec.decode(foreign)).rejects.toThrow('"foreign"');
  expect(source.asked).toBe(2);
});

test('a source that never answers ends the connecting, which says so', async () => {
  const encryptionKeys = () => new Promise<string>(() => undefined);
  const connecting = LabOperations.connect({ encryptionKeys, deadline: '50 milliseconds' });
  await expect(connecting).rejects.toThrow('The key ring cannot be read: encryptionKeys does not answer');
});

test('keys that are given as they are stay so', async () => {
  const keys = fixedKeys(parseKeyRing(old));
  await keys.again();
  expect(keys.ring[0].id).toBe('old');
});
