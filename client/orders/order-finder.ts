import { WorkflowNotFoundError, type Client, type WorkflowExecutionDescription } from '@temporalio/client';
import { NotFound } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import { snapshotOf } from '../../service/order-snapshot.js';
import { isAddressable, kitOrderId, placeKitOrderId, rootOf } from '../../workflows/order/address.js';
import { kitOrderName, stateQuery } from '../../workflows/order/messages.js';
import { forwardedPhase, labOrderIdKey, labPhaseKey, labReferenceKey } from '../../workflows/search-attributes.js';
import { inProductWords } from '../errors.js';
import { OrderNotFound, orderWords } from './errors.js';

/** What an order is looked for with. */
export interface OrderFinder {
  temporal: Client;
  service?: LabService;
}

/** Finds the root order of the chain that any order id belongs to. */
export async function findRootOrder(finder: OrderFinder, orderId: string): Promise<string> {
  if (!isAddressable(orderId)) throw new OrderNotFound('This order id cannot be one of ours');
  const own = await describe(finder.temporal, kitOrderId(orderId));
  if (own && own.typedSearchAttributes.get(labPhaseKey) !== forwardedPhase) return orderId;
  if (own) return (await forwardingRoot(finder.temporal, orderId)) ?? orderId;
  const root =
    (await rootByVisibility(finder.temporal, labOrderIdKey.name, orderId)) ?? (await rootByService(finder, orderId));
  if (root === undefined) throw new OrderNotFound(`No workflow follows order ${orderId}`);
  return root;
}

/**
 * Whether a reference was placed: its placing workflow, or, where that is past retention or did not end by itself, the
 * order's own workflow, which a webhook may have started.
 */
export async function findPlacement({ temporal }: OrderFinder, reference: string): Promise<{ rootOrderId?: string }> {
  const placing = await describe(temporal, placeKitOrderId(reference));
  if (placing && ['RUNNING', 'COMPLETED'].includes(placing.status.name)) return {};
  const rootOrderId = await rootByVisibility(temporal, labReferenceKey.name, reference);
  if (rootOrderId !== undefined) return { rootOrderId };
  if (placing) return {};
  throw new OrderNotFound(`No order was placed with the reference ${reference}`);
}

async function describe(temporal: Client, workflowId: string): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await temporal.workflow.getHandle(workflowId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw inProductWords(error, orderWords);
  }
}

async function forwardingRoot(temporal: Client, orderId: string): Promise<string | undefined> {
  const { forwardsTo } = await temporal.workflow.getHandle(kitOrderId(orderId)).query(stateQuery);
  return forwardsTo;
}

/** Both attributes hold only what the patterns of `address.ts` allow: no quote can stand in them. */
async function rootByVisibility(temporal: Client, attribute: string, value: string): Promise<string | undefined> {
  const query = `WorkflowType = '${kitOrderName}' AND ${attribute} = '${value}' AND LabPhase != '${forwardedPhase}'`;
  for await (const { workflowId } of temporal.workflow.list({ query })) return workflowId.slice(kitOrderId('').length);
  return undefined;
}

/** Visibility lags by moments behind a replacement that was just placed; the order itself says whose it is. */
async function rootByService({ temporal, service }: OrderFinder, orderId: string): Promise<string | undefined> {
  if (!service) return undefined;
  try {
    const root = rootOf(snapshotOf(await service.orders.get(orderId)));
    return (await describe(temporal, kitOrderId(root))) && root;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
