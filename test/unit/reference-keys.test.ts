import { expect, test } from 'vitest';
import { readIngressConfig, readWorkerConfig } from '../../workers/config.js';
import { storeOptions } from '../../workers/health-data.js';
import { ReferenceHashes } from '../../store/reference-hashes.js';

const key = (letter: string) =>
  `${letter}:${Buffer.from(`an-invented-key-for-tombstones-${letter}`).toString('base64')}`;
const webhooks = { WEBHOOK_SECRETS: `whsec_${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}` };
const service = { SERVICE_BASE_URL: 'https://api.example.com', SERVICE_API_KEY: 'sk_invented' };

const hashesOf = (config: Parameters<typeof storeOptions>[0]) =>
  new ReferenceHashes(storeOptions(config).referenceKeys).all('a-reference');

test('an ingress with an encryption key of its own recognises deleted users by keys that it shares with the worker', () => {
  const shared = { DELETED_USERS_KEYS: key('d') };
  const ingress = readIngressConfig({ ...webhooks, ...shared, LABOPS_ENCRYPTION_KEYS: key('i') });
  const worker = readWorkerConfig({ ...service, ...shared, LABOPS_ENCRYPTION_KEYS: `${key('m')},${key('i')}` });
  expect(hashesOf(ingress)).toEqual(hashesOf(worker));
  expect(hashesOf(ingress)).toHaveLength(1);
});

test('without such keys those of the encryption serve', () => {
  const keys = { LABOPS_ENCRYPTION_KEYS: key('m') };
  const both = [readIngressConfig({ ...webhooks, ...keys }), readWorkerConfig({ ...service, ...keys })];
  const expected = hashesOf({ ...both[0], deletedUsersKeys: both[0]?.keyRing } as Parameters<typeof storeOptions>[0]);
  for (const config of both) expect(hashesOf(config)).toEqual(expected);
});
