import type { DeletionPolicy, ResolvedDeletionPolicy } from '../../../protocol/deletion/policy.js';
import { deleteUser } from '../../../workflows/deletion/workflow.js';
import { Life, type Answers } from '../life.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

export const start = Date.parse('2026-03-01T10:00:00.000Z');
export const userId = '00000000-0000-4000-8000-000000000001';
export const opening = { workflow: deleteUser, type: 'deleteUser', workflowId: `delete-user/${userId}`, now: start };

export const usual: Answers = {
  findRunningWork: { work: [], notifies: true },
  readUser: { standing: 'present', connections: ['oura'] },
  scheduleDeletion: 'accepted',
  findEarlierDeletion: {},
  cancelWork: { fate: 'cancelled' },
  eraseHealthData: 'erased',
  findHistories: { runs: [], workflows: [], left: [] },
  eraseHistories: undefined,
  writeReceipt: {},
  resolvePolicy: (_now: number, { policy }: { policy: object }) => resolvePolicy('deletion', policy),
};

/** A deletion that was requested as the client does it: the start and the first request arrive together. */
export async function requested(
  answers: Answers = {},
  policy: DeletionPolicy | ResolvedDeletionPolicy = {},
  now = start,
): Promise<Life> {
  const begun = new Life({ ...opening, now }, { ...usual, ...answers });
  return begin(begun, { userId, clientUserId: 'reference-1', policy: resolvePolicy('deletion', policy) });
}

export async function begin(life: Life, input: unknown): Promise<Life> {
  await life.run.start(input, [], { name: 'request', argument: input });
  return life.settle();
}
