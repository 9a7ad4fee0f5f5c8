import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { errors, type Encryption, labDataConverter, LabOperations, parseKeyRing } from '../../../client/index.js';
import { createWebhookHandler } from '../../../client/webhooks/index.js';

/** It receives no call. */
const connection = Connection.lazy({ address: '127.0.0.1:1' });
afterAll(() => connection.close());
afterEach(() => vi.unstubAllEnvs());

const blind = new Client({ connection });
const dataConverter = labDataConverter(parseKeyRing(`k:${randomBytes(32).toString('base64')}`));
const withKeys = new Client({ connection, dataConverter });

const said = (encryption: Encryption | undefined) => (encryption ? { encryption } : {});

describe.each([
  ['LabOperations', (temporal: Client, encryption?: Encryption) => new LabOperations(temporal, said(encryption))],
  [
    'a webhook handler',
    (temporal: Client, encryption?: Encryption) =>
      createWebhookHandler({
        temporal,
        secrets: [`whsec_${randomBytes(24).toString('base64')}`],
        installation: ['invented'],
        ...said(encryption),
      }),
  ],
])('%s', (_name, create) => {
  test('needs keys in production, and where encryption is required', () => {
    for (const [name, value] of [
      ['NODE_ENV', 'production'],
      ['LABOPS_ENCRYPTION', 'required'],
    ] as const) {
      vi.stubEnv(name, value);
      expect(() => create(blind), name).toThrow(errors.EncryptionKeysMissing);
      expect(() => create(blind), name).toThrow(/^Encryption is required .*labDataConverter/);
      expect(() => create(withKeys), name).not.toThrow();
      vi.unstubAllEnvs();
    }
  });

  test('needs keys if its options say so', () => {
    vi.stubEnv('LABOPS_ENCRYPTION', 'optional');
    expect(() => create(blind, 'required')).toThrow(errors.EncryptionKeysMissing);
    vi.stubEnv('LABOPS_ENCRYPTION', 'required');
    expect(() => create(blind, 'optional')).not.toThrow();
  });

  test('needs none elsewhere, and none in production during a migration', () => {
    expect(() => create(blind)).not.toThrow();
    vi.stubEnv('NODE_ENV', 'production');
    vi.stubEnv('LABOPS_ENCRYPTION', 'optional');
    expect(() => create(blind)).not.toThrow();
  });
});
