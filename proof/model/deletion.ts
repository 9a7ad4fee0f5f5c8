import type { DeleteUserResult, DeletionState } from '../../protocol/deletion/messages.js';
import { graceEndOf, reminderDueAt, type Deletion } from '../../workflows/deletion/deletion.js';
import { deleteUser } from '../../workflows/deletion/workflow.js';
import {
  afterCommand,
  afterEvent,
  fails,
  noAnswer,
  type Left,
  carriedIn,
  endOf,
  type Choose,
  type Model,
  type Move,
  type State,
  type Step,
  orderOf,
} from './model.js';
import type { ActivityCall, Answer } from './run.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

interface DeletionWorld {
  user: 'present' | 'scheduled';
  isErased: boolean;
  left: Left;
}

const userId = '00000000-0000-4000-8000-000000000001';
const day = 86_400_000;

const policy = resolvePolicy('deletion', { onRunningWork: 'leave', grace: '3d', reminderBefore: '1d' });

/** One user's deletion, from the request to its end: undone, or final. */
export function deletionModel(left: Left): Model<DeletionWorld> {
  const input = { userId, policy };
  return {
    name: 'deletion',
    workflowId: `delete-user/${userId}`,
    workflow: deleteUser,
    beginnings: (['present', 'scheduled'] as const).flatMap((user) => {
      const requested = {
        input,
        update: { name: 'request', argument: input },
        world: { user, isErased: false, left },
      };
      return [requested, { ...requested, followUp: { name: 'undo' } }];
    }),
    events,
    commands,
    answer,
    essence,
    faults,
    phaseOf: (state) => endOf(state) ?? carriedIn<Deletion>(state.input).phase,
  };
}

function events({ world }: State<DeletionWorld>): Move<DeletionWorld>[] {
  if (world.user !== 'scheduled') return [];
  return [{ name: 'restored elsewhere', world: afterEvent(world, (next) => (next.user = 'present')) }];
}

function commands({ world }: State<DeletionWorld>): Move<DeletionWorld>[] {
  const updates = [{ name: 'undo' }, { name: 'request', argument: { userId, policy } }];
  return updates.map((update) => ({ name: `command ${update.name}`, update, world: afterCommand(world) }));
}

/** A call that changes something may have done so though its answer got lost. */
function answer(world: DeletionWorld, { name }: ActivityCall, choose: Choose): Answer {
  const isLost = fails(world, choose);
  if (isLost && choose(2) === 0) return noAnswer;
  const value = done(world, name);
  return isLost ? noAnswer : { value };
}

function done(world: DeletionWorld, name: string): unknown {
  switch (name) {
    case 'findRunningWork':
      return { work: [], notifies: true };
    case 'readUser':
      return { standing: world.user };
    case 'scheduleDeletion': {
      const before = world.user;
      world.user = 'scheduled';
      return before === 'present' ? 'accepted' : 'scheduled';
    }
    case 'undoDeletion': {
      const before = world.user;
      world.user = 'present';
      return before === 'present' ? 'present' : 'undone';
    }
    case 'eraseHealthData':
      world.isErased = true;
      return 'erased';
    case 'findHistories':
      return { runs: [], workflows: [], left: [] };
    default:
      return {};
  }
}

function essence({ input, world, result, now }: State<DeletionWorld>): unknown {
  if (result !== undefined) return [(result as DeleteUserResult).outcome, world];
  const deletion = carriedIn<Deletion>(input);
  const { journal: _journal, policy: _policy, raised: _raised, ...rest } = deletion;
  const { answered, doubt, nextIfRestored } = (input as { carried: Record<string, unknown> }).carried;
  const [reminder, end] = [reminderDueAt(deletion), graceEndOf(deletion)];
  const upcoming = [
    reminder === undefined ? undefined : { name: 'reminder', at: reminder },
    end === undefined ? undefined : { name: 'end of the grace', at: end },
  ];
  return [rest, answered, doubt, nextIfRestored !== undefined, orderOf(upcoming, now, day), world];
}

function faults(step: Step<DeletionWorld>): string[] {
  const { after, calls, move, reply } = step;
  const result = after.result as DeleteUserResult | undefined;
  const found: string[] = [];
  const read = calls.findLast(({ call, answer: given }) => call.name === 'readUser' && 'value' in given);
  if (result?.outcome === 'deleted') {
    if (!read) found.push('final without a read in the same step');
    if (after.world.user === 'present') found.push('final though the user is there');
    if (!after.world.isErased) found.push('final before the health data were erased');
    if (Date.parse(result.graceUntil ?? '') > after.now) found.push('final before the end of the grace');
    if (!after.announced.some((id) => id.endsWith('/deleted'))) found.push('final and not announced');
  }
  if (result?.outcome === 'undone') {
    if (after.world.user !== 'present') found.push('undone though the user is gone');
    if (!after.announced.some((id) => id.endsWith('/deletion_undone'))) found.push('undone and not announced');
  }
  const { name } = move.followUp ?? move.update ?? {};
  if (name === undefined || !reply || reply.refused !== undefined) return found;
  const { phase, undo } = reply.value as DeletionState;
  if (name === 'undo' && (phase !== 'undone' || !undo)) found.push('an undo was acknowledged and had no effect');
  if (name === 'undo' && !wasAskedOrPresent(step)) found.push('an undo was acknowledged and the service never asked');
  if (name === 'request' && !['requested', 'grace', 'confirming'].includes(phase)) {
    found.push(`a request was acknowledged and the deletion is ${phase}`);
  }
  return found;
}

/** The service has undone the deletion, or has shown the user. */
function wasAskedOrPresent({ calls }: Step<DeletionWorld>): boolean {
  return calls.some(
    ({ call, answer: given }) =>
      'value' in given && (call.name === 'undoDeletion' || (call.name === 'readUser' && isPresent(given.value))),
  );
}

function isPresent(value: unknown): boolean {
  return (value as { standing?: string }).standing === 'present';
}
