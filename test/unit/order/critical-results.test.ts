import { describe, expect, test } from 'vitest';
import { CommandQueue } from '../../../workflows/entity/commands.js';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { foldIn, type Chain } from '../../../workflows/order/chain.js';
import { acknowledge, isRepeated, validateAcknowledgement } from '../../../workflows/order/acknowledging.js';
import {
  awaitsAcknowledgement,
  openReports,
  raiseCriticalResults,
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
  foldIn(chain, snapshot);
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

const written = (day: number) => ({ updatedAt: daysAfterStart(day) });

/**
 * Plays `final 9, acknowledged, shows normal 10, flags normal 10`: reports by their status, and what the order with its results is shown to
 * say, flagged as critical or not, with the day on which it was written, if it says so.
 */
function play(chain: Chain, story: string): Chain {
  for (const step of story.split(', ')) {
    const [, what = '', day] = /^(.*?)(?: (-?\d+))?$/.exec(step) ?? [];
    const at: { updatedAt?: string } = day === undefined ? {} : written(Number(day));
    if (what === 'acknowledged') acknowledged(chain, Date.parse(at.updatedAt ?? daysAfterStart(0)));
    else if (what === 'corrected') shown(chain, kitOf('order-1', [...happyPath, what], { interpretation: 'critical' }));
    else if (what.startsWith('flags'))
      shown(chain, { ...completed, interpretation: what.replace('flags ', ''), flaggedCritical: true, ...at });
    else if (!what.startsWith('shows')) reported(chain, { status: what, ...at });
    else shown(chain, { ...completed, interpretation: what.replace('shows ', ''), ...at });
  }
  return chain;
}

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
    expect(alarms(shown(known(atLab), { ...withoutEvents, interpretation: 'critical' }))).toHaveLength(1);
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
    latest: { ...completed, events: [] },
    get events(): never {
      throw new Error('the events were read');
    },
  };
  expect(alarms(looked({ ...known(), orders: [unread] }, start))).toEqual([]);
});

describe('a critical result', () => {
  /** Each by the alarms that were raised. */
  test.each<[what: string, story: string, raised: string, standing: 'open' | 'closed']>([
    ['repeated', 'final 9, final 9, acknowledged, final 9', 'final', 'closed'],
    ['reported, then shown by its order', 'final 9, shows critical 9, acknowledged, final 9', 'final', 'closed'],
    ['shown by its order, then reported', 'shows critical 9, final -1, acknowledged, final -1', 'final', 'closed'],
    ['shown in capitals, too', 'shows CRITICAL 9, shows critical 9, acknowledged, shows CRITICAL 9', 'final', 'closed'],
    ['said to be partial after it was final', 'final 9, partial 9, acknowledged, partial 9', 'final', 'closed'],
    [
      'partial, and written before the acknowledgement, though the final report came twice',
      'final 9, acknowledged 20, final 9, partial 15',
      'final',
      'closed',
    ],
    ['reported with a later time', 'final 9, acknowledged, final 10', 'final final.2', 'open'],
    ['the latest of several', 'final 9, final 10, acknowledged, final 10', 'final', 'closed'],
    [
      'reported again, also before its acknowledgement',
      'final 9, acknowledged 20, final 10, acknowledged 20, final 11',
      'final final.2 final.3',
      'open',
    ],
    ['what its order says after a report', 'final, acknowledged, shows critical', 'final', 'closed'],
    ['corrected, and critical still', 'shows critical 9, acknowledged, corrected', 'final 11.final', 'open'],
    ['something else now', 'shows critical 9, acknowledged, shows normal 10', 'final', 'closed'],
    [
      'critical again, after something else',
      'shows critical 9, acknowledged, shows normal 10, shows critical 11',
      'final final.2',
      'open',
    ],
    ['called so in the same word', 'shows Critical Low 9, acknowledged, shows critical low 10', 'final', 'closed'],
    ['called so in another word', 'shows Critical Low 9, acknowledged, shows PANIC high 11', 'final final.2', 'open'],
    [
      'flagged still',
      'shows normal 9, flags normal 9, shows normal 9, acknowledged, shows normal 10, flags normal 10',
      'final',
      'closed',
    ],
    ['flagged, after a report', 'final 9, acknowledged, flags normal 10', 'final', 'closed'],
    ['flagged, then called so', 'flags normal 9, acknowledged, shows critical 10', 'final final.2', 'open'],
    ['older, but one had no time', 'shows critical, final, acknowledged, final -9', 'final final.2', 'open'],
    ['called normal later, but not acknowledged', 'shows critical 9, shows normal 10', 'final', 'open'],
    ...['partial', 'amended'].flatMap((other): [string, string, string, 'open' | 'closed'][] => [
      [`${other} and older`, `final 9, acknowledged, ${other} 8`, 'final', 'closed'],
      [`${other} and later`, `final 9, acknowledged, ${other} 10`, 'final final.2', 'open'],
      [`${other}, then shown`, `final 9, acknowledged, ${other} 10, shows critical 9`, 'final final.2', 'open'],
      [
        `${other}, then corrected`,
        `final 9, acknowledged, ${other} 10, acknowledged, corrected`,
        'final final.2 11.final',
        'open',
      ],
    ]),
    ...['final', 'partial', 'amended'].flatMap((status): [string, string, string, 'open'][] => [
      [`${status}, neither with a time`, `final, acknowledged, ${status}, ${status}`, 'final final.2', 'open'],
      [`${status}, without a time`, `final 9, acknowledged, ${status}, ${status}`, 'final final.2', 'open'],
      [`${status} after one without`, `final, acknowledged, ${status} -9, ${status} -9`, 'final final.2', 'open'],
    ]),
  ])('is another one or not: %s', (_what, story, raised, standing) => {
    const chain = play(known(completed), story);
    expect(alarms(chain)).toEqual(raised.split(' '));
    expect(questions(chain)).toEqual(standing === 'open' ? ['critical_result'] : []);
  });

  test('is another one if it is final, though the partial one was acknowledged', () => {
    expect(alarms(play(known(atLab), 'partial, acknowledged, final'))).toEqual(['partial', 'final']);
    const flagged = play(known(atLab), 'partial, acknowledged, flags normal');
    expect([alarms(flagged), shownCriticalResult(flagged)?.interpretation]).toEqual([['partial', 'final'], 'normal']);
    const older = play(known(atLab), 'partial 1, shows critical, acknowledged 5, partial 2');
    expect([alarms(older), questions(older)]).toEqual([['partial', 'final'], []]);
  });

  test('is another one if its correction is the order’s first event', () => {
    const chain = play(known(withoutEvents), 'final, acknowledged');
    shown(chain, kitOf('order-1', ['corrected'], { interpretation: 'critical' }));
    expect(alarms(chain)).toEqual(['final', '1.final']);
  });

  test('has the status of the latest report of its kind, and is shown as open whatever its order says later', () => {
    const amended = play(known(atLab), 'partial, acknowledged, amended 10');
    expect(shownCriticalResult(amended)).toMatchObject({ status: 'amended' });
    const announced = amended.outbox.findLast(({ type }) => type === 'order.critical_result');
    expect(announced?.data).toMatchObject({ status: 'amended' });
    const chain = play(known(completed), 'shows critical 9, shows normal 10');
    expect(stateOf(chain)).toMatchObject({ interpretation: 'normal', criticalResult: { isOpen: true } });
  });
});

describe('reminders', () => {
  const open = () => play(known(atLab), 'partial');
  const reminderAt = (hours: number) => ({ at: start + hours * hour, name: 'critical_result_reminder' });

  test('do not come before their time', () => {
    const chain = open();
    remindOfCriticalResults(chain, start + 0.9 * hour);
    expect(reminders(chain)).toEqual([]);
  });

  test('that are due at once are one, and one that was not delivered gives way to the next', () => {
    const chain = open();
    for (const hours of [29.5, 30]) {
      remindOfCriticalResults(chain, start + hours * hour);
      const due = new Date(start + Math.floor(hours) * hour).toISOString();
      expect(reminders(chain)).toEqual([`order-1/partial/critical_result_reminder/${due}`]);
    }
    expect(alarms(chain)).toEqual(['partial']);
  });

  test('are not sent if nobody is notified, nor do they wake the workflow', () => {
    const chain = { ...open(), notifies: false };
    remindOfCriticalResults(chain, start + hour);
    expect(chain.criticalResults).toMatchObject([{ reminders: 0 }]);
    expect(nextMoment(chain)?.name).not.toBe('critical_result_reminder');
  });

  test('end with the acknowledgement', () => {
    const chain = acknowledged(open());
    remindOfCriticalResults(chain, start + 5 * hour);
    expect(reminders(chain)).toEqual([]);
    expect(nextMoment(chain)?.name).not.toBe('critical_result_reminder');
  });

  test('wake the workflow for the one that is due first, if several orders have a critical result', () => {
    const both = known(atLab, kitOf('order-2', pathTo('delivered_to_lab')));
    const chain = reported(reported(both, { status: 'partial' }, start + 2 * hour), { orderId: 'order-2' });
    expect(nextMoment(chain)).toEqual(reminderAt(1));
  });

  test('count on if the alarm turns final or is reported again while it is open, also from where a new interval began', () => {
    const chain = open();
    remindOfCriticalResults(chain, start + 2 * hour);
    chain.policy = { ...chain.policy, criticalResultReminder: 3 * hour };
    // It stays one, too, if it is reported again, later or with an older report.
    for (const at of [{}, written(10), written(8)]) reported(chain, { status: 'final', ...at }, start + 2.5 * hour);
    const kept = { since: daysAfterStart(0), reminders: 2, ...written(10) };
    expect(chain.criticalResults).toMatchObject([kept]);
    expect(chain.attention).toHaveLength(1);
    expect(nextMoment(chain)).toEqual(reminderAt(5));
    // One that is raised after its acknowledgement begins to count.
    reported(acknowledged(chain), { status: 'final', ...written(11) }, start + 10 * hour);
    expect(nextMoment(chain)).toEqual(reminderAt(13));
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
    expect(shownCriticalResult(acknowledgedOnce())).toMatchObject({ isOpen: false });
    expect(isRepeated(result, noted)).toBe(true);
    for (const other of [{ by: 'nurse-18' }, { outcome: 'unreachable' }, { note: 'wrote' }])
      expect(isRepeated(result, { ...noted, ...other } as typeof noted), JSON.stringify(other)).toBe(false);
    const [given] = result.acknowledgements;
    const later = { ...given, by: 'nurse-1' } as NonNullable<typeof given>;
    const acknowledgements = [...result.acknowledgements, later];
    for (const other of [{ isOpen: true }, { acknowledgements: [] }, { acknowledgements }])
      expect(isRepeated({ ...result, ...other }, noted)).toBe(false);
  });

  test('of a named alarm repeats any one of that alarm, even if a later alarm is open', () => {
    const result = resultOf(play(acknowledgedOnce(), 'final'));
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

describe('the validation of an acknowledgement', () => {
  /** The type of the refusal and its reason or first field; undefined if the command is accepted. */
  function refusal(chain: Chain, more: object = {}): string | undefined {
    try {
      validateAcknowledgement({ chain } as KitOrderRun, { ...command, ...more });
      return undefined;
    } catch (error) {
      const { type, details } = error as { type: string; details: { fields: { field: string }[]; reason?: string }[] };
      return [type, details[0]?.reason ?? details[0]?.fields[0]?.field].filter(Boolean).join(' ');
    }
  }
  const alarmed = (story = 'partial') => play(known(atLab), story);

  test.each([
    [{ orderId: 'not an id' }, 'orderId'],
    [{ orderId: undefined }, 'orderId'],
    [{ alarm: 7 }, 'alarm'],
    [{ by: 'Test Person' }, 'by'],
    [{ by: undefined }, 'by'],
    [{ outcome: 'ignored' }, 'outcome'],
    [{ note: 'x'.repeat(2001) }, 'note'],
    [{ note: 7 }, 'note'],
    [{ note: ['x'] }, 'note'],
  ])('refuses one with %j, naming the field', (more, field) => {
    expect(refusal(alarmed(), more)).toBe(`InvalidCommand ${field}`);
  });

  test('refuses one that is missing with every field', () => {
    const none = () => validateAcknowledgement({ chain: alarmed() } as KitOrderRun, undefined);
    expect(none).toThrow(/^orderId must be .*; by must be .*; outcome must/);
    expect(none).toThrow(expect.objectContaining({ type: 'InvalidCommand' }));
  });

  test.each(['confirmed', 'reached_no_readback', 'unable_to_reach'])('accepts the outcome %s', (outcome) => {
    expect(refusal(alarmed(), { outcome, note: 'x'.repeat(2000) })).toBeUndefined();
  });

  test('needs an alarm of this order, once the run knows whose order it is', () => {
    expect(refusal(known(atLab))).toBe('NothingToAcknowledge');
    expect(refusal(alarmed(), { alarm: 'order-1/other/critical_result' })).toBe('NothingToAcknowledge');
    expect(refusal(caseOf([atLab]))).toBeUndefined();
  });

  test('lets none of an earlier alarm clear a later one, also of the second of three', () => {
    const [partial, final, third] = ['partial', 'final', 'final.2'].map((each) => `order-1/${each}/critical_result`);
    const chain = alarmed('partial, acknowledged, final');
    expect(refusal(chain, { by: 'nurse-1' })).toBe(`AlarmOutdated ${final}`);
    expect(refusal(chain, { alarm: partial, by: 'nurse-1' })).toBe(`AlarmOutdated ${final}`);
    expect(refusal(chain, { alarm: final, by: 'nurse-1' })).toBeUndefined();
    expect(refusal(chain, { alarm: partial })).toBeUndefined();
    play(chain, 'acknowledged, final 31');
    expect(refusal(chain, { alarm: final, by: 'nurse-1' })).toBe(`AlarmOutdated ${third}`);
    expect(refusal(chain, { alarm: third, by: 'nurse-1' })).toBeUndefined();
  });

  test('takes one without a name for that of the only alarm that nobody has answered', () => {
    expect(refusal(alarmed('partial, final'))).toBeUndefined();
  });
});

describe('several orders with a critical result', () => {
  const second = { orderId: 'order-2', status: 'final', interpretation: 'critical', ...written(9) };
  const both = () => {
    const chain = known(atLab, kitOf('order-2', pathTo('delivered_to_lab')));
    return reported(play(chain, 'partial'), second);
  };
  const acknowledgeSecond = (chain: Chain) => acknowledge(chain, { ...command, orderId: 'order-2' }, start + hour);

  test('are acknowledged one by one, with their own attention and reminders', () => {
    const chain = both();
    remindOfCriticalResults(chain, start + hour);
    expect(reminders(chain)).toHaveLength(2);
    raise(chain, { key: 'k', reason: 'late_arrival', orderId: 'order-1' }, start);
    acknowledged(chain, start + hour);
    expect(reminders(chain)).toEqual([expect.stringContaining('order-2/final/critical_result_reminder/')]);
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
