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
const withoutEvents = { orderId: 'order-1', events: [] };
const command = { orderId: 'order-1', by: 'nurse-17', outcome: 'confirmed' } as const;

/** The order is known, and whose it is. */
const known = (...snapshots: OrderSnapshot[]) => caseOf(snapshots, { identified: true });

function reported(chain: Chain, report: Partial<CriticalResultReported> = {}, now = start): Chain {
  chain.criticalReports = [...chain.criticalReports, { orderId: 'order-1', ...report }];
  return looked(chain, now);
}

function shown(chain: Chain, snapshot: OrderSnapshot): Chain {
  learn(chain, snapshot);
  return looked(chain, start);
}

function looked(chain: Chain, now: number, more: Partial<KitOrderRun> = {}): Chain {
  const run = { chain, commands: new CommandQueue(), hasNews: false, ...more };
  raiseCriticalResults(run as unknown as KitOrderRun, now);
  return chain;
}

function acknowledged(chain: Chain, now = start): Chain {
  acknowledge(chain, command, now);
  return chain;
}

/** What happens to the order, by the day on which it was written. */
type Step = (chain: Chain) => Chain;
const written = (day: number | undefined) => (day === undefined ? {} : { updatedAt: daysAfterStart(day) });
const report =
  (status: string, day?: number): Step =>
  (chain) =>
    reported(chain, { status, ...written(day) });
const show =
  (interpretation: string, day?: number, statuses: readonly string[] = happyPath): Step =>
  (chain) =>
    shown(chain, kitOf('order-1', statuses, { interpretation, ...written(day) }));
const corrected = show('critical', undefined, [...happyPath, 'corrected']);
const answer: Step = (chain) => acknowledged(chain);
const answerLate: Step = (chain) => acknowledged(chain, start + 500 * hour);

const after = (chain: Chain, ...steps: readonly Step[]) => steps.reduce((before, step) => step(before), chain);

/** The alarms announced so far, read from their ids. */
const alarms = ({ outbox }: Chain) =>
  outbox.filter(({ type }) => type === 'order.critical_result').map(({ id }) => id.split('/')[1]);
const reminders = ({ outbox }: Chain) =>
  outbox.filter(({ type }) => type === 'order.critical_result_reminder').map(({ id }) => id);
const questions = ({ attention }: Chain) => attention.map(({ reason }) => reason);

describe('an alarm is raised', () => {
  const order = { ...atLab, ...written(9) };

  test.each([{ interpretation: 'normal' }, {}])(
    'though it changes nothing else of its order, not even the time of its last change: after %j',
    (before) => {
      expect(alarms(shown(known({ ...order, ...before }), { ...order, interpretation: 'critical' }))).toHaveLength(1);
    },
  );

  test.each<[string, OrderSnapshot]>([
    ['a later event', completed],
    ['the same events, and a later time', { ...atLab, ...written(10), interpretation: 'normal' }],
  ])('once though its order is overtaken by a snapshot with %s', (_how, overtaking) => {
    const before = { ...order, interpretation: 'critical' };
    const chain = shown(shown(known(), overtaking), before);
    expect(alarms(chain)).toHaveLength(1);
    expect(alarms(shown(acknowledged(chain), before))).toHaveLength(1);
  });

  test('for an order without any events', () => {
    expect(alarms(after(known(atLab), show('critical', undefined, [])))).toHaveLength(1);
  });

  test('by a report of an order that is not known, as partial', () => {
    const { outbox } = reported(known(completed), { orderId: 'order-9' });
    expect(outbox.map(({ id }) => id)).toContain('order-9/partial/critical_result');
  });

  test('by no run that passes everything on, or does not know whose order it is: it keeps the reports', () => {
    const kept = [{ orderId: 'order-1', status: 'partial' }];
    const forwarding = { ...known(atLab), criticalReports: kept };
    const unidentified = { ...caseOf([atLab]), criticalReports: kept };
    for (const chain of [looked(forwarding, start, { forwardsTo: 'order-0' }), looked(unidentified, start)]) {
      expect([alarms(chain), questions(chain)]).toEqual([[], []]);
      expect(openReports(chain)).toEqual(kept);
    }
    unidentified.identified = true;
    expect(openReports(looked(unidentified, start))).toEqual(kept);
    expect(openReports(acknowledged(unidentified))).toEqual([]);
  });
});

test('a report without an alarm is taken in without reading the events: a burst of reports would read them all each time', () => {
  const unread = {
    orderId: 'order-1',
    greatest: { ...completed, events: [] },
    get events(): never {
      throw new Error('the events were read');
    },
  };
  expect(alarms(looked({ ...known(), orders: [unread] }, start))).toEqual([]);
});

describe('a critical result', () => {
  test.each<[string, Step[]]>([
    ['reported twice', [report('final', 9), report('final', 9)]],
    ['reported, and then shown by its order', [report('final', 9), show('critical', 9)]],
    ['shown by its order, and then reported', [show('critical', 9), report('final', -1)]],
    ['shown in capitals', [show('CRITICAL', 9), show('critical', 9)]],
    ['said to be partial after it was final', [report('final', 9), report('partial', 9)]],
  ])('is one and the same: %s', (_how, steps) => {
    const chain = after(known(completed), ...steps);
    expect(alarms(chain)).toEqual(['final']);
    expect(chain.attention).toMatchObject([{ reason: 'critical_result', orderId: 'order-1' }]);
    expect(looked(acknowledged(chain), start).attention).toEqual([]);
    expect(alarms(after(chain, ...steps))).toEqual(['final']);
  });

  const alreadyFinal = [report('final', 9), answer];
  test.each<[string, OrderSnapshot, Step[], string[], 'open' | 'closed']>([
    ['final after partial', atLab, [report('partial'), answer, report('final')], ['partial', 'final'], 'open'],
    ['repeated with its time', completed, [...alreadyFinal, report('final', 9)], ['final'], 'closed'],
    ['reported with a later time', completed, [...alreadyFinal, report('final', 10)], ['final', 'final.2'], 'open'],
    [
      'the latest of several, repeated',
      completed,
      [report('final', 9), report('final', 10), answer, report('final', 10)],
      ['final'],
      'closed',
    ],
    [
      'reported each day, also before the acknowledgement’s time',
      completed,
      [report('final', 9), answerLate, report('final', 10), answerLate, report('final', 11)],
      ['final', 'final.2', 'final.3'],
      'open',
    ],
    ['what its order says after a report', completed, [report('final'), answer, show('critical')], ['final'], 'closed'],
    [
      'corrected by the first event of its order',
      withoutEvents,
      [report('final'), answer, show('critical', undefined, ['corrected'])],
      ['final', '1.final'],
      'open',
    ],
    [
      'corrected, and critical still',
      completed,
      [show('critical', 9), answer, corrected],
      ['final', '11.final'],
      'open',
    ],
    [
      'an older partial one',
      atLab,
      [
        report('partial', 1),
        show('critical'),
        (chain) => acknowledged(chain, start + 120 * hour),
        report('partial', 2),
      ],
      ['partial', 'final'],
      'closed',
    ],
    ['something else now', completed, [show('critical', 9), answer, show('normal', 10)], ['final'], 'closed'],
    [
      'something else meanwhile',
      completed,
      [show('critical', 9), answer, show('normal', 10), show('critical', 11)],
      ['final', 'final.2'],
      'open',
    ],
    [
      'called so in the same word',
      completed,
      [show('Critical Low', 9), answer, show('critical low', 10)],
      ['final'],
      'closed',
    ],
    [
      'called so in another word',
      completed,
      [show('Critical Low', 9), answer, show('PANIC high', 11)],
      ['final', 'final.2'],
      'open',
    ],
    [
      'called normal later, but not acknowledged',
      completed,
      [show('critical', 9), show('normal', 10)],
      ['final'],
      'open',
    ],
  ])('that was acknowledged is another one or not: %s', (_what, order, steps, expected, standing) => {
    const chain = after(known(order), ...steps);
    expect(alarms(chain)).toEqual(expected);
    expect(questions(chain)).toEqual(standing === 'open' ? ['critical_result'] : []);
  });

  test.each([
    ['neither says when it was made', undefined, undefined],
    ['the second does not say when it was made', 9, undefined],
    ['the first does not say when it was made', undefined, -9],
  ])('is another one if it is reported after its acknowledgement, and %s', (_how, first, second) => {
    for (const status of ['final', 'partial', 'amended']) {
      const again = [report(status, second), report(status, second)];
      const chain = after(known(completed), report('final', first), answer, ...again);
      expect(alarms(chain)).toEqual(['final', 'final.2']);
      expect(chain.attention).toHaveLength(1);
    }
  });

  test.each(['partial', 'amended'])(
    'is another one if it is reported as %s after it was acknowledged, and its correction is another again',
    (status) => {
      const chain = after(known(completed), ...alreadyFinal, report(status, 8));
      expect(alarms(chain)).toEqual(['final']);
      expect(alarms(after(chain, report(status, 10)))).toEqual(['final', 'final.2']);
      expect(chain.outbox.findLast(({ type }) => type === 'order.critical_result')?.data).toMatchObject({ status });
      expect(alarms(after(chain, show('critical', 9)))).toHaveLength(2);
      expect(alarms(after(chain, answer, corrected)).at(-1)).toBe('11.final');
    },
  );

  test('has the status of the latest report of its kind', () => {
    const chain = after(known(atLab), report('partial'), answer, report('amended', 10));
    expect(shownCriticalResult(chain)).toMatchObject({ status: 'amended' });
  });

  test('is shown as open even if a later snapshot calls it normal', () => {
    const chain = after(known(), show('critical', 9), show('normal', 10));
    expect(stateOf(chain)).toMatchObject({ interpretation: 'normal', criticalResult: { isOpen: true } });
  });

  test('that is open and is reported again later stays one, and keeps when it was raised', () => {
    const chain = after(known(completed), report('final', 9));
    remindOfCriticalResults(chain, start + 2 * hour);
    const kept = { updatedAt: daysAfterStart(10), since: daysAfterStart(0), reminders: 2 };
    for (const day of [10, 8]) {
      reported(chain, { status: 'final', ...written(day) }, start + 3 * hour);
      expect(chain.criticalResults).toMatchObject([kept]);
    }
  });
});

describe('reminders', () => {
  const open = () => after(known(atLab), report('partial'));
  const reminderAt = (hours: number) => ({ at: start + hours * hour, name: 'critical_result_reminder' });
  const longerInterval = (chain: Chain) => {
    chain.policy = { ...chain.policy, criticalResultReminder: 3 * hour };
    recountReminders(chain, hour);
  };

  test('are due every hour from when a person was asked, and the next one wakes the workflow', () => {
    const chain = open();
    expect(nextMoment(chain)).toEqual(reminderAt(1));
    remindOfCriticalResults(chain, start + hour - 1);
    expect(reminders(chain)).toEqual([]);
    remindOfCriticalResults(chain, start + hour);
    expect(reminders(chain)).toEqual(['order-1/partial/critical_result_reminder/1']);
    expect(nextMoment(chain)).toEqual(reminderAt(2));
  });

  test('that are due at once are one, and one that was not delivered gives way to the next', () => {
    const chain = open();
    for (const [hours, number] of [
      [29.5, 29],
      [30, 30],
    ] as const) {
      remindOfCriticalResults(chain, start + hours * hour);
      expect(reminders(chain)).toEqual([`order-1/partial/critical_result_reminder/${number}`]);
    }
    expect(alarms(chain)).toEqual(['partial']);
  });

  test('are not sent if nobody is notified, nor do they wake the workflow', () => {
    const chain = { ...open(), notifies: false };
    remindOfCriticalResults(chain, start + hour);
    expect(chain.criticalResults).toMatchObject([{ reminders: 0 }]);
    expect(nextMoment(chain)?.name).not.toBe('critical_result_reminder');
  });

  test('end with the acknowledgement, even one that still waits to be delivered', () => {
    const chain = open();
    remindOfCriticalResults(chain, start + hour);
    expect(reminders(acknowledged(chain))).toEqual([]);
    remindOfCriticalResults(chain, start + 5 * hour);
    expect(reminders(chain)).toEqual([]);
    expect(nextMoment(chain)?.name).not.toBe('critical_result_reminder');
  });

  test('wake the workflow for the one that is due first, if several orders have a critical result', () => {
    const both = known(atLab, kitOf('order-2', pathTo('delivered_to_lab')));
    const chain = reported(reported(both, { status: 'partial' }, start + 2 * hour), { orderId: 'order-2' });
    expect(nextMoment(chain)).toEqual(reminderAt(1));
  });

  test('count on from the last one if their interval changes', () => {
    const chain = open();
    remindOfCriticalResults(chain, start + 2 * hour);
    longerInterval(chain);
    expect(nextMoment(chain)).toEqual(reminderAt(5));
    remindOfCriticalResults(chain, start + 5 * hour);
    expect(reminders(chain)).toEqual(['order-1/partial/critical_result_reminder/3']);
  });

  test('count on if the alarm turns final while it is open, also from where a new interval began', () => {
    const chain = open();
    remindOfCriticalResults(chain, start + 2 * hour);
    longerInterval(chain);
    reported(chain, { status: 'final' }, start + 2.5 * hour);
    expect(chain.criticalResults).toMatchObject([{ since: daysAfterStart(0), reminders: 2 }]);
    expect(chain.attention).toHaveLength(1);
    expect(nextMoment(chain)).toEqual(reminderAt(5));
    // One that is raised after its acknowledgement begins to count.
    reported(acknowledged(chain), { status: 'final', ...written(1) }, start + 10 * hour);
    expect(nextMoment(chain)).toEqual(reminderAt(13));
  });

  test('begin no other count if their interval did not change', () => {
    const chain = open();
    recountReminders(chain, chain.policy.criticalResultReminder);
    expect(chain.criticalResults[0]).not.toHaveProperty('countedFrom');
  });

  test('are all that an order waits for after its end', () => {
    const chain = after(known(), show('critical', 9));
    expect(nextMoment(chain)).toEqual(reminderAt(1));
    expect(nextMoment(acknowledged(chain))).toBeUndefined();
  });
});

describe('an acknowledgement', () => {
  const noted = { ...command, note: 'called' };
  const acknowledgedOnce = () => {
    const chain = reported(known(atLab));
    acknowledge(chain, noted, start);
    return chain;
  };
  const resultOf = ({ criticalResults: [result] }: Chain) => {
    if (!result) throw new Error('a critical result expected');
    return result;
  };

  test('repeats the last one if all of it is the same, once it is closed', () => {
    const result = resultOf(acknowledgedOnce());
    expect(isRepeated(result, noted)).toBe(true);
    for (const other of [{ by: 'nurse-18' }, { outcome: 'unreachable' }, { note: 'wrote' }])
      expect(isRepeated(result, { ...noted, ...other } as typeof noted), JSON.stringify(other)).toBe(false);
    const [given] = result.acknowledgements;
    const later = { ...given, by: 'nurse-1' } as NonNullable<typeof given>;
    for (const other of [
      { isOpen: true },
      { acknowledgements: [] },
      { acknowledgements: [...result.acknowledgements, later] },
    ])
      expect(isRepeated({ ...result, ...other }, noted)).toBe(false);
  });

  test('that is sent again counts once; another outcome is added', () => {
    const chain = acknowledgedOnce();
    acknowledge(chain, noted, start + 1);
    expect(resultOf(chain).acknowledgements).toHaveLength(1);
    acknowledge(chain, { ...noted, outcome: 'unable_to_reach' }, start + 2);
    expect(resultOf(chain).acknowledgements.map(({ outcome }) => outcome)).toEqual(['confirmed', 'unable_to_reach']);
  });

  test('of a named alarm repeats any one of that alarm, even if a later alarm is open', () => {
    const result = resultOf(after(acknowledgedOnce(), report('final')));
    const alarm = 'order-1/partial/critical_result';
    expect(result.isOpen).toBe(true);
    expect(isRepeated(result, { ...noted, alarm })).toBe(true);
    expect(isRepeated(result, { ...noted, alarm: 'order-1/final/critical_result' })).toBe(false);
    expect(isRepeated(result, { ...noted, alarm, by: 'nurse-18' })).toBe(false);
  });

  test('is noted with who and what, and without its note, which it need not have', () => {
    const chain = acknowledgedOnce();
    expect(resultOf(chain).acknowledgements).toMatchObject([{ by: 'nurse-17', outcome: 'confirmed', note: 'called' }]);
    const journal = JSON.stringify(chain.journal);
    expect(journal).toContain('critical result acknowledged by nurse-17: confirmed');
    expect(journal).not.toContain('called');
    expect(resultOf(acknowledged(reported(known(atLab)))).acknowledgements[0]).not.toHaveProperty('note');
  });

  test('of an order without a critical result changes nothing', () => {
    const chain = known(atLab);
    const before = JSON.stringify(chain);
    expect(JSON.stringify(acknowledged(chain))).toBe(before);
  });

  test('is one of the latest twenty that are kept', () => {
    const chain = reported(known(atLab));
    for (let n = 1; n <= 25; n += 1) acknowledge(chain, { ...command, by: `nurse-${n}` }, start + n);
    const entries = stateOf(chain).timeline.filter(({ by }) => by !== undefined);
    expect(entries).toHaveLength(20);
    expect(entries.at(-1)).toMatchObject({ by: 'nurse-25', detail: 'confirmed' });
  });
});

describe('several orders with a critical result', () => {
  const second = { orderId: 'order-2', status: 'final', interpretation: 'critical', ...written(9) };
  const both = () => {
    const chain = known(atLab, kitOf('order-2', pathTo('delivered_to_lab')));
    return reported(after(chain, report('partial')), second);
  };
  const acknowledgeSecond = (chain: Chain) => acknowledge(chain, { ...command, orderId: 'order-2' }, start + hour);

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
    acknowledgeSecond(chain);
    expect(awaitsAcknowledgement(chain)).toBe(false);
  });

  test('show the one that is open, else the latest', () => {
    const chain = both();
    expect(shownCriticalResult(chain)).toMatchObject({ orderId: 'order-1', isOpen: true });
    acknowledged(chain);
    expect(shownCriticalResult(chain)).toMatchObject({ orderId: 'order-2', isOpen: true, interpretation: 'critical' });
    acknowledgeSecond(chain);
    expect(shownCriticalResult(chain)).toMatchObject({ orderId: 'order-2', isOpen: false });
    expect(shownCriticalResult(known(atLab))).toBeUndefined();
  });

  test('are handed to another chain with all that was reported, and only those that are open', () => {
    const chain = both();
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
