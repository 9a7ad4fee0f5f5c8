import type { Client, WorkflowClientInterceptor } from '@temporalio/client';
import type { Encryption } from '../config.js';
import { derivedClient, hasKeys, defaultIdentity } from '../payload-limit.js';
import { EncryptionKeysMissing } from '../errors.js';

/** The error without keys if encryption is required. */
export const encryptionRequired =
  'Encryption is required (LABOPS_ENCRYPTION, or NODE_ENV is production), and this client has no keys';

/** How long an answer about the workers counts: a worker may get keys while the client runs. */
const answerCountsMs = 60_000;

/**
 * The client itself if it has keys, or if encryption is `optional`. Otherwise a client that checks, before it sends
 * anything, if the workers encrypt.
 *
 * @throws EncryptionKeysMissing
 */
export function withKeysRequired(temporal: Client, taskQueue: string, encryption: Encryption | undefined): Client {
  if (encryption === 'required') requireKeys(temporal);
  if (hasKeys(temporal) || encryption === 'optional') return temporal;
  const { interceptors } = temporal.options;
  const present = interceptors.workflow;
  // With the older form of interceptors, which is deprecated, no other can be combined: such a client does not ask.
  const all = Array.isArray(present) ? [...present, guardOf(temporal, taskQueue)] : present;
  return derivedClient(temporal, { interceptors: { ...interceptors, ...(all && { workflow: all }) } });
}

/** @throws EncryptionKeysMissing if the client has none */
function requireKeys(temporal: Client): void {
  if (!hasKeys(temporal)) throw new EncryptionKeysMissing(encryptionRequired);
}

function guardOf(temporal: Client, taskQueue: string): WorkflowClientInterceptor {
  let askedAt = Number.NEGATIVE_INFINITY;
  let encrypts = false;
  const demand = async (): Promise<void> => {
    if (performance.now() - askedAt < answerCountsMs) return;
    const answer = await isEncryptedBy(temporal, taskQueue);
    encrypts = answer ?? encrypts;
    if (encrypts) throw new EncryptionKeysMissing('The worker encrypts, and this client has no keys. Nothing was sent');
    // Without an answer it asks again before the next call: the first worker to come may encrypt.
    if (answer === false) askedAt = performance.now();
  };
  const guarded = async <Input, Result>(input: Input, proceed: (input: Input) => Promise<Result>): Promise<Result> => {
    await demand();
    return proceed(input);
  };
  return {
    startWithDetails: guarded,
    signal: guarded,
    signalWithStart: guarded,
    startUpdate: guarded,
    startUpdateWithStart: guarded,
  };
}

/**
 * Undefined if Temporal does not answer or shows no worker, which it remembers for five minutes after its last poll:
 * the call itself will report the reason.
 */
async function isEncryptedBy({ connection, options }: Client, taskQueue: string): Promise<boolean | undefined> {
  const asked = { namespace: options.namespace, taskQueue: { name: taskQueue } };
  const answer = await connection.workflowService.describeTaskQueue(asked).catch(() => undefined);
  if (!answer || answer.pollers.length === 0) return undefined;
  return answer.pollers.some(({ identity }) => isOfEncryptingWorker(identity));
}

/*
 * Shows that a worker encrypts: at the end of its identity, which Temporal returns for every poller of a task queue. So
 * a client without keys knows it before it sends anything.
 */

const suffix = ' (encrypts)';

export function workerIdentity(encrypts: boolean): string {
  return `${defaultIdentity()}${encrypts ? suffix : ''}`;
}

export function isOfEncryptingWorker(identity: string | null | undefined): boolean {
  return identity?.endsWith(suffix) ?? false;
}
