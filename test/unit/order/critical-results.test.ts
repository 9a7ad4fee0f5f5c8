import { describe, expect, test } from 'vitest';
import { CommandQueue } from '../../../workflows/entity/commands.js';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { learn, type Chain } from '../../../workflows/order/chain.js';
import {
  acknowledge,
  awaitsAcknowledgement,
  isRepeated,
  openReports,
  raiseCriticalResults,
  recountReminders,
  remindOfCriticalResults,
  shownCriticalResult,
} from '../../../workflows/order/critical-results.js';
import { raise } from '../../../workflows/order/announcements.js';
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

test.each<[string, OrderSnapshot]>([
  ['a later event', completed],
  ['the same events, and a later time', { ...atLab, updatedAt: daysAfterStart(10), interpretation: 'normal' }],
])('a critical order that is overtaken by a snapshot with %s is raised all the same', (_how, overtaking) => {
  const before = { ...atLab, interpretation: 'critical', updatedAt: daysAfterStart(9) };
  const chain = shown(shown(caseWith(), overtaking), before);
  expect(alarms(chain)).toHaveLength(1);
  expect(alarms(shown(acknowledged(chain), before))).toHaveLength(1);
});

test('a critical order without any events is raised', () => {
  expect(alarms(shown(caseWith(atLab), { orderId: 'order-1', events: [], interpretation: 'critical' }))).toHaveLength(
    1,
  );
});

test('a report without an alarm is taken in without reading the events: a burst of reports would read them all each time', () => {
  const unread = {
    orderId: 'order-1',
    greatest: { ...completed, events: [] },
    get events(): never {
      throw new Error('the events were read');
    },
  };
  expect(alarms(looked({ ...caseWith(), orders: [unread] }, start))).toEqual([]);
});

describe('a result is one and the same critical result', () => {
  const final = { status: 'final', updatedAt: daysAfterStart(9) };
  test.each<[string, (chain: Chain) => Chain]>([
    ['reported twice', (chain) => reported(reported(chain, final), final)],
    ['reported, and then shown by its order', (chain) => shown(reported(chain, final), critical)],
    [
      'shown by its order, and then reported',
      (chain) => reported(shown(chain, critical), { ...final, updatedAt: daysAfterStart(-1) }),
    ],
    ['shown in capitals', (chain) => shown(shown(chain, { ...critical, interpretation: 'CRITICAL' }), critical)],
    [
      'said to be partial after it was final',
      (chain) => reported(reported(chain, final), { ...final, status: 'partial' }),
    ],
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

  test('a critical result is another one each time that it is reported again, also before the acknowledgement’s time', () => {
    const chain = reported(caseWith(completed), { status: 'final', updatedAt: daysAfterStart(9) });
    for (const day of [10, 11])
      reported(acknowledged(chain, start + 500 * hour), { status: 'final', updatedAt: daysAfterStart(day) });
    expect(alarms(chain)).toEqual(['order-1/final', 'order-1/final.2', 'order-1/final.3']);
  });

  test('a critical result is the same if its order calls it so after it was acknowledged', () => {
    const chain = acknowledged(reported(caseWith(completed), { status: 'final' }));
    expect(alarms(shown(chain, { ...completed, interpretation: 'critical' }))).toEqual(['order-1/final']);
  });

  test.each([
    ['neither says when it was made', {}, {}],
    ['the second does not say when it was made', { updatedAt: daysAfterStart(9) }, {}],
    ['the first does not say when it was made', {}, { updatedAt: daysAfterStart(-9) }],
  ])('a critical result is another one if it is reported after its acknowledgement, and %s', (_how, first, second) => {
    for (const status of ['final', 'partial', 'amended']) {
      const chain = acknowledged(reported(caseWith(completed), { status: 'final', ...first }));
      reported(reported(chain, { status, ...second }), { status, ...second });
      expect(alarms(chain)).toEqual(['order-1/final', 'order-1/final.2']);
      expect(chain.attention).toHaveLength(1);
    }
  });

  test('a critical result has the status of the latest report of its kind', () => {
    const chain = acknowledged(reported(caseWith(atLab), { status: 'partial' }));
    reported(chain, { status: 'amended', updatedAt: daysAfterStart(10) });
    expect(shownCriticalResult(chain)).toMatchObject({ status: 'amended' });
  });

  test('a critical result is another one if its correction is the order’s first event', () => {
    const chain = acknowledged(reported(caseWith({ orderId: 'order-1', events: [] }), { status: 'final' }));
    shown(chain, kitOf('order-1', ['corrected'], { interpretation: 'critical' }));
    expect(alarms(chain)).toEqual(['order-1/final', 'order-1/1.final']);
  });

  test('a critical result is another one if it was corrected and is critical still', () => {
    const chain = acknowledged(shown(caseWith(), critical));
    shown(chain, kitOf('order-1', [...happyPath, 'corrected'], { interpretation: 'critical' }));
    expect(alarms(chain)).toEqual(['order-1/final', 'order-1/11.final']);
  });

  test.each(['partial', 'amended'])(
    'a critical result is another one if it is reported as %s after it was acknowledged, and its correction is another again',
    (status) => {
      const chain = reported(caseWith(completed), { status: 'final', updatedAt: daysAfterStart(9) });
      acknowledged(chain);
      reported(chain, { status, updatedAt: daysAfterStart(8) });
      expect(alarms(chain)).toEqual(['order-1/final']);
      reported(chain, { status, updatedAt: daysAfterStart(10) });
      expect(alarms(chain)).toEqual(['order-1/final', 'order-1/final.2']);
      expect(chain.outbox.findLast(({ type }) => type === 'order.critical_result')?.data).toMatchObject({ status });
      expect(alarms(shown(chain, critical))).toHaveLength(2);
      acknowledged(chain);
      shown(chain, kitOf('order-1', [...happyPath, 'corrected'], { interpretation: 'critical' }));
      expect(alarms(chain).at(-1)).toBe('order-1/11.final');
    },
  );

  test('a partial report that comes after the acknowledgement, and is older, is not another one', () => {
    const chain = reported(caseWith(atLab), { status: 'partial', updatedAt: daysAfterStart(1) });
    acknowledged(shown(chain, { ...completed, interpretation: 'critical' }), Date.parse(daysAfterStart(5)));
    expect(alarms(reported(chain, { status: 'partial', updatedAt: daysAfterStart(2) }))).toHaveLength(2);
    expect(chain.attention).toEqual([]);
  });

  test('a critical result is another one if it was something else meanwhile', () => {
    const chain = acknowledged(shown(caseWith(), critical));
    shown(chain, { ...completed, interpretation: 'normal', updatedAt: daysAfterStart(10) });
    expect(chain.attention).toEqual([]);
    shown(chain, { ...critical, updatedAt: daysAfterStart(11) });
    expect(alarms(chain)).toEqual(['order-1/final', 'order-1/final.2']);
  });

  test('a critical result is another one if its order calls it critical in another word after it was acknowledged', () => {
    const chain = acknowledged(shown(caseWith(), { ...critical, interpretation: 'Critical Low' }));
    expect(
      alarms(shown(chain, { ...critical, interpretation: 'critical low', updatedAt: daysAfterStart(10) })),
    ).toHaveLength(1);
    shown(chain, { ...critical, interpretation: 'PANIC high', updatedAt: daysAfterStart(11) });
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

describe('an acknowledgement', () => {
  const command = { orderId: 'order-1', by: 'nurse-17', outcome: 'confirmed', note: 'called' } as const;
  const resultOf = ({ criticalResults: [result] }: Chain) => {
    if (!result) throw new Error('a critical result expected');
    return result;
  };
  const acknowledgedOnce = () => {
    const chain = reported(caseWith(atLab));
    acknowledge(chain, command, start);
    return chain;
  };

  test('repeats the last one if all of it is the same, once it is closed', () => {
    const result = resultOf(acknowledgedOnce());
    expect(isRepeated(result, command)).toBe(true);
    for (const other of [{ by: 'nurse-18' }, { outcome: 'unreachable' }, { note: 'wrote' }])
      expect(isRepeated(result, { ...command, ...other } as typeof command), JSON.stringify(other)).toBe(false);
    expect(isRepeated({ ...result, isOpen: true }, command)).toBe(false);
    expect(isRepeated({ ...result, acknowledgements: [] }, command)).toBe(false);
    const earlier = { ...result.acknowledgements[0], by: 'nurse-1' } as (typeof result.acknowledgements)[number];
    expect(isRepeated({ ...result, acknowledgements: [...result.acknowledgements, earlier] }, command)).toBe(false);
  });

  test('that is sent again counts once; another outcome is added', () => {
    const chain = acknowledgedOnce();
    acknowledge(chain, command, start + 1);
    expect(resultOf(chain).acknowledgements).toHaveLength(1);
    acknowledge(chain, { ...command, outcome: 'unable_to_reach' }, start + 2);
    expect(resultOf(chain).acknowledgements.map(({ outcome }) => outcome)).toEqual(['confirmed', 'unable_to_reach']);
  });

  test('of a named alarm repeats any one of that alarm, even if a later alarm is open', () => {
    const chain = acknowledgedOnce();
    reported(chain, { status: 'final' });
    const result = resultOf(chain);
    const alarm = 'order-1/partial/critical_result';
    expect(result.isOpen).toBe(true);
    expect(isRepeated(result, { ...command, alarm })).toBe(true);
    expect(isRepeated(result, { ...command, alarm: 'order-1/final/critical_result' })).toBe(false);
    expect(isRepeated(result, { ...command, alarm, by: 'nurse-18' })).toBe(false);
  });

  test('is noted with who and what, and without its note', () => {
    const chain = acknowledgedOnce();
    expect(resultOf(chain).acknowledgements).toMatchObject([{ by: 'nurse-17', outcome: 'confirmed', note: 'called' }]);
    const journal = JSON.stringify(chain.journal);
    expect(journal).toContain('critical result acknowledged by nurse-17: confirmed');
    expect(journal).not.toContain('called');
  });

  test('without a note has none', () => {
    expect(resultOf(acknowledged(reported(caseWith(atLab)))).acknowledgements[0]).not.toHaveProperty('note');
  });

  test('of an order without a critical result changes nothing', () => {
    const chain = caseWith(atLab);
    const before = JSON.stringify(chain);
    acknowledged(chain);
    expect(JSON.stringify(chain)).toBe(before);
  });
});

describe('several orders with a critical result', () => {
  const both = () => {
    const chain = caseWith(atLab, kitOf('order-2', pathTo('delivered_to_lab')));
    reported(chain, { status: 'partial' });
    return reported(chain, {
      orderId: 'order-2',
      status: 'final',
      interpretation: 'critical',
      updatedAt: daysAfterStart(9),
    });
  };

  test('are acknowledged one by one, with their own attention and reminders', () => {
    const chain = both();
    remindOfCriticalResults(chain, start + hour);
    expect(reminders(chain)).toHaveLength(2);
    raise(chain, { key: 'k', reason: 'late_arrival', orderId: 'order-1' }, start);
    acknowledged(chain, start + hour);
    expect(reminders(chain)).toEqual(['order-2/final/critical_result_reminder/1']);
    expect(chain.attention).toMatchObject([
      { reason: 'critical_result', orderId: 'order-2' },
      { reason: 'late_arrival', orderId: 'order-1' },
    ]);
    expect(awaitsAcknowledgement(chain)).toBe(true);
    acknowledge(chain, { orderId: 'order-2', by: 'nurse-17', outcome: 'confirmed' }, start + hour);
    expect(awaitsAcknowledgement(chain)).toBe(false);
  });

  test('show the one that is open, else the latest', () => {
    const chain = both();
    expect(shownCriticalResult(chain)).toMatchObject({ orderId: 'order-1', isOpen: true });
    acknowledged(chain);
    expect(shownCriticalResult(chain)).toMatchObject({ orderId: 'order-2', isOpen: true, interpretation: 'critical' });
    acknowledge(chain, { orderId: 'order-2', by: 'nurse-17', outcome: 'confirmed' }, start);
    expect(shownCriticalResult(chain)).toMatchObject({ orderId: 'order-2', isOpen: false });
    expect(shownCriticalResult(caseWith(atLab))).toBeUndefined();
    expect(shownCriticalResult(acknowledged(reported(caseWith(atLab))))).toMatchObject({ isOpen: false });
  });

  test('are handed to another chain with all that was reported, and only those that are open', () => {
    const chain = both();
    const second = { orderId: 'order-2', status: 'final', interpretation: 'critical', updatedAt: daysAfterStart(9) };
    expect(openReports(chain)).toEqual([{ orderId: 'order-1', status: 'partial' }, second]);
    expect(openReports(acknowledged(chain))).toEqual([second]);
  });

  test('are announced with what their report said', () => {
    const announced = both().outbox.filter(({ type }) => type === 'order.critical_result');
    expect(announced.map(({ at, data }) => ({ at, ...data }))).toMatchObject([
      { at: daysAfterStart(0), status: 'partial' },
      { at: daysAfterStart(9), status: 'final', interpretation: 'critical' },
    ]);
    expect(announced[0]?.data).not.toHaveProperty('interpretation');
  });
});

test('an open alarm that is reported again later stays one, and keeps when it was raised', () => {
  const chain = reported(caseWith(completed), { status: 'final', updatedAt: daysAfterStart(9) });
  remindOfCriticalResults(chain, start + 2 * hour);
  reported(chain, { status: 'final', updatedAt: daysAfterStart(10) }, start + 3 * hour);
  expect(chain.criticalResults).toMatchObject([
    { updatedAt: daysAfterStart(10), since: daysAfterStart(0), reminders: 2 },
  ]);
  reported(chain, { status: 'final', updatedAt: daysAfterStart(8) }, start + 4 * hour);
  expect(chain.criticalResults).toMatchObject([{ updatedAt: daysAfterStart(10) }]);
});

test('an alarm that turns final while it is open counts its reminders on, also from where a new interval began', () => {
  const chain = reported(caseWith(atLab), { status: 'partial' });
  remindOfCriticalResults(chain, start + 2 * hour);
  chain.policy = { ...chain.policy, criticalResultReminder: 3 * hour };
  recountReminders(chain, hour);
  reported(chain, { status: 'final' }, start + 2.5 * hour);
  expect(chain.criticalResults).toMatchObject([{ since: daysAfterStart(0), reminders: 2 }]);
  expect(chain.attention).toHaveLength(1);
  expect(nextMoment(chain)).toMatchObject({ at: start + 5 * hour });
  // One that is raised after its acknowledgement begins to count.
  reported(acknowledged(chain), { status: 'final', updatedAt: daysAfterStart(1) }, start + 10 * hour);
  expect(nextMoment(chain)).toMatchObject({ at: start + 13 * hour });
});

test('an interval that did not change restarts no count', () => {
  const chain = reported(caseWith(atLab), { status: 'partial' });
  recountReminders(chain, chain.policy.criticalResultReminder);
  expect(chain.criticalResults[0]).not.toHaveProperty('countedFrom');
});

test('a report of an order that is not known speaks of the current one, and is partial', () => {
  const chain = reported(caseWith(completed), { orderId: 'order-9' });
  expect(alarms(chain)).toEqual(['order-9/partial']);
});

test('a run that passes everything on raises no alarm, and keeps the reports', () => {
  const chain = caseWith(atLab);
  chain.criticalReports = [{ orderId: 'order-1', status: 'partial' }];
  const run = { chain, commands: new CommandQueue(), hasNews: false, forwardsTo: 'order-0' } as unknown as KitOrderRun;
  raiseCriticalResults(run, start);
  expect(alarms(chain)).toEqual([]);
  expect(openReports(chain)).toHaveLength(1);
});
