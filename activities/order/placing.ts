import { activityInfo, ApplicationFailure, log } from '@temporalio/activity';
import { AnswerLost, NotFound, ServiceRefused } from '../../service/errors.js';
import type { CallOptions } from '../../service/http/calls.js';
import type { LabService } from '../../service/lab-service.js';
import { signed } from '../../service/installation.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { snapshotOf } from '../../service/order/projection.js';
import {
  countryCodeOf,
  importOrderRequestSchema,
  orderRequestSchema,
  testkitOrderRequestSchema,
  type Order,
  type ShippingDetails,
} from '../../service/order/orders.js';
import { knownInstant } from '../../service/timestamps.js';
import { brokenRulesOf } from '../../service/validation.js';
import { isAddressable, shownId } from '../../protocol/ids.js';
import {
  handOverOf,
  creationProgressSignal,
  type CreationProgress,
  type KitRequest,
} from '../../protocol/order/placing-messages.js';
import { standingOf } from '../../protocol/order/lifecycle.js';
import { isRedraw, writePassthrough } from '../../protocol/order/root-order.js';
import type { FailureDetails } from '../../protocol/failure-details.js';
import type { ResolvedOrderPolicy } from '../../protocol/order/policy.js';
import type { DecidedOn } from '../../protocol/order/state.js';
import type { ActivityDependencies } from '../dependencies.js';
import { handOverNew } from './chains.js';
import { asFailures, failureOf, unreadableIfRefused } from '../failures.js';
import { importedBefore } from './import-search.js';
import { requireAnswers, readForCommand, requirePhysician } from './orders.js';
import { requireNoReset, startAttempt, type Attempt } from '../attempt.js';
import {
  earlierRunsOf,
  isEndedOutside,
  orderOfReference,
  placedBefore,
  requireOfTest,
  whenSent,
} from './earlier-orders.js';
import { presentRuns, runsOf } from '../workflow-runs.js';

export interface CreateKitOrder {
  request: KitRequest;
  reference: string;
  /** When the placing started, ISO 8601. */
  since: string;
  /** Earlier executions of this activity have failed: one of them may have created the order. */
  triedBefore: boolean;
  /** Milliseconds; see `OrderPolicy.creationTimeout` and `OrderPolicy.creationSettling`. */
  creationTimeout: number;
  creationSettling: number;
  /** For the hand-over of a new order. Without it, the placing hands the order over itself. */
  policy?: ResolvedOrderPolicy;
}

interface ReplaceKitOrder {
  failedOrderId: string;
  /** The facts that were known about the failed order when its replacement was decided. */
  decidedOn: DecidedOn;
  rootOrderId: string;
  reference: string;
  n: number;
  /** The chain's orders that are known: none of them is the replacement. */
  chain: string[];
  /** When the replacement was first requested, ISO 8601: older orders do not match. */
  claimedAt: string;
  /** As in `CreateKitOrder`. */
  triedBefore: boolean;
  /** From the hand-over; else the failed order's own. */
  labTestId?: string;
  labAccountId?: string;
  creationTimeout: number;
  creationSettling: number;
}

/** The first detail of an `OrderMovedOn`. */
export interface MovedOnDetails extends FailureDetails {
  /** The order as the service shows it now. */
  snapshot: OrderSnapshot;
}

export interface PlacedOrder {
  snapshot: OrderSnapshot;
  /** True when the order was already there and was taken over instead of created. */
  adopted: boolean;
  /** The workflow that follows the order has it. */
  handedOver?: true;
}

/** Creations, which are not idempotent at the service: every attempt first looks for the order. */
export function placingActivities(dependencies: ActivityDependencies) {
  return {
    /** Hands a new order over as well, in the same attempt; the placing does it if that fails, and for an adopted order. */
    async createKitOrder(input: CreateKitOrder): Promise<PlacedOrder> {
      const placed = await asFailures('OrderRefused', () => placeFirst(dependencies, input), input.creationSettling);
      return (await handOverIfNew(dependencies, input, placed)) ? { ...placed, handedOver: true } : placed;
    },

    /** Looks for the order that an attempt may have created, without creating one. */
    findKitOrder: (input: CreateKitOrder): Promise<PlacedOrder | null> =>
      asFailures(
        'OrderRefused',
        async () => (await findEarlier(dependencies, input)).found ?? null,
        input.creationSettling,
      ),

    replaceKitOrder: (input: ReplaceKitOrder): Promise<PlacedOrder> =>
      asFailures('OrderRefused', () => placeReplacement(dependencies, input), input.creationSettling),
  };
}

async function placeFirst(dependencies: ActivityDependencies, input: CreateKitOrder): Promise<PlacedOrder> {
  const { request } = input;
  requireValid(request);
  const { found, triedBefore, mayHaveBeenSent, attempt, passthrough } = await findEarlier(dependencies, input);
  if (found) return found;
  if (request.kind !== 'unregistered') {
    const { lab_account_id: labAccountId, order_set: orderSet, physician } = request.order;
    await requirePhysician(dependencies.service, labAccountId ?? orderSet?.lab_account_id, physician, attempt.call());
  }
  if (request.kind === 'with_patient') await requireAnswers(dependencies.service, request.order, attempt);
  if (triedBefore) await reportProgress(dependencies, 'sending');
  const creating = () => create(dependencies, request, { passthrough, mayHaveBeenSent, attempt });
  return mayHaveBeenSent ? orEarlier(creating, async () => (await findEarlier(dependencies, input)).found) : creating();
}

/**
 * Creates what an earlier request may have created, though the list does not show it. If the service refuses the repetition, that request
 * may be the reason: the list is read once more.
 *
 * @throws AnswerLost for a conflict with what the list does not show yet
 */
async function orEarlier(
  creating: () => Promise<PlacedOrder>,
  search: () => Promise<PlacedOrder | undefined>,
): Promise<PlacedOrder> {
  try {
    return await creating();
  } catch (error) {
    if (!(error instanceof ServiceRefused) || ![400, 409, 422].includes(error.status)) throw error;
    const earlier = await search();
    if (earlier) return earlier;
    throw error.status === 409
      ? new AnswerLost(error, 'may have been refused for an order that is not listed yet')
      : error;
  }
}

/** No error ends the attempt: its order exists, and the placing hands over what is not handed over here. */
async function handOverIfNew(
  dependencies: ActivityDependencies,
  { request, reference, policy }: CreateKitOrder,
  placed: PlacedOrder,
): Promise<boolean> {
  const { orderId } = placed.snapshot;
  if (placed.adopted || policy === undefined || !isAddressable(orderId)) return false;
  try {
    await handOverNew(dependencies, handOverOf(request.order, { ...placed, reference, policy }));
    return true;
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    log.warn('a new order was not handed over by its creation: its placing does it', { orderId, name, message });
    return false;
  }
}

async function findEarlier(dependencies: ActivityDependencies, input: CreateKitOrder) {
  const { request, reference, creationTimeout, creationSettling } = input;
  requireNoReset(creationSettling);
  const passthrough = writePassthrough({ reference, n: 1 });
  const attempt = startAttempt(creationTimeout);
  const runs = await earlierRunsOf(dependencies, reference);
  const known = await unreadableIfRefused(() => orderOfReference(dependencies, runs, request, attempt));
  const call = { attempt, passthrough };
  if (known) return { found: { snapshot: known, adopted: true }, triedBefore: true, mayHaveBeenSent: true, ...call };
  const sent = whenSent(await presentRuns(dependencies.temporal, runs.placings), input, creationSettling);
  const criteria = { ...sent, reference };
  try {
    const found = await unreadableIfRefused(
      () =>
        request.kind === 'import'
          ? importedBefore(dependencies, { ...criteria, order: request.order }, attempt)
          : placedBefore(dependencies, { ...criteriaOf(request, passthrough, reference), ...criteria }, attempt),
      isRefusedInWords,
    );
    if (found) requireOfTest(found, request.order);
    return { found: found && adopted(found, dependencies.service), ...sent, ...call };
  } catch (error) {
    if (!sent.mayHaveBeenSent) await reportProgress(dependencies, 'nothing_sent').catch(() => undefined);
    // There may be an order that would be missed: the placing knows more.
    const mayPass = error instanceof ServiceRefused && [400, 422].includes(error.status) && sent.mayHaveBeenSent;
    throw mayPass ? failureOf(error, 'SearchRefused') : error;
  }
}

/** A 422 with a sentence is the service's own, not a proxy's: the request names a user that cannot exist. */
function isRefusedInWords({ status, serviceSentence, fields }: ServiceRefused): boolean {
  return status === 422 && serviceSentence !== undefined && fields.length === 0;
}

function adopted(order: Order, { installation }: LabService): PlacedOrder {
  return { snapshot: snapshotOf(order, installation), adopted: true };
}

/**
 * Reports to the placing if an order may have been created, which a cancellation has to know. The first attempt, which usually
 * succeeds, reports nothing unless it ends before it sends anything; a later one reports before it sends.
 */
async function reportProgress({ temporal }: ActivityDependencies, progress: CreationProgress): Promise<void> {
  const { workflowId = '', runId } = activityInfo().workflowExecution ?? {};
  await temporal.workflow.getHandle(workflowId, runId).signal(creationProgressSignal, progress);
}

const schemas = {
  unregistered: testkitOrderRequestSchema,
  with_patient: orderRequestSchema,
  import: importOrderRequestSchema,
} satisfies Record<KitRequest['kind'], unknown>;

/**
 * Nobody has checked input from a backend in another language; with incomplete data the search could match another's
 * order.
 */
function requireValid({ kind, order }: KitRequest): void {
  const fields = brokenRulesOf(schemas[kind], order);
  if (fields.length === 0) return;
  const faults = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw ApplicationFailure.nonRetryable(`The order is not valid: ${faults}`, 'OrderRefused', { fields });
}

/**
 * Orders a new kit for a failed order, to the address that the failed order was sent to. A redraw that the service
 * already made in the same transaction wins, unless an earlier attempt has placed the replacement before it. Nothing is
 * created for an order that has moved on since it was decided: its kit may have arrived.
 */
async function placeReplacement(dependencies: ActivityDependencies, input: ReplaceKitOrder): Promise<PlacedOrder> {
  const { failedOrderId, rootOrderId, reference, n, chain, claimedAt, triedBefore } = input;
  const { creationTimeout, creationSettling } = input;
  requireNoReset(creationSettling);
  const attempt = startAttempt(creationTimeout);
  const failed = await readForCommand(dependencies.service, failedOrderId, attempt.call());
  const passthrough = writePassthrough({ root: rootOrderId, reference, n });
  const request = { kind: 'unregistered', order: replacementRequest(failed, input) } as const;
  const { temporal } = dependencies;
  const runs = await presentRuns(temporal, await runsOf(temporal, activityInfo().workflowExecution?.workflowId ?? ''));
  const sent = whenSent(runs.filter(isEndedOutside), { since: claimedAt, triedBefore }, creationSettling);
  const criteria = { ...criteriaOf(request, passthrough, reference), noneOf: chain, ...sent };
  const search = async () => {
    const found = await unreadableIfRefused(
      async () => (await placedBefore(dependencies, criteria, attempt)) ?? redrawOf(dependencies, failed, attempt),
    );
    return found && adopted(found, dependencies.service);
  };
  const found = await search();
  if (found) return found;
  requireUnmoved(snapshotOf(failed, dependencies.service.installation), input.decidedOn);
  const { mayHaveBeenSent } = sent;
  const creating = () => create(dependencies, request, { passthrough, mayHaveBeenSent, attempt });
  return mayHaveBeenSent ? orEarlier(creating, search) : creating();
}

function requireUnmoved(snapshot: OrderSnapshot, { eventId, status }: DecidedOn): void {
  const last = Math.max(-1, ...snapshot.events.map(({ id }) => id));
  const { endedByStatus = false } = standingOf(snapshot.events, snapshot.status);
  const countsStatus = endedByStatus || (last === -1 && eventId === -1);
  const isUnmoved = last <= eventId && (!countsStatus || snapshot.status === status);
  if (isUnmoved) return;
  const details: MovedOnDetails = { fields: [], snapshot };
  throw ApplicationFailure.nonRetryable(
    `Order ${snapshot.orderId} has moved on since its replacement was decided: nothing was ordered`,
    'OrderMovedOn',
    details,
  );
}

/** The only place that creates. It is the last call of an attempt that is still the latest one. */
async function create(
  { service, echoesPassthrough, requireNotStopped }: ActivityDependencies,
  request: KitRequest,
  { passthrough, mayHaveBeenSent, attempt }: { passthrough: string; mayHaveBeenSent: boolean; attempt: Attempt },
): Promise<PlacedOrder> {
  await requireNotStopped(mayHaveBeenSent ? {} : { nothingSent: true });
  attempt.requireFresh();
  const ours = signed(passthrough, service.installation);
  const { order } = await withFieldNamed('user_id', /\buser\b/i, () => send(service, request, ours, attempt.call()));
  if (request.kind !== 'import' && echoesPassthrough && order.passthrough !== ours) {
    log.error('the service did not echo our passthrough: set SERVICE_ECHOES_PASSTHROUGH=false', {
      orderId: shownId(order.id),
    });
  }
  return { snapshot: snapshotOf(order, service.installation), adopted: false };
}

function send({ orders }: LabService, request: KitRequest, passthrough: string, options: CallOptions) {
  switch (request.kind) {
    case 'unregistered':
      return orders.createTestkit({ ...request.order, passthrough }, options);
    case 'with_patient':
      return orders.create({ ...request.order, passthrough }, { ...options, idempotencyKey: passthrough });
    case 'import':
      return orders.import(request.order, options);
    default:
      return request satisfies never;
  }
}

/** Names the field of a 404 whose sentence says what does not exist: the service itself names none. */
async function withFieldNamed<T>(field: string, said: RegExp, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof NotFound) || error.fields.length > 0 || !said.test(error.serviceSentence ?? '')) throw error;
    const { method, path, status, serviceSentence: sentence = '' } = error;
    throw new NotFound(
      { method, path, status },
      { sentence, fields: [{ field, message: 'is not known to the lab service' }] },
    );
  }
}

function criteriaOf(request: Exclude<KitRequest, { kind: 'import' }>, passthrough: string, reference: string) {
  const { user_id: userId, lab_test_id: labTestId } = request.order;
  const address = request.kind === 'unregistered' ? request.order.shipping_details : request.order.patient_address;
  return { kind: request.kind, passthrough, reference, userId, address, ...(labTestId != null && { labTestId }) };
}

/** The redraw that the service made of the failed order, by its parent; else a later redraw of the same transaction. */
async function redrawOf(
  { service }: ActivityDependencies,
  failed: Order,
  attempt: Attempt,
): Promise<Order | undefined> {
  const listed = failed.order_transaction?.orders ?? [];
  const own = listed.findIndex(({ id }) => id === failed.id);
  const failedAt = timeOf(listed[own] ?? failed);
  // The list is in the order of creation, which counts if a time cannot be read.
  const isLater = (member: Member, index: number) =>
    Number.isNaN(timeOf(member) - failedAt) ? index > own : timeOf(member) > failedAt;
  const redraw =
    listed.find(({ id, parent_id: parent }) => parent === failed.id && id !== failed.id) ??
    listed.find((member, index) => index !== own && isRedraw(member) && isLater(member, index));
  return redraw?.id == null ? undefined : service.orders.get(redraw.id, attempt.call());
}

type Member = NonNullable<NonNullable<Order['order_transaction']>['orders']>[number];

function timeOf({ created_at: createdAt }: Pick<Order, 'created_at'>): number {
  return Date.parse(knownInstant(createdAt) ?? '');
}

/** The same kit as the failed order's. An answer's address has the country in long form; requests need the code. */
function replacementRequest(failed: Order, { labTestId, labAccountId }: ReplaceKitOrder) {
  const address = failed.shipping_details ?? failed.patient_address;
  const testId = labTestId ?? failed.lab_test?.id;
  if (address == null || testId == null || failed.user_id == null) {
    throw ApplicationFailure.nonRetryable(
      `Order ${failed.id} does not show its user, lab test and address, which a replacement needs`,
      'OrderRefused',
      { fields: [{ field: 'shipping_details', message: 'is not shown by the failed order' }] },
    );
  }
  const accountId = failed.lab_account_id ?? labAccountId;
  const shippingDetails: ShippingDetails = {
    receiver_name: address.receiver_name || patientName(failed),
    first_line: address.first_line ?? '',
    ...(address.second_line != null && { second_line: address.second_line }),
    city: address.city ?? '',
    state: address.state ?? '',
    zip: address.zip ?? '',
    country: countryCodeOf(address.country ?? ''),
    phone_number: address.phone_number || (failed.patient_details?.phone_number ?? ''),
  };
  return {
    user_id: failed.user_id,
    lab_test_id: testId,
    shipping_details: shippingDetails,
    ...(accountId != null && { lab_account_id: accountId }),
  };
}

function patientName({ patient_details: patient }: Order): string {
  return [patient?.first_name, patient?.last_name].filter((name) => name != null).join(' ');
}
