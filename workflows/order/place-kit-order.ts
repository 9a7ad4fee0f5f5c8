import { ApplicationFailure, isCancellation, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { creating, handingOver } from '../proxies.js';
import { labAttentionKey } from '../search-attributes.js';
import { isAddressable, referencePattern } from './address.js';
import { refusalOf } from './commands.js';
import type { KitRequest, PlaceKitOrderInput, PlaceKitOrderResult } from './messages.js';
import { PolicyInvalid, resolvePolicy, type ResolvedPolicy } from './policy.js';

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
    ...(labTestId != null && { labTestId }),
    ...(labAccountId != null && { labAccountId }),
  };
  await handingOver.handOver.executeWithOptions({ summary: `hand over ${orderId}` }, [placed]);
  setCurrentDetails(`Placed order \`${orderId}\`. Workflow \`kit-order/${orderId}\` follows it from here.`);
  return { orderId, adopted };
}

function check(input: PlaceKitOrderInput): ResolvedPolicy {
  if (!referencePattern.test(input.reference))
    throw refuse('ReferenceInvalid', `reference must match ${referencePattern}`);
  if (input.kind !== 'unregistered' && input.kind !== 'with_patient') {
    throw refuse('InvalidCommand', 'kind must be unregistered or with_patient');
  }
  try {
    return resolvePolicy(input.policy);
  } catch (error) {
    throw error instanceof PolicyInvalid ? refuse('PolicyInvalid', error.message) : error;
  }
}

async function place(input: PlaceKitOrderInput, { creationTimeout }: ResolvedPolicy) {
  const { reference } = input;
  try {
    const placed = await creating(creationTimeout).createKitOrder.executeWithOptions(
      { summary: `order ${reference}` },
      [{ request: requestOf(input), reference, creationTimeout }],
    );
    if (isAddressable(placed.snapshot.orderId)) return placed;
    throw refuse('AnswerUnreadable', 'The service gave the order an id that cannot stand in a workflow ID');
  } catch (error) {
    if (isCancellation(error)) throw error;
    const refusal = refusalOf(error);
    if (refusal.type === 'AmbiguousOrder') askForAttention();
    throw refusal;
  }
}

function requestOf(input: PlaceKitOrderInput): KitRequest {
  return input.kind === 'unregistered'
    ? { kind: input.kind, order: input.order }
    : { kind: input.kind, order: input.order };
}

/** The run fails with the candidates named; once a person has sorted them out the same reference may be placed again. */
function askForAttention(): void {
  upsertSearchAttributes([{ key: labAttentionKey, value: ['ambiguous_order'] }]);
}

function refuse(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { fields: [] });
}
