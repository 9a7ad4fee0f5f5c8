import { ApplicationFailure, workflowInfo, type CancellationScope } from '@temporalio/workflow';
import { Alarm } from '../alarm.js';
import { CommandQueue } from '../command-queue.js';
import { isAddressable } from '../order/address.js';
import type { Outbox } from '../outbox.js';
import { PolicyInvalid } from '../policy-settings.js';
import { canonicalUserId } from '../user-id.js';
import { deleteUserId } from './address.js';
import { openDeletion, type Deletion } from './case.js';
import type { DeleteUserInput, DeletionState } from './messages.js';
import type { DeletionNotification } from './notifications.js';

/** One run of `deleteUser`: the deletion it works on, and who waits for it. */
export interface Run {
  kase: Deletion;
  /** `look`: whether somebody has restored the user meanwhile, because the deletion is requested again. */
  commands: CommandQueue<'undo' | 'look', DeletionState>;
  alarm: Alarm;
  post: Outbox<DeletionNotification>;
  /** Whoever requested the deletion knows enough: it is under way, or will not be, or takes longer than they can wait. */
  answered: boolean;
  /** Why no deletion is under way; what requests are answered with. */
  refusal?: ApplicationFailure;
  /** A new deletion, requested after this one had ended and before the product could be told so. */
  next?: Deletion;
  /** Requested while this one runs: begins if it turns out that the user had been restored by then. */
  again?: Deletion;
  /** It is not clear whether the user is still scheduled, because an undo got no answer, or a look at a new request. */
  doubt?: 'undo' | 'request';
  /** What precedes the grace; an undo stops it. */
  beginning?: CancellationScope;
}

/** What goes into the next run of a deletion whose history grew long. */
export interface Carried extends Pick<Run, 'kase' | 'answered' | 'again' | 'doubt'> {
  post: Pick<Run['post'], 'outbox' | 'notifies'>;
}

/** What another language's backend sends is checked by nobody else: what is wrong with it becomes the run's refusal. */
export function openRun(input: DeleteUserInput): Run {
  return input?.carried == null ? openAnew(input) : goOn(input.carried as Carried);
}

function goOn({ kase, post, ...known }: Carried): Run {
  const { policy } = kase;
  return { ...known, kase, post: { ...post, policy }, commands: new CommandQueue(), alarm: new Alarm() };
}

function openAnew(input: DeleteUserInput): Run {
  const opened = openChecked(input);
  const kase = opened instanceof ApplicationFailure ? openDeletion({ userId: '' }, Date.now()) : opened;
  return {
    kase,
    commands: new CommandQueue(),
    alarm: new Alarm(),
    post: { outbox: [], policy: kase.policy },
    answered: false,
    ...(opened instanceof ApplicationFailure && { refusal: opened }),
  };
}

export function openChecked(input: Partial<DeleteUserInput> | undefined): Deletion | ApplicationFailure {
  const { userId, clientUserId } = input ?? {};
  if (typeof userId !== 'string' || !isAddressable(userId)) return invalid('userId must be an id of the service');
  if (workflowInfo().workflowId !== deleteUserId(userId))
    return invalid('the workflow ID must be delete-user/<userId>, a UUID in lower case');
  if (clientUserId != null && typeof clientUserId !== 'string') return invalid('clientUserId must be a string');
  try {
    return openDeletion({ ...input, userId: canonicalUserId(userId) }, Date.now());
  } catch (error) {
    if (!(error instanceof PolicyInvalid)) throw error;
    return ApplicationFailure.nonRetryable(error.message, 'PolicyInvalid', { fields: [] });
  }
}

function invalid(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'InvalidCommand', { fields: [] });
}
