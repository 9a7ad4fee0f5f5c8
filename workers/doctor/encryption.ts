import type { Payload } from '@temporalio/common';
import {
  createPayloadCodec,
  EncryptionKeyUnknown,
  isEncrypted,
  PayloadNotAuthentic,
} from '../../client/encryption/payload-codec.js';
import { isOfEncryptingWorker } from '../../client/encryption/key-requirement.js';
import type { KeyRing } from '../../client/encryption/key-ring.js';
import type { WorkerConfig } from '../settings/config.js';
import { ofTaskQueue } from '../../protocol/task-queues.js';
import { fault, ok, type Verdict, warning, notChecked } from './findings.js';
import type { Temporal } from './server.js';
import { polledAt, silentAfterMs } from './workers.js';
import { type KeyUse, keyUse } from '../../client/encryption/key-use.js';

/* Do the workers, and the clients that start and signal workflows, encrypt with the keys that are set here? */

type Settings = Pick<WorkerConfig, 'keyRing' | 'encryption' | 'taskQueue'>;

/** How many of the latest open workflows are looked at, and how many first events of each. */
const sample = { workflows: 10, events: 20 };

export async function encryption(temporal: Temporal, settings: Settings): Promise<Verdict> {
  const [inputs, workers] = await Promise.all([
    latestInputs(temporal, settings.taskQueue),
    workersOf(temporal, settings),
  ]);
  const unreadable = settings.keyRing && (await unreadableWith(settings.keyRing, inputs.flat()));
  if (unreadable) return unreadable;
  if (!settings.keyRing) return withoutKeys(inputs, workers);
  return withKeys(settings, inputs, workers) ?? ok(readable(inputs));
}

function readable(inputs: readonly Payload[][]): string {
  const count = inputs.filter((payloads) => payloads.length > 0).length;
  if (count === 0) return 'Keys are set. There is no open workflow to try them on.';
  return `The input of the ${count} open ${count === 1 ? 'workflow' : 'workflows'} tried can be decrypted.`;
}

/** The identities of the workers with keys, and of those without. */
interface Workers {
  encrypting: string[];
  plain: string[];
}

function withKeys(
  { encryption: required }: Settings,
  inputs: readonly Payload[][],
  workers: Workers,
): Verdict | undefined {
  const remedy = 'Give every worker, ingress and backend the same LABOPS_ENCRYPTION_KEYS, and restart them.';
  const [plain] = workers.plain;
  if (plain !== undefined)
    return fault(`A worker polls the task queue without keys, but keys are set here: ${plain}.`, remedy);
  const latest = inputs.find((payloads) => payloads.length > 0) ?? [];
  if (required === 'required' && latest.some((payload) => !isEncrypted(payload))) {
    return fault('The latest open workflow has unencrypted input, but LABOPS_ENCRYPTION is required.', remedy);
  }
  if (inputs.flat().every((payload) => isEncrypted(payload))) return undefined;
  return warning('Some open workflows have unencrypted input.', `If they are not older than the keys: ${remedy}`);
}

function withoutKeys(inputs: readonly Payload[][], workers: Workers): Verdict {
  const remedy = "Set LABOPS_ENCRYPTION_KEYS to the worker's keys.";
  const [encrypting] = workers.encrypting;
  if (encrypting !== undefined) return fault(`A worker encrypts, but no keys are set here: ${encrypting}.`, remedy);
  if (inputs.flat().some((payload) => isEncrypted(payload))) {
    return fault('Open workflows have encrypted input, but no keys are set here.', remedy);
  }
  return warning(
    'Payloads are not encrypted: anyone who can read the namespace can read the addresses in its histories.',
    'Set LABOPS_ENCRYPTION_KEYS everywhere (docs/operations.md, Encryption).',
  );
}

async function unreadableWith(keyRing: KeyRing, payloads: readonly Payload[]): Promise<Verdict | undefined> {
  try {
    await createPayloadCodec(keyRing).decode([...payloads]);
    return undefined;
  } catch (error) {
    if (error instanceof EncryptionKeyUnknown) return fault(`${error.message}.`, EncryptionKeyUnknown.remedy);
    if (error instanceof PayloadNotAuthentic) return fault(`${error.message}.`, PayloadNotAuthentic.remedy);
    throw error;
  }
}

/** Those that still poll: Temporal remembers for minutes one that has just been replaced. */
async function workersOf({ connection, namespace }: Temporal, { taskQueue }: Settings): Promise<Workers> {
  const { pollers } = await connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } });
  const polling = pollers.filter((poller) => Date.now() - polledAt(poller) <= silentAfterMs);
  const identities = polling.map(({ identity }) => identity ?? '');
  return {
    encrypting: identities.filter((identity) => isOfEncryptingWorker(identity)),
    plain: identities.filter((identity) => !isOfEncryptingWorker(identity)),
  };
}

/** The inputs and signals of the latest open workflows, as Temporal has them: those of one workflow in one list, the latest first. */
async function latestInputs({ connection, namespace }: Temporal, taskQueue: string): Promise<Payload[][]> {
  const { workflowService } = connection;
  const { executions } = await workflowService.listWorkflowExecutions({
    namespace,
    query: `${ofTaskQueue(taskQueue)} AND ExecutionStatus = 'Running'`,
    pageSize: sample.workflows,
  });
  return Promise.all(
    executions.map(async ({ execution }) => {
      if (!execution) return [];
      const maximumPageSize = sample.events;
      const { history } = await workflowService.getWorkflowExecutionHistory({ namespace, execution, maximumPageSize });
      return (history?.events ?? []).flatMap((event) => {
        const { workflowExecutionStartedEventAttributes: started } = event;
        const { workflowExecutionSignaledEventAttributes: signalled } = event;
        return (started ?? signalled)?.input?.payloads ?? [];
      });
    }),
  );
}

type KeySettings = Pick<
  WorkerConfig,
  'keyRing' | 'encryptionKeyDays' | 'databaseUrl' | 'auditKeys' | 'deletedUsersKeys'
>;

/** A check has eight seconds. */
const readingMs = 5_000;
const dayMs = 86_400_000;

/** Is a key missing or too old, and which one can be destroyed? */
export async function encryptionKeys(temporal: Temporal, settings: KeySettings): Promise<Verdict> {
  const { keyRing, encryptionKeyDays } = settings;
  if (!keyRing) return notChecked('no keys are set');
  const ring: string[] = keyRing.map(({ id }) => id);
  const until = performance.now() + readingMs;
  const { keys, runs, isComplete } = await keyUse(temporal, ring, () => performance.now() > until);
  const lost = keys.find(({ keyId }) => !ring.includes(keyId));
  if (lost)
    return warning(`${countOf(lost)} need the key "${lost.keyId}", which is not set.`, EncryptionKeyUnknown.remedy);
  const [first, ...others] = keys;
  const days = Math.floor((Date.now() - Date.parse(first?.since ?? '')) / dayMs);
  if (days > encryptionKeyDays) {
    return warning(
      `The key "${first?.keyId}" has encrypted for ${days} days, and ENCRYPTION_KEY_DAYS is ${encryptionKeyDays}.`,
      'Put another key in front (docs/operations.md, Changing keys).',
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
