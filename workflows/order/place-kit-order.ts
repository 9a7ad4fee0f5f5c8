import {
  ActivityFailure,
  ApplicationFailure,
  continueAsNew,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { PlacedOrder } from '../../activities/placing.js';
import { creating, handingOver } from '../proxies.js';
import { labAttentionKey } from '../search-attributes.js';
import { isAddressable, placeKitOrderId, referencePattern } from './address.js';
import { refusalOf } from '../command-queue.js';
import type { AttentionReason, KitRequest, PlaceKitOrderInput, PlaceKitOrderResult } from './messages.js';
import { PolicyInvalid } from '../policy-settings.js';
import { ofCanonicalUser } from '../user-id.js';
import { resolvePolicy, settlingAfter, type ResolvedPolicy } from './policy.js';

/**
 * Places exactly one order for a reference, however often it is started and whatever fails on the way, and hands it
 * over to the workflow that follows it.
 */
export async function placeKitOrder(input: PlaceKitOrderInput): Promise<PlaceKitOrderResult> {
  const policy = check(input);
  setCurrentDetails('Places the order at the lab service, once.');
  const { snapshot, adopted } = await place(input, policy);
  const { orderId } = snapshot;
  const { lab_test_id: labTestId, lab_account_id: labAccountId } = input.order;
  const placed = {
    reference: input.reference,
    policy,
    snapshot,
    adopted,
    ...(labTestId != null && { labTestId }),
    ...(labAccountId != null && { labAccountId }),
  };
  await handingOver.handOver.executeWithOptions({ summary: `hand over ${orderId}` }, [placed]);
  setCurrentDetails(`Placed order \`${orderId}\`. Workflow \`kit-order/${orderId}\` follows it from here.`);
  return { orderId, adopted };
}

/** What another language's backend sends is not checked by any compiler. */
function check(input: Partial<PlaceKitOrderInput> | undefined): ResolvedPolicy {
  const { reference, kind, order, policy } = input ?? {};
  if (typeof reference !== 'string' || !referencePattern.test(reference)) {
    throw refuse('ReferenceInvalid', `reference must match ${referencePattern}`);
  }
  if (workflowInfo().workflowId !== placeKitOrderId(reference)) {
    throw refuse('ReferenceInvalid', 'the workflow ID must be place-kit-order/<reference>');
  }
  if (kind !== 'unregistered' && kind !== 'with_patient') {
    throw refuse('InvalidCommand', 'kind must be unregistered or with_patient');
  }
  if (typeof order !== 'object' || order === null) throw refuse('InvalidCommand', 'order must be an object');
  try {
    return resolvePolicy(policy);
  } catch (error) {
    throw error instanceof PolicyInvalid ? refuse('PolicyInvalid', error.message) : error;
  }
}

/** How long the service may fail to take an order before a person is asked to look. Placing goes on all the same. */
const delayWorthAttention = 60 * 60_000;

async function place(input: PlaceKitOrderInput, { creationTimeout }: ResolvedPolicy): Promise<PlacedOrder> {
  const { reference } = input;
  const { startTime, continuedFromExecutionRunId } = workflowInfo();
  const { createKitOrder } = creating(creationTimeout, delayWorthAttention);
  for (let triedBefore = continuedFromExecutionRunId !== undefined; ; triedBefore = true) {
    const since = startTime.toISOString();
    const wish = { request: requestOf(input), reference, since, triedBefore, creationTimeout };
    try {
      const placed = await createKitOrder.executeWithOptions({ summary: `order ${reference}` }, [wish]);
      if (!isAddressable(placed.snapshot.orderId)) {
        throw refuse('AnswerUnreadable', 'The service gave the order an id that cannot stand in a workflow ID');
      }
      askForAttention([]);
      return placed;
    } catch (error) {
      await waitIfDelayed(error, creationTimeout);
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof placeKitOrder>(input);
    }
  }
}

/** A service that asks for hours of patience ends a round at once: the next one does not follow at once. */
const betweenRounds = 10 * 60_000;

/** What a later attempt may still mend is waited out; everything else fails the placing. */
async function waitIfDelayed(error: unknown, creationTimeout: number): Promise<void> {
  const refusal = refusalOf(error);
  const isDelay = error instanceof ActivityFailure && error.retryState !== 'NON_RETRYABLE_FAILURE';
  if (!isDelay) {
    if (refusal.type === 'AmbiguousOrder') askForAttention(['ambiguous_order']);
    throw refusal;
  }
  askForAttention(['placing_delayed']);
  setCurrentDetails(`The lab service does not take the order: ${refusal.type}. Placing goes on trying.`);
  await sleep(Math.max(settlingAfter(creationTimeout), betweenRounds), { summary: 'before the next attempt' });
}

/** A placing that fails for ambiguity names the candidates; once a person has sorted them out it may be placed again. */
function askForAttention(reasons: AttentionReason[]): void {
  const present = workflowInfo().typedSearchAttributes.get(labAttentionKey) ?? [];
  if (present.join() !== reasons.join()) upsertSearchAttributes([{ key: labAttentionKey, value: reasons }]);
}

function requestOf(input: PlaceKitOrderInput): KitRequest {
  return input.kind === 'unregistered'
    ? { kind: input.kind, order: ofCanonicalUser(input.order) }
    : { kind: input.kind, order: ofCanonicalUser(input.order) };
}

function refuse(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { fields: [] });
}
