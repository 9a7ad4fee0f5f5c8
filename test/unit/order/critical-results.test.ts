import { describe, expect, test } from 'vitest';
import { CommandQueue } from '../../../workflows/entity/commands.js';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { learn, type Chain } from '../../../workflows/order/chain.js';
import {
  acknowledge,
  openReports,
  raiseCriticalResults,
  recountReminders,
  remindOfCriticalResults,
} from '../../../workflows/order/critical-results.js';
import { nextMoment } from '../../../workflows/order/deadlines.js';
import type { CriticalResultReported } from '../../../protocol/order/messages.js';
import type { KitOrderRun } from '../../../workflows/order/run.js';
import { stateOf } from '../../../workflows/order/view.js';
import { caseOf, daysAfterStart, happyPath, kitOf, pathTo, start } from './histories.js';

const hour = 3_600_000;
const atLab = kitOf('order-1', pathTo('delivered_to_lab'));
const completed = kitOf('order-1', happyPath);
const critical = { ...completed, interpretation: 'critical', updatedAt: daysAfterStart(9) };

function caseWith(...snapshots: OrderSnapshot[]): Chain {
  return caseOf(snapshots, { identified: true });
}

function reported(chain: Chain, report: Partial<CriticalResultReported> = {}, now = start): Chain {
  chain.criticalReports = [...chain.criticalReports, { orderId: 'order-1', ...report }];
  return looked(chain, now);
}

function shown(chain: Chain, snapshot: OrderSnapshot, now = start): Chain {
  learn(chain, snapshot);
  return looked(chain, now);
}

function looked(chain: Chain, now: number): Chain {
  raiseCriticalResults({ chain, commands: new CommandQueue(), hasNews: false } as unknown as KitOrderRun, now);
  return chain;
}

function acknowledged(chain: Chain, now = start): Chain {
  acknowledge(chain, { orderId: 'order-1', by: 'nurse-17', outcome: 'confirmed' }, now);
  return chain;
}

/** The alarms announced so far, read from their ids. */
function alarms({ outbox }: Chain): string[] {
  return outbox.flatMap(({ id, type }) =>
    type === 'order.critical_result' ? [id.replace('/critical_result', '')] : [],
  );
}

function reminders({ outbox }: Chain): string[] {
  return outbox.flatMap(({ id, type }) => (type === 'order.critical_result_reminder' ? [id] : []));
}

test.each([{ interpretation: 'normal' }, {}])(
  'an alarm that changes nothing else of its order, not even the time of its last change, is raised: after %j',
  (before) => {
    const order = { ...atLab, updatedAt: daysAfterStart(9) };
    const chain = caseWith({ ...order, ...before });
    expect(alarms(shown(chain, { ...order, interpretation: 'critical' }))).toHaveLength(1);
  },
);

describe('a result is one and the same critical result', () => {
  test.each<[string, (chain: Chain) => Chain]>([
    ['reported twice', (chain) => reported(reported(chain, { status: 'final' }), { status: 'final' })],
    ['reported, and then shown by its order', (chain) => shown(reported(chain, { status: 'final' }), critical)],
    ['shown by its order, and then reported', (chain) => reported(shown(chain, critical), { status: 'final' })],
    ['shown in capitals', (chain) => shown(shown(chain, { ...critical, interpretation: 'CRITICAL' }), critical)],
    ['said to be partial after it was final', (chain) => reported(reported(chain), { status: 'partial' })],
  ])('%s', (_how, report) => {
    const chain = report(caseWith(completed));
    expect(alarms(chain)).toEqual(['order-1/final']);
    expect(chain.attention).toMatchObject([{ reason: 'critical_result', orderId: 'order-1' }]);
    expect(looked(acknowledged(chain), start).attention).toEqual([]);
    expect(alarms(report(chain))).toEqual(['order-1/final']);
  });

  test('a critical result is another one if it is final, though the partial one was acknowledged', () => {
    const chain = acknowledged(reported(caseWith(atLab), { status: 'partial' }));
    expect(chain.attention).toEqual([]);
    reported(chain, { status: 'final' });
    expect(alarms(chain)).toEqual(['order-1/partial', 'order-1/final']);
    expect(chain.attention).toHaveLength(1);
  });

  test('a critical result is another one if it was reported again after it was acknowledged', () => {
    const chain = reported(caseWith(completed), { status: 'final', updatedAt: daysAfterStart(9) });
    reported(chain, { status: 'final', updatedAt: daysAfterStart(10) });
    expect(alarms(chain)).toEqual(['order-1/final']);
    acknowledged(chain);
    reported(chain, { status: 'final', updatedAt: daysAfterStart(10) });
    expect(chain.attention).toEqual([]);
    reported(chain, { status: 'final', updatedAt: daysAfterStart(11) });
    expect(alarms(chain)).toEqual(['order-1/final', 'order-1/final.2']);
    expect(chain.attention).toHaveLength(1);
  });

  test('a critical result is another one if it was corrected and is critical still', () => {
    const chain = acknowledged(shown(caseWith(), critical));
    shown(chain, kitOf('order-1', [...happyPath, 'corrected'], { interpretation: 'critical' }));
    expect(alarms(chain)).toEqual(['order-1/final', 'order-1/11.final']);
  });

  test('a critical result is another one if it was something else meanwhile', () => {
    const chain = acknowledged(shown(caseWith(), critical));
    shown(chain, { ...completed, interpretation: 'normal', updatedAt: daysAfterStart(10) });
    expect(chain.attention).toEqual([]);
    shown(chain, { ...critical, updatedAt: daysAfterStart(11) });
    expect(alarms(chain)).toEqual(['order-1/final', 'order-1/final.2']);
  });

  test('a critical result stays the same one even if a later snapshot calls it normal', () => {
    const chain = shown(shown(caseWith(), critical), {
      ...completed,
      interpretation: 'normal',
      updatedAt: daysAfterStart(10),
    });
    expect(chain.attention).toMatchObject([{ reason: 'critical_result' }]);
    expect(stateOf(chain)).toMatchObject({ interpretation: 'normal', criticalResult: { isOpen: true } });
  });
});

describe('reminders', () => {
  const open = () => reported(caseWith(atLab), { status: 'partial' });

  test('are due every hour from when a person was asked, and the next one wakes the workflow', () => {
    const chain = open();
    expect(nextMoment(chain)).toEqual({ at: start + hour, name: 'critical_result_reminder' });
    remindOfCriticalResults(chain, start + hour - 1);
    expect(reminders(chain)).toEqual([]);
    remindOfCriticalResults(chain, start + hour);
    expect(reminders(chain)).toEqual(['order-1/partial/critical_result_reminder/1']);
    expect(nextMoment(chain)).toMatchObject({ at: start + 2 * hour });
  });

  test('reminders that are due at once are one, and one that was not delivered gives way to the next', () => {
    const chain = open();
    remindOfCriticalResults(chain, start + 29.5 * hour);
    expect(reminders(chain)).toEqual(['order-1/partial/critical_result_reminder/29']);
    remindOfCriticalResults(chain, start + 30 * hour);
    expect(reminders(chain)).toEqual(['order-1/partial/critical_result_reminder/30']);
    expect(alarms(chain)).toEqual(['order-1/partial']);
  });

  test('are not sent if nobody is notified, nor do they wake the workflow', () => {
    const chain = open();
    chain.notifies = false;
    remindOfCriticalResults(chain, start + hour);
    expect(chain.criticalResults).toMatchObject([{ reminders: 0 }]);
    expect(nextMoment(chain)?.name).not.toBe('critical_result_reminder');
  });

  test('end with the acknowledgement, even one that still waits to be delivered', () => {
    const chain = open();
    remindOfCriticalResults(chain, start + hour);
    acknowledged(chain);
    expect(reminders(chain)).toEqual([]);
    remindOfCriticalResults(chain, start + 5 * hour);
    expect(reminders(chain)).toEqual([]);
    expect(nextMoment(chain)?.name).not.toBe('critical_result_reminder');
  });

  test('wake the workflow for the one that is due first, if several orders have a critical result', () => {
    const both = caseWith(atLab, kitOf('order-2', pathTo('delivered_to_lab')));
    const chain = reported(reported(both, { status: 'partial' }, start + 2 * hour), { orderId: 'order-2' });
    expect(nextMoment(chain)).toEqual({ at: start + hour, name: 'critical_result_reminder' });
  });

  test('count on from the last one if their interval changes', () => {
    const chain = open();
    remindOfCriticalResults(chain, start + 2 * hour);
    chain.policy = { ...chain.policy, criticalResultReminder: 3 * hour };
    recountReminders(chain, hour);
    expect(nextMoment(chain)).toMatchObject({ at: start + 5 * hour });
    remindOfCriticalResults(chain, start + 5 * hour);
    expect(reminders(chain)).toEqual(['order-1/partial/critical_result_reminder/3']);
  });

  test('are all that an order waits for after its end', () => {
    const chain = shown(caseWith(), critical);
    expect(nextMoment(chain)).toEqual({ at: start + hour, name: 'critical_result_reminder' });
    expect(nextMoment(acknowledged(chain))).toBeUndefined();
  });
});

test('an order that belongs to no known user yet keeps its reports for the run that will raise them', () => {
  const chain = reported(caseOf([atLab]), { status: 'partial' });
  expect(chain.attention).toEqual([]);
  expect(openReports(chain)).toEqual([{ orderId: 'order-1', status: 'partial' }]);
  chain.identified = true;
  looked(chain, start);
  expect(openReports(chain)).toEqual([{ orderId: 'order-1', status: 'partial' }]);
  expect(openReports(acknowledged(chain))).toEqual([]);
});

test('acknowledgements are bounded: only the latest twenty are kept', () => {
  const chain = reported(caseWith(atLab));
  for (let n = 1; n <= 25; n += 1)
    acknowledge(chain, { orderId: 'order-1', by: `nurse-${n}`, outcome: 'confirmed' }, start + n);
  const entries = stateOf(chain).timeline.filter(({ by }) => by !== undefined);
  expect(entries).toHaveLength(20);
  expect(entries.at(-1)).toMatchObject({ by: 'nurse-25', detail: 'confirmed' });
});
