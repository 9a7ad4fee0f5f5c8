import { EncryptionKeyUnknown } from '../../client/encryption/payload-codec.js';
import { type KeyUse, keyUse } from '../../client/encryption/key-use.js';
import type { WorkerConfig } from '../settings/config.js';
import { notChecked, ok, type Verdict, warning } from './findings.js';
import type { Temporal } from './server.js';

type Settings = Pick<
  WorkerConfig,
  'keyRing' | 'taskQueue' | 'encryptionKeyDays' | 'databaseUrl' | 'auditKeys' | 'deletedUsersKeys'
>;

/** A check has eight seconds. */
const readingMs = 5_000;
const dayMs = 86_400_000;

/** Is a key missing or too old, and which one can be destroyed? */
export async function encryptionKeys(temporal: Temporal, settings: Settings): Promise<Verdict> {
  const { keyRing, taskQueue, encryptionKeyDays } = settings;
  if (!keyRing) return notChecked('no keys are set');
  const ring: string[] = keyRing.map(({ id }) => id);
  const until = performance.now() + readingMs;
  const { keys, runs, isComplete } = await keyUse({ ...temporal, taskQueue }, ring, () => performance.now() > until);
  const lost = keys.find(({ keyId }) => !ring.includes(keyId));
  if (lost)
    return warning(`${countOf(lost)} need the key "${lost.keyId}", which is not set.`, EncryptionKeyUnknown.remedy);
  const [first, ...others] = keys;
  const days = Math.floor((Date.now() - Date.parse(first?.since ?? '')) / dayMs);
  if (days > encryptionKeyDays) {
    return warning(
      `The key "${first?.keyId}" has encrypted for ${days} days, and ENCRYPTION_KEY_DAYS is ${encryptionKeyDays}.`,
      'Put another key in front (docs/operations.md, Encryption).',
    );
  }
  const found = others.map((key) => sentenceOf(key, isComplete)).join(' ');
  const isShared = settings.databaseUrl !== undefined && (!settings.auditKeys || !settings.deletedUsersKeys);
  const shared = 'As long as AUDIT_KEYS or DELETED_USERS_KEYS is not set, audit trail and tombstones need every key.';
  const since =
    first?.since === undefined ? 'has encrypted nothing yet' : `has encrypted since ${first.since.slice(0, 10)}`;
  const partly = isComplete ? '' : ` Only ${runs} histories were read: \`labops keys status\` reads all.`;
  return ok(`"${ring[0]}" ${since}. ${found}${others.length > 0 && isShared ? ` ${shared}` : ''}${partly}`.trim());
}

function sentenceOf(key: KeyUse, isComplete: boolean): string {
  const { keyId, open, ended, neededUntil } = key;
  if (open + ended === 0)
    return isComplete ? `Nothing in Temporal needs "${keyId}": if it is an old one, destroy it.` : '';
  return `${countOf(key)} need "${keyId}"${neededUntil === undefined ? '' : `, the last one until ${neededUntil.slice(0, 10)}`}.`;
}

function countOf({ open, ended }: KeyUse): string {
  return `${open} open and ${ended} ended runs`;
}
