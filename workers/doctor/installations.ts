import { anyTime } from '../../activities/order/earlier-orders.js';
import { placeKitOrderId, shownId } from '../../protocol/ids.js';
import { readPassthrough, rootOf } from '../../protocol/order/root-order.js';
import { ServiceError } from '../../service/errors.js';
import { signerOf } from '../../service/installation.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { snapshotOf } from '../../service/order/projection.js';
import type { WorkerConfig } from '../settings/config.js';
import { answerWithinMs, fault, notChecked, ok, reasonOf, type Verdict, warning } from './findings.js';
import { retentionMs } from '../../client/temporal-connection.js';
import type { Temporal } from './server.js';
import { withService } from './service.js';
import { found } from './workers.js';

/* Do other installations share the account at the lab service? Only the latest page of its orders is read. */

type Subject = Pick<WorkerConfig, 'service' | 'installation' | 'echoesPassthrough'>;

export async function installations(
  { service: config, installation: ours, echoesPassthrough }: Subject,
  connect: () => Promise<Temporal>,
): Promise<Verdict> {
  if (!echoesPassthrough) return notChecked('orders show no passthrough (SERVICE_ECHOES_PASSTHROUGH=false)');
  return withService(config, async (service) => {
    try {
      const { orders } = await service.orders.page({}, 1, { timeoutMs: answerWithinMs });
      const signers = new Set(orders.flatMap(({ passthrough }) => signerOf(passthrough) ?? []));
      const others = [...signers].filter((name) => !ours.includes(name));
      const own = await placedHere(orders.map((order) => snapshotOf(order, ours)).filter(isFirst), connect);
      if (own.status === 'fault' || others.length === 0) return own;
      return warning(
        `Another installation signs orders on this account: ${others.join(', ')}.`,
        'If that is a former name of this one, list it in LABOPS_FORMER_INSTALLATIONS. Otherwise see that each installation has its own LABOPS_INSTALLATION, or give it an account of its own.',
      );
    } catch (error) {
      if (error instanceof ServiceError) return notChecked(`the orders cannot be listed: ${error.message}`);
      throw error;
    }
  });
}

/** An order that a placing of ours made: not a replacement, and not a redraw with a copy of our passthrough. */
function isFirst(order: OrderSnapshot): boolean {
  const ours = readPassthrough(order.passthrough);
  return ours !== undefined && ours.root === undefined && rootOf(order) === order.orderId;
}

/** The workflow that follows an order runs in each namespace that gets its webhooks: only that of its placing says where it was placed. */
async function placedHere(ours: OrderSnapshot[], connect: () => Promise<Temporal>): Promise<Verdict> {
  // Why it cannot be reached is said by the check of Temporal.
  const temporal = await connect().catch(() => undefined);
  if (!temporal) return notChecked('Temporal cannot be reached');
  try {
    const { connection, namespace } = temporal;
    const reachMs = (await retentionMs(temporal)) - anyTime;
    // A time far in the future says nothing of the age, either.
    const young = ours.filter(({ createdAt = '' }) => Math.abs(Date.now() - Date.parse(createdAt)) < reachMs);
    const placings = await Promise.all(
      young.map(({ passthrough }) => {
        const execution = { workflowId: placeKitOrderId(readPassthrough(passthrough)?.reference ?? '') };
        return found(connection.workflowService.describeWorkflowExecution({ namespace, execution }));
      }),
    );
    const elsewhere = young.find((_order, at) => placings[at] === undefined);
    if (!elsewhere) return ok('The latest orders of the account show no other installation.');
    return fault(
      `Order ${shownId(elsewhere.orderId)} is signed with a name of this installation, but was not placed in the namespace ${namespace}.`,
      'Give each installation on the account its own LABOPS_INSTALLATION, and a copy no former names. If the namespace was replaced or restored after that order, nothing is wrong.',
    );
  } catch (error) {
    return notChecked(`Temporal cannot be asked (${reasonOf(error)})`);
  } finally {
    void temporal.connection.close();
  }
}
