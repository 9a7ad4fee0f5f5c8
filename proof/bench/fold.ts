import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { foldSnapshot, type Orders } from '../../workflows/order/snapshots.js';
import { standingOf } from '../../protocol/order/lifecycle.js';
import { type Measure, interleaved } from './rounds.js';

const statuses = [
  'ordered',
  'awaiting_registration',
  'transit_customer',
  'with_customer',
  'transit_lab',
  'delivered_to_lab',
];
const shotMs = 500;
const perLook = 200;

/** The order's snapshots as its webhooks bring them: each with one event more. */
const snapshots = statuses.map((_, last): OrderSnapshot => {
  const events = statuses.slice(0, last + 1).map((status, id) => ({
    id,
    at: new Date(Date.UTC(2026, 0, 5 + id)).toISOString(),
    status: `collecting_sample.testkit.${status}`,
  }));
  return { orderId: 'invented-order', events, updatedAt: events.at(-1)?.at ?? '' };
});

/** The pure core alone, in one process: what bounds the rest is Temporal and JSON. */
export const fold: Measure = {
  name: 'fold',
  title: 'Fold: snapshots per second of CPU that are taken in, each with the standing of its order',
  run: (_stage, { rounds }) => interleaved(rounds, [{ name: 'project', shot: foldFor }]),
};

/** In processor time: it waits for nothing, and other programs may run beside it. */
async function foldFor(): Promise<Record<string, number>> {
  const before = process.cpuUsage();
  let count = 0;
  let ms = 0;
  while (ms < shotMs) {
    for (let time = 0; time < perLook; time += 1) foldAll();
    count += perLook * snapshots.length;
    const { user, system } = process.cpuUsage(before);
    ms = (user + system) / 1000;
  }
  return { 'snapshots/CPU s': (count / ms) * 1000 };
}

function foldAll(): void {
  let orders: Orders = [];
  for (const snapshot of snapshots) {
    orders = foldSnapshot(orders, snapshot);
    for (const { events, latest } of orders) standingOf(events, latest.status);
  }
}
