import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import {
  readCodecServerConfig,
  readIngressConfig,
  readSingleProcessConfig,
  readWorkerConfig,
} from '../../workers/settings/config.js';
import { ConfigInvalid } from '../../workers/settings/values.js';

/* What each program reads from its settings, beside the least that it needs. Everything here is invented. */

type Settings = Record<string, string>;

export const secret = `whsec_${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}`;
export const encryptionKey = Buffer.from('an-invented-key-with-32-bytes-02').toString('base64');

export const service = { SERVICE_BASE_URL: 'https://api.example.com', SERVICE_API_KEY: 'sk_invented' };
export const webhooks = { WEBHOOK_SECRETS: secret };
export const encryption = { LABOPS_ENCRYPTION_KEYS: `new:${encryptionKey},old:${encryptionKey}` };

export const worker = (env: Settings = {}) => readWorkerConfig({ ...service, ...env });
export const ingress = (env: Settings = {}) => readIngressConfig({ ...webhooks, ...env });
export const codecServer = (env: Settings = {}) => readCodecServerConfig({ ...encryption, ...env });
export const single = (env: Settings = {}) => readSingleProcessConfig({ ...service, ...webhooks, ...env });

/** A file with this content, until the test has ended. */
export async function fileWith(content: string | Uint8Array): Promise<string> {
  const file = join(tmpdir(), `lab-operations-setting-${randomUUID()}`);
  await writeFile(file, content);
  onTestFinished(() => rm(file));
  return file;
}

/** The faults by setting. */
export function faultsOf(read: () => unknown): Record<string, string> {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    return Object.fromEntries(error.faults.map(({ setting, problem }) => [setting, problem]));
  }
  return expect.unreachable('the settings were accepted');
}
