import fc from 'fast-check';
import type { OrderEvent, OrderSnapshot } from '../../../service/order/snapshot.js';
import { canonicalJson, compareText } from '../../../protocol/json.js';
import { daysAfterStart, statusOf, topOf } from './histories.js';

/**
 * Histories as the service reports them: an order's list of events grows, and each report shows the list as it was at
 * some moment, with fields that have no event of their own. Later reports may say more about an earlier event.
 */
const lows = [...Object.keys(topOf), 'collecting_sample.testkit.invented', 'invented.testkit.status', ''];

const events: fc.Arbitrary<OrderEvent[]> = fc
  .array(fc.record({ low: fc.constantFrom(...lows), gap: fc.integer({ min: 1, max: 5 }) }), { maxLength: 8 })
  .map((steps) => {
    let id = 0;
    return steps.map(({ low, gap }) => {
      id += gap;
      return { id, at: daysAfterStart(id), status: statusOf(low) };
    });
  });

const fields = fc.record(
  {
    updatedAt: fc.integer({ min: 0, max: 3 }).map(daysAfterStart),
    flaggedCritical: fc.constant(true as const),
    interpretation: fc.constantFrom('normal', 'abnormal', 'critical', 'invented'),
    shipment: fc.constantFrom({ outboundCourier: 'usps' }, { outboundCourier: 'usps', inboundCourier: 'ups' }),
    sampleId: fc.constantFrom('SAMPLE-1', 'SAMPLE-2'),
  },
  { requiredKeys: [] },
);

const detail = fc.constantFrom(undefined, undefined, 'sample_hemolyzed', 'sample_contaminated', 'invented_detail');

function reportsOf(orderId: string): fc.Arbitrary<OrderSnapshot[]> {
  const moments = fc.array(fc.record({ shown: fc.nat(), detail, fields }), { minLength: 1, maxLength: 6 });
  const created = fc.option(fc.integer({ min: 0, max: 2 }).map(daysAfterStart), { nil: undefined });
  return fc.record({ events, moments, created }).map(({ events: all, moments: reported, created: createdAt }) =>
    reported.map((moment, index) => {
      // Each shows a beginning of the list; the last shows all of it.
      const shown = index === reported.length - 1 ? all.length : moment.shown % (all.length + 1);
      const known = all.slice(0, shown);
      return {
        orderId,
        events: known.map((event, at) =>
          at === 0 && moment.detail !== undefined ? { ...event, detail: moment.detail } : event,
        ),
        ...(createdAt !== undefined && { createdAt }),
        ...moment.fields,
      };
    }),
  );
}

/** All that is ever reported of the orders of one chain, mixed. */
export const reportsOfChain: fc.Arbitrary<OrderSnapshot[]> = fc
  .tuple(
    reportsOf('order-1'),
    fc.option(reportsOf('order-2'), { nil: [] }),
    fc.option(reportsOf('order-3'), { nil: [] }),
  )
  .chain((chain) => anyOrderOf(chain.flat()));

/** It holds for a hundred of them, or for as many as are named. */
export function forAll<T>(all: fc.Arbitrary<T>, claim: (one: T) => void, numRuns?: number): void {
  const holds = (one: T) => {
    claim(one);
  };
  fc.assert(fc.property(all, holds), numRuns === undefined ? {} : { numRuns });
}

export function anyOrderOf<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}

export function saysCritical({ flaggedCritical, interpretation }: OrderSnapshot): boolean {
  return flaggedCritical === true || interpretation === 'critical';
}

/** What may arrive of these reports: some lost, some repeated, in any order, and of each order the greatest one. */
export function deliveriesOf(reports: readonly OrderSnapshot[]): fc.Arbitrary<OrderSnapshot[]> {
  const orderIds = new Set(reports.map(({ orderId }) => orderId));
  const latest = [...orderIds].flatMap((id) =>
    reports
      .filter(({ orderId }) => orderId === id)
      .toSorted(byGreatness)
      .slice(-1),
  );
  return fc
    .array(fc.constantFrom(...reports), { maxLength: 2 * reports.length })
    .chain((some) => anyOrderOf([...some, ...latest]));
}

/** By the highest event id, then the time of the update, then an alarm, then the number of fields, then the text (design: "The order fold"). */
function byGreatness(a: OrderSnapshot, b: OrderSnapshot): number {
  return (
    (a.events.at(-1)?.id ?? 0) - (b.events.at(-1)?.id ?? 0) ||
    compareText(a.updatedAt ?? '', b.updatedAt ?? '') ||
    Number(saysCritical(a)) - Number(saysCritical(b)) ||
    Object.keys(a).length - Object.keys(b).length ||
    compareText(canonicalJson(a), canonicalJson(b))
  );
}
