import { expect, test } from 'vitest';
import { fixedKeys } from '../../client/encryption/live-keys.js';
import { storeOptions } from '../../workers/health-data.js';
import type { WorkerConfig } from '../../workers/settings/config.js';
import { ReferenceHashes } from '../../store/reference-hashes.js';
import { ingress, worker } from './settings.js';

const key = (letter: string) =>
  `${letter}:${Buffer.from(`an-invented-key-for-tombstones-${letter}`).toString('base64')}`;

const hashesOf = ({
  keyRing,
  ...config
}: Pick<WorkerConfig, 'keyRing' | 'deletedUsersKeys' | 'rejectedEventsDays'>) => {
  const { referenceKeys } = storeOptions({ ...config, keys: keyRing && fixedKeys(keyRing) });
  return new ReferenceHashes(referenceKeys).all('a-reference');
};

test('an ingress with an encryption key of its own recognises deleted users by keys that it shares with the worker', () => {
  const shared = { DELETED_USERS_KEYS: key('d') };
  const ofIngress = hashesOf(ingress({ ...shared, LABOPS_ENCRYPTION_KEYS: key('i') }));
  const ofWorker = hashesOf(worker({ ...shared, LABOPS_ENCRYPTION_KEYS: `${key('m')},${key('i')}` }));
  expect(ofIngress).toEqual(ofWorker);
  expect(ofIngress).toHaveLength(1);
});

test('a deployment that had no such keys goes on recognising its deleted users if those of the encryption follow the new one', () => {
  const before = hashesOf(worker({ LABOPS_ENCRYPTION_KEYS: key('m') }));
  const changed = { DELETED_USERS_KEYS: `${key('d')},${key('m')}`, LABOPS_ENCRYPTION_KEYS: key('m') };
  const [made, ...others] = hashesOf(worker(changed));
  expect(others).toEqual(before);
  expect(made).toEqual(hashesOf(worker({ DELETED_USERS_KEYS: key('d') }))[0]);
});

test('without such keys those of the encryption serve', () => {
  const keys = { LABOPS_ENCRYPTION_KEYS: key('m') };
  const both = [ingress(keys), worker(keys)];
  const expected = hashesOf({ ...worker(keys), deletedUsersKeys: worker(keys).keyRing });
  for (const config of both) expect(hashesOf(config)).toEqual(expected);
});
