import { ApplicationFailure } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { kitOrderId } from '../../protocol/ids.js';
import { stateQuery } from '../../protocol/order/messages.js';
import type { ResolvedOrderPolicy } from '../../protocol/order/policy.js';
import { readPassthrough } from '../../protocol/order/root-order.js';
import { forwardedPhase, labPhaseKey } from '../../protocol/search-attributes.js';
import { signerOf } from '../../service/installation.js';
import type { LabService } from '../../service/lab-service.js';
import { snapshotOf } from '../../service/order/projection.js';
import { isIdRefused, isStatedUnknownOrder, type Order } from '../../service/order/orders.js';
import { chainActivities } from './chains.js';
import type { ActivityDependencies } from '../dependencies.js';
import { asFailures, unreadableIfRefused } from '../failures.js';
import { earlierRunsOf } from './earlier-orders.js';
import { readForCommand } from './orders.js';
import { claimOn, described } from '../workflow-runs.js';

interface AdoptOrder {
  orderId: string;
  reference: string;
  policy: ResolvedOrderPolicy;
}

export function adoptingActivities(dependencies: ActivityDependencies) {
  return {
    /** Gives the chain of an order its reference, and answers with its root order. Nothing is sent to the service but reads. */
    adoptOrder: (input: AdoptOrder): Promise<string> => asFailures('ServiceRefused', () => adopt(dependencies, input)),
  };
}

async function adopt(dependencies: ActivityDependencies, { orderId, reference, policy }: AdoptOrder): Promise<string> {
  const { service, temporal } = dependencies;
  const chains = chainActivities(dependencies);
  const rootOrderId = await readRootOf(dependencies, orderId);
  const order = await read(service, rootOrderId);
  const signer = signerOf(order.passthrough);
  if (signer !== undefined && !service.installation.includes(signer)) {
    throw refused('OrderTaken', `Order ${rootOrderId} belongs to the installation ${signer}`);
  }
  const snapshot = snapshotOf(order, service.installation);
  const ours = readPassthrough(snapshot.passthrough);
  // One that names a root was not placed for its reference.
  const placedFor = ours?.root === undefined ? ours?.reference : undefined;
  const workflow = temporal.workflow.getHandle(kitOrderId(rootOrderId));
  const has = (await claimOn(temporal, workflow.workflowId)) ?? placedFor;
  if (has !== undefined && has !== reference) throw taken(rootOrderId, has);
  const { followers } = await earlierRunsOf(dependencies, reference);
  const others = followers.filter((each) => each.typedSearchAttributes.get(labPhaseKey) !== forwardedPhase);
  if (others.some(({ workflowId }) => workflowId !== workflow.workflowId)) {
    throw refused('ReferenceConflict', `The reference ${reference} was used for another order`);
  }
  const madeElsewhere = placedFor === undefined && { madeElsewhere: true as const };
  await chains.handOver({ reference, policy, snapshot, adopted: true, ...madeElsewhere });
  // Another adoption may have come first.
  const { reference: given = '' } = await workflow.query(stateQuery);
  if (given !== reference) throw taken(rootOrderId, given);
  return rootOrderId;
}

/**
 * The order whose workflow follows the chain. Only the workflow of a replacement may know that it has joined another chain, while it runs
 * or by its result; and a redraw leads to its replacement first.
 */
async function readRootOf(dependencies: ActivityDependencies, orderId: string): Promise<string> {
  const chains = chainActivities(dependencies);
  const { rootOrderId: read } = await unreadableIfRefused(() => chains.readChain(orderId));
  const root = await followedAs(dependencies.temporal, read);
  return root === orderId ? root : readRootOf(dependencies, root);
}

async function followedAs(temporal: Client, orderId: string): Promise<string> {
  const run = await described(temporal, kitOrderId(orderId));
  if (run?.status.name !== 'RUNNING') return orderId;
  const { forwardsTo = orderId } = await temporal.workflow.getHandle(run.workflowId).query(stateQuery);
  return forwardsTo;
}

async function read(service: LabService, orderId: string): Promise<Order> {
  try {
    return await readForCommand(service, orderId, {});
  } catch (error) {
    if (!isStatedUnknownOrder(error) && !isIdRefused(error)) throw error;
    throw refused('OrderNotFound', `The lab service does not know order ${orderId}`);
  }
}

function taken(orderId: string, reference: string): ApplicationFailure {
  return refused('OrderTaken', `Order ${orderId} has the reference ${reference}`);
}

function refused(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { fields: [] });
}
