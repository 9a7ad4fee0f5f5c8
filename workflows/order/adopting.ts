import { setCurrentDetails, setHandler } from '@temporalio/workflow';
import { canonicalId, isAddressable, placeKitOrderId, type OfActor } from '../../protocol/ids.js';
import {
  cancelUpdate,
  stateQuery,
  type AdoptOrderInput,
  type PlaceKitOrderResult,
  type PlacingEnd,
  type PlacingState,
} from '../../protocol/order/placing-messages.js';
import { labPhaseKey, labReferenceKey, placingPhase } from '../../protocol/search-attributes.js';
import { activities } from '../activity-options.js';
import { answeringCancellation, cancelAttempts, openAttempts, validateCancellation } from '../entity/attempts.js';
import { refusalOf, refuseField, requireReference, throwRefusal } from '../entity/commands.js';
import { setAbsentSearchAttributes } from '../entity/operators.js';
import { openPolicy, settlePolicy } from '../entity/policy.js';

/**
 * Gives an order that exists already its reference: the run of `placeKitOrder` whose ID is the lock of that reference. Nothing is
 * ordered, so an outage ends it after three minutes, as a command, and adopting again is harmless.
 */
export async function adoptOrder({ reference, orderId, policy }: AdoptOrderInput): Promise<PlaceKitOrderResult> {
  requireReference(reference, placeKitOrderId);
  if (!isAddressable(orderId)) throw refuseField('orderId', "must be the service's id of an order");
  const id = canonicalId(orderId);
  const run = { ...openPolicy('order', policy), ...openAttempts<PlacingEnd>() };
  const state: PlacingState = {
    ...{ phase: placingPhase, reference, attention: [] },
    waiting: { for: `the lab service to show order ${id}` },
  };
  setHandler(stateQuery, () => state, { description: 'Where the adoption stands.' });
  // There is an order already, so nothing stops: the caller learns which it is, and cancels that.
  setHandler(cancelUpdate, () => cancelAttempts(run), {
    description: 'Answers with the order once it is adopted.',
    validator: (given: OfActor) => validateCancellation(run, given),
  });
  setAbsentSearchAttributes([
    { key: labReferenceKey, value: reference },
    { key: labPhaseKey, value: placingPhase },
  ]);
  setCurrentDetails(`Gives order \`${id}\` its reference. Nothing is ordered.`);

  const adopt = async (): Promise<PlaceKitOrderResult> => {
    await settlePolicy(run, 'order');
    const summary = `adopt ${id}`;
    const adopted = { orderId: id, reference, policy: run.policy };
    const rootOrderId = await activities.adoptOrder.executeWithOptions({ summary }, [adopted]);
    setCurrentDetails(`Adopted order \`${id}\`. Workflow \`kit-order/${rootOrderId}\` follows it from here.`);
    state.orderId = rootOrderId;
    run.end = { outcome: 'placed', orderId: rootOrderId };
    return { orderId: rootOrderId, adopted: true };
  };
  return answeringCancellation(run, () => adopt().catch(throwRefusal), refusalOf);
}
