import { ApplicationFailure, log } from '@temporalio/activity';
import { canonicalId } from '../../service/canonical-id.js';
import { ServiceError, ServiceRefused } from '../../service/errors.js';
import type { CallOptions } from '../../service/http/calls.js';
import type { LabService } from '../../service/lab-service.js';
import { needsPhysician, type Marker } from '../../service/lab-tests.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { snapshotOf } from '../../service/order/projection.js';
import { isStatedUnknownOrder, type Order, type RegisterRequest } from '../../service/order/orders.js';
import { shownId } from '../../protocol/ids.js';
import type { ActivityDependencies } from '../dependencies.js';
import { endingWithActivity, type Attempt } from '../attempt.js';
import { asFailures, failureOf, type RefusedAs, unreadableIfRefused } from '../failures.js';
import { folded, isCancelled, isRegistered } from './earlier-orders.js';
import { answerFaults } from '../../service/order/answers.js';
import type { KitRequest } from '../../protocol/order/placing-messages.js';

interface RegisterKit {
  orderId: string;
  registration: RegisterRequest;
  /** The orders of its chain, which the patient's sample id may belong to just as well. */
  chain: string[];
  /** Used if the order itself does not name its lab account. */
  labAccountId?: string;
}

/** Reads and commands of one order. */
export function orderActivities({ service }: Pick<ActivityDependencies, 'service'>) {
  return {
    /**
     * The order's current state; null if the service answers that it does not know it, which may be too early a read.
     */
    async readOrder(orderId: string): Promise<OrderSnapshot | null> {
      return asFailures('ServiceRefused', () => readIfKnown(service, orderId));
    },

    async cancelOrder(orderId: string): Promise<OrderSnapshot> {
      return command('CancelRefused', async (options) => {
        const before = await snapshotIfShown(service, orderId, options);
        // An earlier attempt whose answer was lost has already done it.
        if (before && isCancelled(before)) return before;
        try {
          const { order } = await service.orders.cancel(orderId, options);
          return snapshotOf(order, service.installation);
        } catch (error) {
          if (!(error instanceof ServiceRefused)) throw error;
          // The service may have been at work on an earlier attempt, and refuses this one because the order is cancelled by now.
          const after = await snapshotIfShown(service, orderId, options);
          if (after && isCancelled(after)) return after;
          throw error;
        }
      });
    },

    /**
     * Registers the kit of an order with its patient. A registration names no order: the sample id decides which of the chain it is. They
     * are read first: if one carries this sample id, an earlier attempt whose answer was lost has registered it.
     *
     * @returns the order that was registered
     */
    async registerKit({ orderId, registration, chain, labAccountId }: RegisterKit): Promise<OrderSnapshot> {
      return command('RegistrationRefused', async (options) => {
        const ids = [...new Set([orderId, ...chain])];
        const before = await readShown(service, ids, options);
        const earlier = before.find((order) => isRegisteredWith(order, registration.sample_id));
        if (earlier) return snapshotOf(earlier, service.installation);
        const account = before.find(({ id }) => id === orderId)?.lab_account_id ?? labAccountId;
        await requirePhysician(service, account, registration.physician, options);
        const registered = await registerOrFindRegistered(service, ids, registration, options);
        if (!ids.includes(registered.id)) throw registeredAnotherOrder(orderId, registered.id);
        return snapshotOf(registered, service.installation);
      });
    },
  };
}

/** A person waits for it, so it ends with its activity. */
function command<T>(refusedAs: RefusedAs, calls: (options: CallOptions) => Promise<T>): Promise<T> {
  return asFailures(refusedAs, () => endingWithActivity(calls));
}

/** Reads the order of a command. Only the service's own 404 is a refusal: another one may come from a proxy. */
export function readForCommand(service: LabService, orderId: string, options: CallOptions): Promise<Order> {
  return unreadableIfRefused(() => service.orders.get(orderId, options), isOwnAnswer);
}

/**
 * The order that a cancellation or registration is about, if the service shows it. Soon after a creation the service may not show the order
 * yet, although it takes the command, so its answer to the command itself decides.
 */
async function readIfShown(service: LabService, orderId: string, options: CallOptions): Promise<Order | undefined> {
  try {
    return await readForCommand(service, orderId, options);
  } catch (error) {
    if (isStatedUnknownOrder(error)) return undefined;
    throw error;
  }
}

async function snapshotIfShown(...of: Parameters<typeof readIfShown>): Promise<OrderSnapshot | undefined> {
  const order = await readIfShown(...of);
  return order && snapshotOf(order, of[0].installation);
}

function isOwnAnswer(refusal: ServiceRefused): boolean {
  return refusal.status !== 404 || isStatedUnknownOrder(refusal);
}

/** @throws NotFound for a 404 that is not the service's own answer: it may come from a proxy */
export async function readIfKnown(
  service: LabService,
  orderId: string,
  options?: CallOptions,
): Promise<OrderSnapshot | null> {
  try {
    return snapshotOf(await service.orders.get(orderId, options), service.installation);
  } catch (error) {
    if (isStatedUnknownOrder(error)) return null;
    throw error;
  }
}

/**
 * A refusal counts only if no order of the chain is registered meanwhile: the first of two attempts may have been slow.
 *
 * @param ids the order that the command is about, and the others of its chain
 */
async function registerOrFindRegistered(
  service: LabService,
  ids: readonly string[],
  registration: RegisterRequest,
  options: CallOptions,
): Promise<Order> {
  try {
    const { order } = await service.orders.register(registration, options);
    return order;
  } catch (error) {
    if (!(error instanceof ServiceRefused)) throw error;
    const now = await readShown(service, ids, options);
    const registered = now.find((order) => isRegisteredWith(order, registration.sample_id));
    if (registered) return registered;
    if (now.some((order) => order.id === ids[0] && isRegistered(snapshotOf(order, [])) && order.sample_id == null)) {
      const message = 'The order is registered, and the service does not show its sample id yet';
      throw ApplicationFailure.retryable(message, 'AnswerUnreadable');
    }
    throw failureOf(error, 'RegistrationRefused');
  }
}

/** @param ids the first is the order that the command is about: another one that the service refuses to show stops nothing */
async function readShown(
  service: LabService,
  [orderId = '', ...others]: readonly string[],
  options: CallOptions,
): Promise<Order[]> {
  const unlessRefused = (error: unknown) => {
    if (error instanceof ServiceRefused) return undefined;
    throw error;
  };
  const orders = await Promise.all([
    readIfShown(service, orderId, options),
    ...others.map((id) => service.orders.get(id, options).catch(unlessRefused)),
  ]);
  return orders.filter((order) => order !== undefined);
}

function isRegisteredWith(order: Order, sampleId: string): boolean {
  return order.sample_id != null && folded(order.sample_id) === folded(sampleId) && isRegistered(snapshotOf(order, []));
}

function registeredAnotherOrder(meant: string, registered: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `The service registered order ${shownId(registered)} instead of ${meant}`,
    'RegisteredAnotherOrder',
    { fields: [], orderId: registered },
  );
}

/**
 * A lab account with delegated flow needs a physician on the order (specification, Lab account). Refused before the
 * call; if the account is not known, or the list fails in whatever way, the service decides.
 */
export async function requirePhysician(
  service: LabService,
  labAccountId: string | null | undefined,
  physician: unknown,
  options?: CallOptions,
): Promise<void> {
  if (labAccountId == null || physician != null) return;
  const warning = 'the lab accounts cannot be listed: the service decides whether the order needs a physician';
  const accounts = await asCourtesy(warning, options, (short) =>
    service.labTests.listLabAccounts({ labAccountId }, short),
  );
  const account = accounts.find(({ id }) => id === canonicalId(labAccountId));
  if (account === undefined || !needsPhysician(account)) return;
  throw ApplicationFailure.nonRetryable(
    `Lab account ${shownId(labAccountId)} has a delegated flow: the order needs a physician`,
    'PhysicianRequired',
    { fields: [{ field: 'physician', message: 'is required by the lab account' }] },
  );
}

/**
 * Refuses wrong answers before the call that creates the order. Only an order with answers costs reads, one for each lab test
 * that it names; if one cannot be read, or if single markers are ordered, the service decides.
 */
export async function requireAnswers(
  service: LabService,
  order: Extract<KitRequest, { kind: 'with_patient' }>['order'],
  attempt: Attempt,
): Promise<void> {
  const { aoe_answers: answers, lab_test_id: labTestId, order_set: set } = order;
  if (answers == null || answers.length === 0) return;
  const labTestIds = new Set([labTestId, ...(set?.lab_test_ids ?? [])].filter((id) => id != null));
  const markers: Marker[] = [];
  const warning = 'a lab test cannot be read: the service decides if the answers fit';
  for (const id of labTestIds) {
    const read = async (short: CallOptions) => (await service.labTests.get(id, short)).markers ?? [];
    markers.push(...(await asCourtesy(warning, attempt.call(), read)));
  }
  const fields = answerFaults(markers, answers);
  if (fields.length === 0) return;
  const faults = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw ApplicationFailure.nonRetryable(`The answers are not valid: ${faults}`, 'OrderRefused', { fields });
}

/** The longest that one such read may take: without it, too, the service refuses what is wrong. */
const longestCourtesyMs = 10_000;

/** A list whose reading only avoids a refusal: if that fails, there is nothing to check. */
async function asCourtesy<Entry>(
  warning: string,
  options: CallOptions = {},
  read: (options: CallOptions) => Promise<Entry[]>,
): Promise<Entry[]> {
  try {
    return await read({ ...options, timeoutMs: Math.min(longestCourtesyMs, options.timeoutMs ?? longestCourtesyMs) });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    log.warn(warning, { error: error.name, status: error.status });
    return [];
  }
}
