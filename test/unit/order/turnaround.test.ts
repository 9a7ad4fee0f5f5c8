import { describe, expect, test } from 'vitest';
import { deadlinesOf } from '../../../workflows/order/deadlines.js';
import { learn } from '../../../workflows/order/chain.js';
import { caseOf, day, eventsOf, start } from './histories.js';

/*
 * Ten thousand kits at the lab, with panels of 2 to 30 days. The service names the date by which 99 % of their results come
 * (`worst_case_result_by_date`); here they come as it says. One sample in twenty is stuck, and one date in twenty jumps by up to three
 * days, which is mostly reported.
 */

const orders = 10_000;
const hour = 3_600_000;

/** A generator of numbers from 0 to 1, the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Simulated = ReturnType<typeof simulate>;

function simulate(random: () => number) {
  const worst = 2 + Math.floor(random() * 29);
  const common = Math.max(1, Math.round(worst * 0.6));
  const arrivedAt = start + Math.floor(random() * 90 * day);
  const [drawn, within] = [random(), random()];
  const days =
    drawn < 0.95
      ? common * (0.3 + 0.7 * within)
      : drawn < 0.99
        ? common + (worst - common) * within
        : worst - 2 * Math.log(1 - within);
  // In which zone the service writes dates is not documented.
  const offset = [-8, -5, 0][Math.floor(random() * 3)] ?? 0;
  const dateOf = (later: number) =>
    new Date(arrivedAt + (worst + later) * day + offset * hour).toISOString().slice(0, 10);
  const jump = random() < 0.05 ? Math.round(random() * 6) - 3 : 0;
  const [isReported, isStuck] = [random() < 0.75, random() < 0.05];
  return {
    arrivedAt,
    /** Days from arrival to results of 95 % and 99 % of past orders. */
    ...{ common, worst },
    /** Milliseconds since the epoch; Infinity for a sample that is stuck. */
    resultAt: isStuck ? Infinity : arrivedAt + days * day,
    /** The service's date, at first and later. */
    dates: [dateOf(jump), dateOf(0)] as const,
    /** The change of the date was reported; otherwise only the read at the deadline shows it. */
    isReported,
  };
}

const unreported = caseOf([]);

/** When a person is asked about the order, if no result comes before. Before that it is read, and another date counts. */
function alarmOf({ arrivedAt, dates: [first, then], isReported }: Simulated, usesDates: boolean): number {
  const events = eventsOf('requisition_created', 'delivered_to_lab').map((event) => ({
    ...event,
    at: new Date(arrivedAt).toISOString(),
  }));
  const reported = (resultsBy: string) => ({
    orderId: 'order-1',
    method: 'testkit',
    events,
    ...(usesDates && { resultsBy }),
  });
  const chain = { ...unreported };
  learn(chain, reported(first));
  const due = () => deadlinesOf(chain).find(({ name }) => name === 'results_overdue')?.at ?? Number.NaN;
  const readAt = due();
  learn(chain, { ...reported(then), updatedAt: new Date(readAt).toISOString() });
  return isReported ? due() : Math.max(readAt, due());
}

/** A question is late if it comes more than two days after the service's worst case: it writes dates, and they must be over. */
const lateAfter = 2 * day;

function sharesOf(usesDates: boolean) {
  const random = seeded(20_240_301);
  const all = Array.from({ length: orders }, () => simulate(random));
  const asked = all.map((order) => ({ ...order, alarmAt: alarmOf(order, usesDates) }));
  const arriving = asked.filter(({ resultAt }) => resultAt < Infinity);
  const stuck = asked.filter(({ resultAt }) => resultAt === Infinity);
  const shareOf = (some: typeof asked, is: (order: (typeof asked)[number]) => boolean) =>
    some.filter(is).length / some.length;
  return {
    withinCommon: shareOf(arriving, ({ arrivedAt, common, resultAt }) => resultAt <= arrivedAt + common * day),
    withinWorst: shareOf(arriving, ({ arrivedAt, worst, resultAt }) => resultAt <= arrivedAt + worst * day),
    falseAlarms: shareOf(arriving, ({ alarmAt, resultAt }) => alarmAt < resultAt),
    lateAlarms: shareOf(stuck, ({ alarmAt, arrivedAt, worst }) => alarmAt > arrivedAt + worst * day + lateAfter),
  };
}

describe('of ten thousand orders', () => {
  const byDate = sharesOf(true);

  test('95 % of the results come in the usual time, and 99 % in the worst case, as the service says', () => {
    expect(byDate.withinCommon).toBeCloseTo(0.95, 2);
    expect(byDate.withinWorst).toBeCloseTo(0.99, 2);
  });

  test('at most 1 % are asked about though their results come, and at most 1 % of the stuck ones late', () => {
    expect(byDate.falseAlarms).toBeLessThanOrEqual(0.01);
    expect(byDate.lateAlarms).toBeLessThanOrEqual(0.01);
  });

  test('one fixed deadline for all would fail both: it is too short for long panels, and too long for short ones', () => {
    const { falseAlarms, lateAlarms } = sharesOf(false);
    expect(falseAlarms).toBeGreaterThan(0.05);
    expect(lateAlarms).toBeGreaterThan(0.2);
  });
});
