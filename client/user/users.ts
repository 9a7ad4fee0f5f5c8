import { setTimeout as pause } from 'node:timers/promises';
import { type WorkflowExecutionInfo, WithStartWorkflowOperation } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { NotFound, ServiceRefused } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import {
  type PortalUrl,
  type PortalUrlRequest,
  type CreateUserRequest,
  type Demographics,
  type DemographicsRequest,
  type UpdateUserRequest,
  type User,
  type UserListOptions,
  userListSchema,
} from '../../service/users.js';
import { deleteUserId, isAddressable } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import {
  deleteUserName,
  requestUpdate,
  type DeleteUserInput,
  type DeletionState,
} from '../../protocol/deletion/messages.js';
import { labPhaseKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { defaultDeadline, type CallOptions } from '../call-options.js';
import type { RefusedField } from '../../service/lab-operations-error.js';
import { isText } from '../../service/json-object.js';
import { checkRead, policyFaults, refuseFaulty, unknownFaults } from '../input-faults.js';
import { ReadInvalid } from '../errors.js';
import { askService, listFromService, type ServiceAccess } from '../service-calls.js';
import type { TemporalCalls } from '../workflow-calls.js';
import { exists, statusOf } from '../workflow-runs.js';
import { type ExportedWork, exportedWork, runsOfUser, stateOf, withAppointment } from './export.js';
import { DeletionHandle, userCalls } from './deletion-handle.js';
import { DeletionInvalid, DeletionNotFound, GraceEnded, NothingToUndo, userErrorMap } from './errors.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

const requesting = {
  errors: userErrorMap,
  underWay:
    'The deletion may have been requested all the same: look at `deletion`, or request it again, which finds it.',
  // Two minutes pass before it is certain that the service will be asked until it answers.
  defaultDeadline: '150s',
} as const;

/**
 * Users. Deleting one is a workflow, because its undo lasts a week; everything else is a call of the lab service, which
 * needs `service` in `LabOperations` and rejects with the service's own errors. The default deadline of each is 30
 * seconds. `requestDeletion` and `deletion` also reject with the errors of {@link CallOptions}, and every method with TimedOut.
 */
export class UserOperations {
  readonly #calls: TemporalCalls;
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#calls = access.calls;
    this.#access = access;
  }

  /**
   * Deletes a user: connections at once, data after the grace. Returns when the service has accepted the deletion. If
   * the service or Temporal's list does not answer, it returns after two minutes at most, with the phase `requested`:
   * the worker then asks until there is an answer. A request during a deletion joins it, and keeps its grace and
   * policy. If the user was restored elsewhere, or an undo is being carried out, it starts a new deletion. Waits for a
   * worker, and for that undo. Deadline: 150 seconds.
   *
   * @throws DeletionInvalid naming each field and its rule, before anything is started
   * @throws UserHasRunningWork naming the workflows, under the policy `refuse`, which is the default
   * @throws UserUnknown if the user does not exist or no longer exists
   * @throws DeletionRefused, ServiceAccessDenied: nothing was deleted
   */
  async requestDeletion(
    input: Omit<DeleteUserInput, 'carried' | 'by'>,
    options: CallOptions = {},
  ): Promise<DeletionHandle> {
    check(input);
    const userId = canonicalId(input.userId);
    const request = { ...this.#calls.actor, ...input, userId, policy: resolvePolicy('deletion', input.policy) };
    const workflowId = deleteUserId(userId);
    // Each can be used once.
    const start = () =>
      new WithStartWorkflowOperation(deleteUserName, {
        workflowId,
        taskQueue: this.#calls.taskQueue,
        args: [request],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        typedSearchAttributes: new TypedSearchAttributes([
          { key: labUserIdKey, value: userId },
          { key: labPhaseKey, value: 'requested' },
        ]),
        staticSummary: `Deletion of user ${userId}`,
        staticDetails: 'Deletes one user at the lab service and holds the time in which that can be undone.',
      });
    const state = await this.#calls.call(requesting, options, (call) => {
      call.waitFor({ workflowId });
      return call.untilAccepted((updateId) =>
        this.#calls.client.workflow.executeUpdateWithStart(requestUpdate, {
          args: [request],
          updateId,
          startWorkflowOperation: start(),
        }),
      );
    });
    return new DeletionHandle(this.#calls, userId, state);
  }

  /**
   * The latest deletion of a user, under way or ended, as long as the namespace retains it.
   * @throws DeletionNotFound
   */
  async getDeletionHandle({ userId }: { userId: string }, options: CallOptions = {}): Promise<DeletionHandle> {
    requireAddressable(userId);
    const workflow = this.#calls.client.workflow.getHandle(deleteUserId(userId));
    if (!(await this.#calls.call(userCalls.reading, options, () => exists(workflow)))) {
      throw new DeletionNotFound(`No deletion of user ${userId} is known`);
    }
    return new DeletionHandle(this.#calls, canonicalId(userId));
  }

  /**
   * Undoes a deletion, no matter who requested it. One that runs here is undone by its workflow, which then ends; any other is
   * undone directly at the service. Connections are not restored: the user has to link them again. With `userId` it is safe to
   * repeat, even for a user who is not deleted. With `clientUserId`, the service looks the user up; if the call fails after the
   * service has restored the user, continue with the user's id. Deadline: 30 seconds for each of five calls.
   *
   * @throws DeletionInvalid unless exactly one valid id is given; ServiceNotConfigured; the service's own errors: `ServiceRefused`
   * if the service does not restore the user, for example because the grace period is over or a new user has taken the
   * `client_user_id`; for a deletion that runs here, the errors of its handle's `undo`; GraceEnded
   * for a `userId` whose latest deletion here has ended for good and who is not there any more. (By `clientUserId` the service has
   * restored the user before this is known.)
   */
  async restore(
    which: { userId: string } | { clientUserId: string },
    options: CallOptions = {},
  ): Promise<{ user: User; deletion?: DeletionState }> {
    const userId = await this.undoneOrNamed(which, options);
    const deletion = await this.undoHere(userId, options);
    const user = await askService(this.#access, userCalls.service, options, ({ users }, abort) =>
      restoreAt(users, userId, deletion !== undefined, abort),
    );
    return { user, ...(deletion && { deletion }) };
  }

  /** A user who is scheduled for deletion cannot be found by `client_user_id`, so such a user is restored first. */
  private async undoneOrNamed(
    which: { userId?: string; clientUserId?: string },
    options: CallOptions,
  ): Promise<string> {
    const { userId, clientUserId } = which;
    if ((userId === undefined) === (clientUserId === undefined)) {
      refuse([{ field: 'which', message: 'must be one of: userId; clientUserId' }]);
    }
    if (clientUserId === undefined) {
      requireAddressable(userId ?? '');
      return canonicalId(userId ?? '');
    }
    if (!isText(clientUserId)) refuse([{ field: 'clientUserId', message: 'must be a text' }]);
    return askService(this.#access, userCalls.service, options, async ({ users }, abort) => {
      await users.undoDelete({ clientUserId }, abort);
      return canonicalId((await users.resolve(clientUserId, abort)).user_id);
    });
  }

  /** A deletion that ended here as final is not undone at the service either: the product knows of it, and health data are erased. */
  private async undoHere(userId: string, options: CallOptions): Promise<DeletionState | undefined> {
    if (!isAddressable(userId)) return undefined;
    const workflow = this.#calls.client.workflow.getHandle(deleteUserId(userId));
    const status = await this.#calls.call(userCalls.reading, options, () => statusOf(workflow));
    if (status !== 'RUNNING' && status !== 'COMPLETED') return undefined;
    try {
      const deletion = await new DeletionHandle(this.#calls, userId).undo(options);
      // The state of one that was undone before is old: the user may have been deleted elsewhere since.
      return status === 'RUNNING' ? deletion : undefined;
    } catch (error) {
      if (error instanceof NothingToUndo) return undefined;
      if (error instanceof GraceEnded && (await this.isPresent(userId, options))) return undefined;
      throw error;
    }
  }

  private async isPresent(userId: string, options: CallOptions): Promise<boolean> {
    const user = await askService(this.#access, userCalls.service, options, ({ users }, abort) =>
      ifPresent(users, userId, abort),
    );
    return user !== undefined;
  }

  /**
   * All users of the team, a page per call. Deadline: 30 seconds a page.
   * @throws ReadInvalid
   */
  readAll(which?: Pick<UserListOptions, 'pageSize'>, options: CallOptions = {}): AsyncGenerator<User, void, undefined> {
    // If an unknown field were ignored, all users would be listed.
    checkRead('The list', which ?? {}, userListSchema);
    return listFromService(this.#access, userCalls.reading, options, ({ users }, abort) =>
      users.list(Object.assign(abort, which)),
    );
  }

  /**
   * All that Temporal holds of a user, a run of a workflow at a time, as long as the namespace retains it: what
   * `HealthDataReader.export` reads is in the database. A state that cannot be read is missing, and `stateUnread` says why. `onRead` gets
   * one record. Deadline: 30 seconds for a run's history, and as much for its state.
   * @throws ReadInvalid
   */
  export(userId: string, options: CallOptions = {}): AsyncGenerator<ExportedWork, void, undefined> {
    refuseFaulty('The export', userIdFaults(userId), ReadInvalid);
    const { client } = this.#calls;
    this.#access.report?.('users.export', canonicalId(userId));
    const calls = this.#calls;
    const runs = calls.iterate(userCalls.reading, options, () => runsOfUser(client, userId));
    // A run that is stuck must not end the export, nor hold it up.
    const bounded = { deadline: defaultDeadline, ...options };
    const readState = async (run: WorkflowExecutionInfo): Promise<Pick<ExportedWork, 'state' | 'stateUnread'>> => {
      try {
        const state = await calls.call(userCalls.reading, bounded, (call) => stateOf(call, client, run));
        return state === undefined ? {} : { state };
      } catch (error) {
        if (options.signal?.aborted === true) throw error;
        return { stateUnread: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
      }
    };
    return (async function* () {
      for await (const run of runs) {
        const work = await calls.call(userCalls.reading, options, () => exportedWork(client, run));
        if (work) yield withAppointment({ ...work, ...(await readState(run)) });
      }
    })();
  }

  /** Creates the user with this `client_user_id`, or answers with the one who has it already: `created` is false then. */
  async createOrGet(request: CreateUserRequest, options: CallOptions = {}): Promise<{ user: User; created: boolean }> {
    return askService(this.#access, userCalls.service, options, ({ users }, abort) => users.create(request, abort));
  }

  /** `NotFound` for an unknown user, and for one that is scheduled for deletion. */
  async read(userId: string, options: CallOptions = {}): Promise<User> {
    return askService(this.#access, userCalls.reading, options, ({ users }, abort) => users.get(userId, abort));
  }

  /** The user with the product's own reference, or `NotFound`. */
  async readByClientUserId(clientUserId: string, options: CallOptions = {}): Promise<User> {
    return askService(this.#access, userCalls.reading, options, ({ users }, abort) =>
      users.resolve(clientUserId, abort),
    );
  }

  /** Changes the given fields; the others stay. */
  async update(userId: string, changes: UpdateUserRequest, options: CallOptions = {}): Promise<void> {
    return askService(this.#access, userCalls.service, options, ({ users }, abort) =>
      users.update(userId, changes, abort),
    );
  }

  /** The latest demographics; `NotFound` if none were set. */
  async readDemographics(userId: string, options: CallOptions = {}): Promise<Demographics> {
    return askService(this.#access, userCalls.reading, options, ({ users }, abort) =>
      users.getDemographics(userId, abort),
    );
  }

  /** Sets the demographics as a whole. A portal link needs them. */
  async setDemographics(
    userId: string,
    demographics: DemographicsRequest,
    options: CallOptions = {},
  ): Promise<Demographics> {
    return askService(this.#access, userCalls.service, options, ({ users }, abort) =>
      users.upsertDemographics(userId, demographics, abort),
    );
  }

  /**
   * A link to the hosted portal. It is a credential: anyone who has it is logged in. `ServiceRefused` with status 422 if
   * the user has no demographics.
   */
  async createPortalLink(userId: string, request: PortalUrlRequest, options: CallOptions = {}): Promise<PortalUrl> {
    return askService(this.#access, userCalls.service, options, ({ portal }, abort) =>
      portal.createUrl(userId, request, abort),
    );
  }
}

type Users = LabService['users'];

/**
 * A user who is there was restored before, or never deleted. Right after an undo a read may be older than it.
 * @param isUndone the workflow has just undone the deletion, so a refusal means that nothing is left to undo
 */
async function restoreAt(
  users: Users,
  userId: string,
  isUndone: boolean,
  abort: { signal: AbortSignal },
): Promise<User> {
  const present = await ifPresent(users, userId, abort);
  if (present) return present;
  try {
    // Also after the workflow's undo: the user may have been deleted elsewhere since.
    await users.undoDelete({ userId }, abort);
  } catch (error) {
    const isRefused = error instanceof ServiceRefused;
    const restored = isRefused && (await ifPresent(users, userId, abort, isUndone ? longestLag : 0));
    if (restored) return restored;
    throw error;
  }
  return (await ifPresent(users, userId, abort, longestLag)) ?? users.get(userId, abort);
}

/** How long a read may show an older state, and the pause between two reads, in milliseconds. */
const longestLag = 20_000;
const pauseMs = 1_000;

/** @param waitMs how long an absence is not believed */
async function ifPresent(
  users: Users,
  userId: string,
  abort: { signal: AbortSignal },
  waitMs = 0,
): Promise<User | undefined> {
  for (let left = waitMs; ; left -= pauseMs) {
    try {
      return await users.get(userId, abort);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      if (left <= 0) return undefined;
    }
    await pause(pauseMs, undefined, abort);
  }
}

function check({ userId, clientUserId, policy, ...unknown }: Omit<DeleteUserInput, 'carried' | 'by'>): void {
  const faults = userIdFaults(userId);
  // For instance a setting of the policy that stands beside the policy.
  faults.push(...unknownFaults(unknown));
  if (clientUserId != null && typeof clientUserId !== 'string') {
    faults.push({ field: 'clientUserId', message: 'must be a string' });
  }
  faults.push(...policyFaults(() => resolvePolicy('deletion', policy)));
  refuse(faults);
}

function requireAddressable(userId: string): void {
  refuse(userIdFaults(userId));
}

function userIdFaults(userId: unknown): RefusedField[] {
  if (isAddressable(userId)) return [];
  return [{ field: 'userId', message: 'must be letters, digits, dots, hyphens or underscores' }];
}

function refuse(fields: RefusedField[]): void {
  refuseFaulty('The deletion', fields, DeletionInvalid);
}
