import { createHash, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { deleteUserName, type ErasedHistories } from '../../protocol/deletion/messages.js';
import type { DeletionReceipt, Reading, Remaining } from '../../protocol/deletion/receipt.js';
import { canonicalId } from '../../protocol/ids.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import type { ActivityDependencies } from '../dependencies.js';
import { withStore } from '../dependencies.js';
import { listed } from '../workflow-runs.js';
import { userStandingAt } from './users.js';

export interface FinalDeletion {
  userId: string;
  /** ISO 8601. */
  requestedAt: string;
  /** When the lab service was first asked to delete the user, ISO 8601. */
  scheduledAt: string;
  deletedAt: string;
  histories: ErasedHistories | 'kept';
}

type Given = Pick<ActivityDependencies, 'service' | 'temporal' | 'workerStore' | 'receiptKey'>;

export function receiptActivities(dependencies: Given) {
  const { receiptKey: key, service } = dependencies;
  return {
    /** A compact JWS, unless the worker has no key. Every line comes from a read that is made now, or says that nothing could be read. */
    async writeReceipt(deletion: FinalDeletion): Promise<{ receipt?: string }> {
      if (!key) return {};
      const { userId, requestedAt, deletedAt, histories } = deletion;
      const [iss] = service.installation;
      const found = await findings(dependencies, deletion);
      const receipt = signed(key, {
        ...{ version: 1, iss, sub: userId, iat: Math.floor(Date.now() / 1000), requestedAt, deletedAt },
        erasedHistories: histories === 'kept' ? histories : histories.erased.length,
        found,
        remains: await remaining(dependencies, deletion, found),
      });
      return { receipt };
    },
  };
}

async function findings(given: Given, { userId, histories }: FinalDeletion): Promise<DeletionReceipt['found']> {
  const { service, temporal, workerStore } = given;
  return {
    labService: await reading(async () => ({ user: (await userStandingAt(service, userId)).standing })),
    database:
      workerStore === 'off'
        ? 'not_kept'
        : await reading(async () => ({ rows: await withStore(workerStore, (store) => store.countUserData(userId)) })),
    temporal: await reading(() => workflowsOf(temporal, userId, histories)),
  };
}

async function workflowsOf(temporal: Client, userId: string, histories: ErasedHistories | 'kept') {
  const query = `${labUserIdKey.name} = '${canonicalId(userId)}' AND WorkflowType != '${deleteUserName}'`;
  const ids = new Map((await listed(temporal, query)).map((run) => [run.workflowId, run.closeTime !== undefined]));
  const erased = histories === 'kept' ? [] : histories.erased;
  if (erased.some(({ workflowId }) => ids.get(workflowId)) && mayBeReadAgain())
    throw ApplicationFailure.retryable('Temporal still lists what it has deleted', 'HistoriesStillListed');
  const ended = [...ids.values()].filter(Boolean).length;
  return { ended, open: ids.size - ended };
}

/** With the pauses between attempts a quarter of a minute: the deletion has happened, whether everything can be read or not. */
const patientAttempts = 5;

function mayBeReadAgain(): boolean {
  return activityInfo().attempt < patientAttempts;
}

async function reading<Found extends object>(read: () => Promise<Found>): Promise<Reading<Found>> {
  try {
    return { ...(await read()), readAt: new Date().toISOString() };
  } catch (error) {
    if (mayBeReadAgain()) throw error;
    return { unread: (error instanceof ApplicationFailure && error.type) || 'Unavailable' };
  }
}

const day = 24 * 60 * 60_000;

async function remaining(
  { temporal }: Given,
  { scheduledAt, histories }: FinalDeletion,
  { labService, database }: DeletionReceipt['found'],
): Promise<Remaining[]> {
  const after = await retention(temporal);
  const left = histories === 'kept' ? 'the histories' : `${histories.left.length} histories`;
  const isErased = 'user' in labService && labService.user === 'unknown';
  const erasure = new Date(Date.parse(scheduledAt) + 7 * day).toISOString();
  return [
    ...(isErased
      ? []
      : [{ where: 'lab service', until: erasure, why: 'it erases a user seven days after the request' }]),
    { where: 'Temporal: this deletion', until: `${after} its end`, why: 'it answers repeated requests' },
    ...(histories !== 'kept' && histories.left.length === 0
      ? []
      : [
          {
            where: `Temporal: ${left}`,
            until: `${after} their end`,
            why: 'open, also about another user, or kept by a setting',
          },
        ]),
    {
      where: "backups of Temporal's database",
      until: 'they expire or their key is destroyed',
      why: 'made before the deletion',
    },
    ...(database === 'not_kept'
      ? []
      : [
          { where: 'database: tombstone', until: 'indefinitely', why: 'it refuses late events' },
          { where: 'backups of the database', until: 'they expire', why: 'made before the deletion' },
        ]),
  ];
}

/** `30 days after`. */
async function retention(temporal: Client): Promise<string> {
  const { namespace } = temporal.options;
  const read = await reading(async () => {
    const { config } = await temporal.workflowService.describeNamespace({ namespace });
    return { seconds: Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) };
  });
  return 'seconds' in read && read.seconds > 0
    ? `${Math.ceil((read.seconds * 1000) / day)} days after`
    : "the namespace's retention (not readable) after";
}

function signed(key: KeyObject, receipt: DeletionReceipt): string {
  const { crv, x } = createPublicKey(key).export({ format: 'jwk' });
  // The key's thumbprint, RFC 7638.
  const kid = createHash('sha256')
    .update(JSON.stringify({ crv, kty: 'OKP', x }))
    .digest('base64url');
  const parts = [{ alg: 'EdDSA', kid }, receipt].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  const input = parts.join('.');
  return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`;
}
