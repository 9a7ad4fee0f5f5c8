import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { LabService } from '../../service/lab-service.js';
import type { PortalUrl, PortalUrlRequest } from '../../service/portal.js';
import type {
  CreateUserRequest,
  Demographics,
  DemographicsRequest,
  UpdateUserRequest,
  User,
  UserListOptions,
} from '../../service/users.js';
import { deleteUserId } from '../../workflows/deletion/address.js';
import { deleteUserName, requestUpdate, type DeleteUserInput } from '../../workflows/deletion/messages.js';
import { resolveDeletionPolicy } from '../../workflows/deletion/policy.js';
import { isAddressable } from '../../workflows/order/address.js';
import { labPhaseKey, labUserIdKey } from '../../workflows/search-attributes.js';
import { canonicalUserId } from '../../workflows/user-id.js';
import { ServiceNotConfigured, type RefusedField } from '../errors.js';
import { inOneLine, policyFaults } from '../input-faults.js';
import { exists, inWords } from '../workflow-calls.js';
import { DeletionHandle } from './deletion-handle.js';
import { DeletionInvalid, DeletionNotFound, userWords } from './errors.js';

/**
 * Users. Deleting one is a workflow, because its undo lasts a week; everything else is a call of the lab service, which
 * needs `service` in `LabOperations` and rejects with the service's own errors.
 */
export class UserOperations {
  private readonly temporal: Client;
  private readonly taskQueue: string;
  private readonly service: LabService | undefined;

  constructor(temporal: Client, taskQueue: string, service?: LabService) {
    this.temporal = temporal;
    this.taskQueue = taskQueue;
    this.service = service;
  }

  /**
   * Deletes a user: connections at once, data after the grace. Returns when the service has taken the deletion; where
   * the service or Temporal's list does not answer, after two minutes at most, when it is certain that it will be asked
   * until it does: the state says `requested` then. A deletion that is under way is found again, with its own grace and
   * policy, unless the user was restored elsewhere: then it is a new one. Waits for a worker.
   *
   * @throws DeletionInvalid naming each field and its rule, before anything is started
   * @throws UserHasRunningWork naming the workflows, under the policy `refuse`, which is the default
   * @throws UserUnknown where there is nobody to delete, or nobody any more
   * @throws DeletionRefused, ServiceAccessDenied: nothing was deleted
   */
  async requestDeletion(input: Omit<DeleteUserInput, 'carried'>): Promise<DeletionHandle> {
    check(input);
    const userId = canonicalUserId(input.userId);
    const start = new WithStartWorkflowOperation(deleteUserName, {
      workflowId: deleteUserId(userId),
      taskQueue: this.taskQueue,
      args: [{ ...input, userId }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      typedSearchAttributes: new TypedSearchAttributes([
        { key: labUserIdKey, value: userId },
        { key: labPhaseKey, value: 'requested' },
      ]),
      staticSummary: `Deletion of user ${userId}`,
      staticDetails: 'Deletes one user at the lab service and holds the time in which that can be undone.',
    });
    const state = await inWords(userWords, () =>
      this.temporal.workflow.executeUpdateWithStart(requestUpdate, {
        args: [{ ...input, userId }],
        startWorkflowOperation: start,
      }),
    );
    return new DeletionHandle(this.temporal, userId, state);
  }

  /**
   * The latest deletion of a user, under way or ended, as long as the namespace retains it.
   * @throws DeletionNotFound
   */
  async deletion(userId: string): Promise<DeletionHandle> {
    demandAddressable(userId);
    if (!(await exists(this.temporal.workflow.getHandle(deleteUserId(userId))))) {
      throw new DeletionNotFound(`No deletion of user ${userId} is known`);
    }
    return new DeletionHandle(this.temporal, canonicalUserId(userId));
  }

  /** All users of the team, a page per call. */
  list(options?: UserListOptions): AsyncGenerator<User, void, undefined> {
    return this.demandService().users.list(options);
  }

  /** Creates the user with this `client_user_id`, or answers with the one who has it already: `created` is false then. */
  async createOrGet(request: CreateUserRequest): Promise<{ user: User; created: boolean }> {
    return this.demandService().users.create(request);
  }

  /** `NotFound` for an unknown user, and for one that is scheduled for deletion. */
  async get(userId: string): Promise<User> {
    return this.demandService().users.get(userId);
  }

  /** The user with the product's own reference, or `NotFound`. */
  async resolve(clientUserId: string): Promise<User> {
    return this.demandService().users.resolve(clientUserId);
  }

  /** Changes what is given; what is left out stays. */
  async update(userId: string, changes: UpdateUserRequest): Promise<void> {
    return this.demandService().users.update(userId, changes);
  }

  /** The latest demographics; `NotFound` where none were set. */
  async demographics(userId: string): Promise<Demographics> {
    return this.demandService().users.getDemographics(userId);
  }

  /** Sets the demographics as a whole. A portal link needs them. */
  async setDemographics(userId: string, demographics: DemographicsRequest): Promise<Demographics> {
    return this.demandService().users.upsertDemographics(userId, demographics);
  }

  /**
   * A link to the hosted portal. It is a credential: whoever has it is in. `ServiceRefused` with status 422 where the
   * user has no demographics.
   */
  async portalLink(userId: string, request: PortalUrlRequest): Promise<PortalUrl> {
    return this.demandService().portal.createUrl(userId, request);
  }

  private demandService(): LabService {
    if (this.service) return this.service;
    throw new ServiceNotConfigured('Users are read from the service: give `service` to LabOperations');
  }
}

/** Everything that is wrong, at once. A caller in plain JavaScript is checked by no compiler. */
function check({ userId, clientUserId, graceDays, policy, ...unknown }: Omit<DeleteUserInput, 'carried'>): void {
  const faults = userIdFaults(userId);
  // A wish that nobody hears, such as a part of the policy beside it, would delete in another way than was meant.
  for (const field of Object.keys(unknown)) faults.push({ field, message: 'is not known here' });
  if (clientUserId != null && typeof clientUserId !== 'string') {
    faults.push({ field: 'clientUserId', message: 'must be a string' });
  }
  faults.push(...policyFaults(() => resolveDeletionPolicy(policy ?? {}, graceDays ?? undefined)));
  if (faults.length > 0) throw invalid(faults);
}

function demandAddressable(userId: string): void {
  const faults = userIdFaults(userId);
  if (faults.length > 0) throw invalid(faults);
}

function userIdFaults(userId: unknown): RefusedField[] {
  if (typeof userId === 'string' && isAddressable(userId)) return [];
  return [{ field: 'userId', message: 'must be letters, digits, dots, hyphens or underscores' }];
}

function invalid(fields: RefusedField[]): DeletionInvalid {
  return new DeletionInvalid(`The deletion is not valid: ${inOneLine(fields)}`, { fields });
}
