import { canonicalId, kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { placeKitOrderName, type AdoptOrderInput } from '../../protocol/order/placing-messages.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { labPhaseKey, labReferenceKey, placingPhase } from '../../protocol/search-attributes.js';
import { policyFaults, referenceFaults, refuseFaulty, serviceIdFaults, unknownFaults } from '../input-faults.js';
import type { OneCall } from '../one-call.js';
import type { ServiceAccess } from '../service-calls.js';
import { describe, goesOnOrCompleted, startOnce } from '../workflow-runs.js';
import { OrderInvalid, OrderNotFound, OrderTaken, ReferenceConflict } from './errors.js';
import { findRootOrder, rootByVisibility } from './order-finder.js';

/** An order that exists already, by the id of any order of its chain, and the product's reference for it. */
export type AdoptOrder = Omit<AdoptOrderInput, 'kind'>;

export interface AdoptedOrder {
  orderId: string;
  reference: string;
  /** Of a dry run: what it would be. */
  outcome: 'adopted' | 'already_adopted';
}

/** @throws OrderInvalid */
export function checkedAdoption({ orderId, reference, policy, ...unknown }: AdoptOrder): AdoptOrderInput {
  const faults = [
    ...unknownFaults(unknown),
    ...serviceIdFaults('orderId', orderId, 'an order'),
    ...referenceFaults(reference),
    ...policyFaults(() => resolvePolicy('order', policy)),
  ];
  refuseFaulty('The order', faults, OrderInvalid);
  return { kind: 'existing', orderId: canonicalId(orderId), reference, policy: resolvePolicy('order', policy) };
}

/** Asks Temporal first: an order that already has the reference needs nothing. */
export async function adoptOrder(
  { calls }: ServiceAccess,
  call: OneCall,
  input: AdoptOrderInput,
  dryRun: boolean,
): Promise<AdoptedOrder> {
  const { orderId, reference } = input;
  const { client } = calls;
  // Only the worker asks the lab service: it can wait for it.
  const root = await findRootOrder({ calls }, call, orderId).catch((error: unknown) => {
    if (!(error instanceof OrderNotFound)) throw error;
  });
  const follower = root === undefined ? undefined : await describe(client.workflow.getHandle(kitOrderId(root)));
  const has = follower?.typedSearchAttributes.get(labReferenceKey);
  const workflow = client.workflow.getHandle(placeKitOrderId(reference));
  const placing = await describe(workflow);
  const inputDigest = `${input.kind} ${orderId}`;
  const isSame = placing?.memo?.['inputDigest'] === inputDigest;
  // A run that was ended has lost the reference, unless the order itself shows it.
  if (has === reference && (!isSame || goesOnOrCompleted(follower)))
    return { orderId, reference, outcome: 'already_adopted' };
  if (has !== undefined && has !== reference) throw new OrderTaken(`Order ${orderId} has the reference ${has}`);
  const conflict = () => new ReferenceConflict(`The reference ${reference} was used for another order`);
  const other = await rootByVisibility(client, labReferenceKey.name, reference);
  if (other !== undefined && other !== root) throw conflict();
  if (!isSame && goesOnOrCompleted(placing)) throw conflict();
  if (!dryRun) {
    await startOnce(calls, placeKitOrderName, {
      ...{ workflowId: workflow.workflowId, input, inputDigest, conflict },
      // What was adopted and has lost its reference, because somebody ended its workflow, gets it once more.
      again: isSame,
      searchAttributes: [
        { key: labReferenceKey, value: reference },
        { key: labPhaseKey, value: placingPhase },
      ],
      staticSummary: `Adopt lab order ${orderId} as ${reference}`,
      staticDetails: 'Gives an order that exists already its reference. Nothing is ordered.',
    });
    await call.result(workflow, 'The adoption goes on: call again with the same input.');
  }
  return { orderId, reference, outcome: 'adopted' };
}
