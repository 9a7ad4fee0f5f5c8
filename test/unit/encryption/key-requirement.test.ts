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
  [
    'LabOperations',
    (temporal: Client, encryption?: Encryption) =>
      new LabOperations(temporal, {
        service: { baseUrl: 'http://127.0.0.1:1', apiKey: 'sk_invented' },
        installation: ['invented'],
        ...said(encryption),
      }),
  ],
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
  test('needs keys in production, unless its options say otherwise', () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(() => create(blind)).toThrow(errors.EncryptionKeysMissing);
    expect(() => create(blind)).toThrow(/^Encryption is required .*labDataConverter/);
    expect(() => create(withKeys)).not.toThrow();
    expect(() => create(blind, 'optional')).not.toThrow();
  });

  test('needs none elsewhere, unless its options say otherwise', () => {
    expect(() => create(blind)).not.toThrow();
    expect(() => create(blind, 'required')).toThrow(errors.EncryptionKeysMissing);
  });

  test('reads no setting of LABOPS_…, which belong to its host', () => {
    vi.stubEnv('LABOPS_ENCRYPTION', 'required');
    vi.stubEnv('LABOPS_INSTALLATION', 'not a name');
    expect(() => create(blind)).not.toThrow();
    vi.stubEnv('NODE_ENV', 'production');
    vi.stubEnv('LABOPS_ENCRYPTION', 'optional');
    expect(() => create(blind)).toThrow(errors.EncryptionKeysMissing);
  });
});
