import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { signJws } from '../../service/jws.js';
import type { LabService } from '../../service/lab-service.js';
import type { DeletionReceipt, Reading, Remaining, ErasedHistories } from '../../protocol/deletion/messages.js';
import type { ActivityDependencies } from '../dependencies.js';
import { withStore } from '../dependencies.js';
import { listed } from '../workflow-runs.js';
import { otherWorkflowsOf } from './histories.js';
import { userStandingAt, type UserStanding } from './users.js';

export interface FinalDeletion {
  userId: string;
  /** ISO 8601. */
  requestedAt: string;
  /** When the last request to delete the user had ended, ISO 8601: the lab service counts from it at the latest. */
  sentUntil: string;
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
      const said: DeletionReceipt = {
        ...{ version: 1, iss, sub: userId, iat: Math.floor(Date.now() / 1000), requestedAt, deletedAt },
        erasedHistories: histories === 'kept' ? histories : histories.erased.length,
        found,
        remains: await remaining(dependencies, deletion, found),
      };
      return { receipt: signJws(key, said) };
    },
  };
}

async function findings(given: Given, { userId, histories }: FinalDeletion): Promise<DeletionReceipt['found']> {
  const { service, temporal, workerStore } = given;
  return {
    labService: await reading(async () => ({ user: await userNow(service, userId) })),
    database:
      workerStore === 'off'
        ? 'not_kept'
        : await reading(async () => ({ rows: await withStore(workerStore, (store) => store.countUserData(userId)) })),
    temporal: await reading(() => workflowsOf(temporal, userId, histories)),
  };
}

async function userNow(service: LabService, userId: string): Promise<UserStanding['standing']> {
  const { standing, unsure } = await userStandingAt(service, userId);
  if (unsure === true) throw ApplicationFailure.retryable('A 404 may be a proxy’s', 'AnswerUnreadable');
  return standing;
}

async function workflowsOf(temporal: Client, userId: string, histories: ErasedHistories | 'kept') {
  const runs = await listed(temporal, otherWorkflowsOf(userId));
  const open = new Set(runs.flatMap(({ workflowId, closeTime }) => (closeTime === undefined ? [workflowId] : [])));
  const ended = new Set(runs.flatMap(({ workflowId }) => (open.has(workflowId) ? [] : [workflowId])));
  const erased = histories === 'kept' ? [] : histories.erased;
  if (erased.some(({ workflowId }) => ended.has(workflowId)) && mayBeReadAgain())
    throw ApplicationFailure.retryable('Temporal still lists what it has deleted', 'HistoriesStillListed');
  return { ended: ended.size, open: open.size };
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
    const failure = error instanceof ApplicationFailure ? error : undefined;
    if (failure?.nonRetryable !== true && mayBeReadAgain()) throw error;
    return { unread: failure?.type ?? 'Unavailable' };
  }
}

const day = 24 * 60 * 60_000;

async function remaining(
  given: Given,
  { sentUntil, histories }: FinalDeletion,
  { labService, database, temporal }: DeletionReceipt['found'],
): Promise<Remaining[]> {
  const after = await retention(given.temporal);
  const listed = 'unread' in temporal ? undefined : temporal.ended + temporal.open;
  const left = histories === 'kept' ? listed : Math.max(histories.left.length, listed ?? 0);
  const areGone = histories !== 'kept' && left === 0 && listed !== undefined;
  return [
    ...atLabService(labService, sentUntil),
    { where: 'Temporal: this deletion', until: `${after} its end`, why: 'it answers repeated requests' },
    ...(areGone
      ? []
      : [
          {
            where: `Temporal: ${left || 'the'} histories`,
            until: `${after} their end`,
            why: 'open, begun later, also about another user, not readable, or kept by a setting',
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

function atLabService(labService: DeletionReceipt['found']['labService'], sentUntil: string): Remaining[] {
  const user = 'user' in labService ? labService.user : undefined;
  if (user === 'unknown') return [];
  if (user === 'present')
    return [{ where: 'lab service', until: 'unknown', why: 'it shows the user: somebody has restored them' }];
  const until = new Date(Date.parse(sentUntil) + 7 * day).toISOString();
  return [{ where: 'lab service', until, why: 'it erases a user seven days after the request' }];
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
