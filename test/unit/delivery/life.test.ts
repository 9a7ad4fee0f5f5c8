import { describe, expect, test } from 'vitest';
import type { NotifyOutcome } from '../../../activities/notifications/notifications.js';
import type { DeliveryState, NotificationsLeft, Notification } from '../../../protocol/notifications/delivery.js';
import { deliverNotifications } from '../../../workflows/notifications/delivery.js';
import { Life, silent, unavailable, type Answers } from '../life.js';

/* The lives of deliveries: what an ended workflow could not deliver itself, and when the receiver is called for it. */

const start = Date.parse('2026-03-01T10:00:00.000Z');
const at = '2026-03-01T09:00:00.000Z';
const source = 'kit-order/a';
const workflowId = `deliver-notifications/${source}`;
const opening = { workflow: deliverNotifications, type: 'deliverNotifications', workflowId, now: start };
const hour = 3_600_000;
const giveUpAfter = 2 * 24 * hour;

const notification = (id: string, type = 'order.phase_changed', more: object = {}): Notification => ({
  ...{ id, at, source, type, subject: 'a', data: { phase: 'at_lab' } },
  ...more,
});
const alarm = (id: string) => notification(id, 'order.critical_result', { data: {} });
const reminder = (id: string, subject = 'a') =>
  notification(id, 'order.critical_result_reminder', { subject, data: {} });
const ids = (of: readonly Notification[]) => of.map(({ id }) => id);
const named = (...names: string[]) => names.map((name) => notification(name));

/** A receiver that notes for which batch it is called, and for how many hours. */
function noting(outcome: (batch: string[]) => unknown = () => unavailable) {
  const attempts: { at: number; ids: string[]; hours: number }[] = [];
  const notify = (now: number, call: { notifications: Notification[] }, { within = 0 }: { within?: number }) => {
    attempts.push({ at: (now - start) / hour, ids: ids(call.notifications), hours: within / hour });
    return outcome(ids(call.notifications));
  };
  return { attempts, notify };
}

const taken = (delivered: string[]): NotifyOutcome => ({ delivered, refused: [], handedOver: false });
/** Takes all but these, which it refuses for good. */
const refusing =
  (...refused: string[]) =>
  (_now: number, { notifications }: { notifications: Notification[] }): NotifyOutcome => {
    const [set, delivered] = [true, false].map((is) => notifications.filter(({ id }) => refused.includes(id) === is));
    return {
      delivered: ids(delivered ?? []),
      refused: (set ?? []).map((each) => ({ notification: each, status: 422 })),
      handedOver: false,
    };
  };

const leftBy = (notifications: unknown, refused: unknown = []) => ({
  name: 'notificationsLeft',
  argument: { notifications, refused } as NotificationsLeft,
});

async function delivery(notifications: Notification[], answers: Answers = {}, refused: unknown = []): Promise<Life> {
  return new Life(opening, answers).start({ source, giveUpAfter }, leftBy(notifications, refused));
}

const handOver = (life: Life, notifications: unknown, refused?: unknown) => {
  const { name, argument } = leftBy(notifications, refused);
  return life.signal(name, argument);
};
const stateOf = async ({ run }: Life) => (await run.query('state')) as DeliveryState;
const undeliveredIn = async (life: Life) => (await stateOf(life)).undelivered.map(({ id }) => id);
const resultOf = ({ run }: Life) => (run.end as { result?: Record<string, unknown> } | undefined)?.result;
const attentionOf = ({ run }: Life) => run.shown.attributes['LabAttention'];

describe('a delivery', () => {
  const numbered = named(...Array.from({ length: 25 }, (_, index) => `n${index}`));
  const alarms = numbered.slice(0, 22).map(({ id }) => alarm(id));
  const urgent = [alarm('alarm'), reminder('reminder')];

  test.each([
    [
      'and the alarms and reminders first of those behind them',
      [...numbered, ...urgent],
      [...numbered.slice(0, 18), ...urgent],
    ],
    ['also of alarms', [...named('a'), ...alarms], alarms.slice(0, 20)],
    ['those that come first among them', [...urgent, ...numbered], [...urgent, ...numbered.slice(0, 18)]],
  ])('sends what is left in its order, twenty at a time, %s, and ends', async (_how, left, first) => {
    const { attempts, notify } = noting(taken);
    const life = await delivery(left, { notify });
    const rest = left.filter((each) => !first.includes(each));
    expect(attempts.map((each) => each.ids)).toEqual([ids(first), ids(rest)]);
    expect(resultOf(life)).toEqual({ source, delivered: left.length, discarded: 0, givenUp: [] });
    expect(life.events).toEqual(['0h completed']);
  });

  test.each([
    ['all that waits', named('c'), named('a', 'b')],
    ['a reminder that waits, which is not dropped', [reminder('2')], [reminder('1')]],
  ])('sends what its product has lost before %s, and waits for no attempt under way', async (_what, waiting, lost) => {
    const { attempts, notify } = noting();
    const life = await delivery(waiting, { notify });
    const { name, argument } = leftBy(lost);
    await life.signal(name, { ...argument, areEarlier: true });
    expect(attempts.map((each) => each.ids)).toEqual([ids(waiting), ids([...lost, ...waiting])]);
  });

  test('ends if nothing was handed over within ten seconds, and waits for what comes until then', async () => {
    const none = await new Life(opening, {}).start({ source, giveUpAfter });
    expect(none.events).toEqual([]);
    expect((await none.until(1)).events).toEqual(['0.003h completed']);
    expect(resultOf(none)).toEqual({ source, delivered: 0, discarded: 0, givenUp: [] });
    const late = await new Life(opening, {}).start({ source, giveUpAfter });
    await late.until(5 / 3600);
    await handOver(late, named('a'));
    expect(late.events).toEqual(['0.001h order.phase_changed at_lab', '0.001h completed']);
  });

  test.each<[string, unknown, string?]>([
    ['nothing', undefined, 'deliver-notifications/'],
    ['null', null, 'deliver-notifications/'],
    ['the ID of another source', { source: 'kit-order/b', giveUpAfter }],
    ['a source in a list', { source: [source], giveUpAfter }],
    ['no time', { source }],
    ['no time left', { source, giveUpAfter: 0 }],
    ['a time that is not a number', { source, giveUpAfter: '5000' }],
    ['a time that nobody can write', { source, giveUpAfter: 3_650 * 24 * hour + 1 }],
  ])('with %s fails as a wrong command', async (_what, input, id = workflowId) => {
    const life = await new Life({ ...opening, workflowId: id }, {}).start(input, leftBy(named('a')));
    expect(life.events).toEqual(['0h failed: InvalidCommand']);
  });

  test('may have up to ten years', async () => {
    const input = { source, giveUpAfter: 3_650 * 24 * hour };
    const life = await new Life(opening, { notify: unavailable }).start(input, leftBy(named('a')));
    expect((await stateOf(life)).triedUntil).toBe('2036-02-27T10:00:00.000Z');
  });

  test('takes the same notification once, and what is none is left out and logged', async () => {
    const life = await delivery(named('a'), { notify: unavailable });
    const refused = (each: Notification) => ({ notification: each, status: 410 });
    await handOver(life, named('a', 'b'), [refused(notification('b')), refused(notification('c'))]);
    await handOver(life, named('c'), [refused(notification('a'))]);
    expect(await undeliveredIn(life)).toEqual(['a', 'b', 'c']);
    const errors = () => life.run.logged.filter((line) => line.startsWith('error'));
    expect(errors()).toEqual([]);
    const odd = [
      ...[null, 'x', {}, notification('d', undefined, { data: null }), notification('e', undefined, { at: 'today' })],
      ...['id', 'type', 'at', 'source', 'subject'].map((field) => ({ ...notification('f'), [field]: 7 })),
    ];
    const oddRefused = [{ notification: notification('g') }, { status: 410 }, null];
    for (const each of odd) await handOver(life, [each]);
    for (const each of oddRefused) await handOver(life, [], [each]);
    for (const none of [undefined, null, 'none', { notifications: 'none', refused: {} }]) {
      await life.signal('notificationsLeft', none);
    }
    expect(await undeliveredIn(life)).toEqual(['a', 'b', 'c']);
    const leftOut = 'error: notifications without an id, a type or a time cannot be delivered';
    expect(errors()).toEqual([...odd, ...oddRefused].map(() => leftOut));
  });
});

describe('a receiver that does not answer', () => {
  test('is called in rounds of a day with ten minutes between them, until the time of each notification is over', async () => {
    const { attempts, notify } = noting();
    const life = await delivery(named('a'), { notify });
    await life.until(1);
    expect(attempts.slice(0, 3)).toEqual([0, 1, 2].map((n) => ({ at: n / 6, ids: ['a'], hours: 24 })));
    await handOver(life, named('b'));
    expect((await stateOf(life)).triedUntil).toBe('2026-03-03T11:00:00.000Z');
    attempts.length = 0;
    await life.until(47.9);
    // A round is not longer than the time that is left of the first.
    expect(attempts.at(-1)?.hours).toBeCloseTo(1 / 6);
    expect(attempts.at(-1)?.ids).toEqual(['a', 'b']);
    await life.until(48.5);
    expect(await undeliveredIn(life)).toEqual(['b']);
    expect(attempts.at(-1)?.ids).toEqual(['b']);
    await life.until(1000);
    expect(life.events.at(-1)).toBe('49h completed');
    const givenUp = ['a', 'b'].map((id) => ({ id, type: 'labops.order.phase_changed', at }));
    expect(resultOf(life)).toEqual({ source, delivered: 0, discarded: 0, givenUp });
    expect(attentionOf(life)).toEqual(['notifications_undelivered']);
  });

  test('has the whole time for what it has taken, or an operator has discarded, and is handed over again', async () => {
    const life = await delivery(named('a', 'b', 'c'), { notify: refusing('b', 'c') });
    await life.update('discard', { ids: ['b'] });
    await life.given({ notify: unavailable }, 47);
    await handOver(life, named('a', 'b'));
    await life.until(49);
    expect(await undeliveredIn(life)).toEqual(['a', 'b']);
  });

  test('is given a second at least', async () => {
    const { attempts, notify } = noting();
    const life = await new Life(opening, { notify }).start({ source, giveUpAfter: 500 }, leftBy(named('a')));
    expect(attempts).toEqual([{ at: 0, ids: ['a'], hours: 1 / 3600 }]);
    expect((await life.until(1)).events).toEqual(['0.167h completed']);
  });

  test('has only the first of a batch counted out: what it took is not sent again', async () => {
    const { attempts, notify } = noting((batch) => taken(batch.slice(0, 1)));
    const life = await delivery(named('a', 'b'), { notify });
    expect(attempts.map((each) => each.ids)).toEqual([['a', 'b'], ['b']]);
    expect(life.run.summaries.slice(-2)).toEqual(['notify: at lab, at lab', 'notify: at lab']);
    expect(resultOf(life)).toMatchObject({ delivered: 2 });
  });

  test.each([
    ['an alarm', alarm('urgent')],
    ['the reminder of one', reminder('urgent')],
  ])('gets %s at once, anything else after the pause', async (_what, urgent) => {
    const { attempts, notify } = noting();
    const life = await delivery(named('a'), { notify });
    await life.until(0.05);
    await handOver(life, named('b'));
    expect(attempts).toHaveLength(1);
    await handOver(life, [...named('c'), urgent]);
    expect(attempts.slice(1)).toEqual([{ at: 0.05, ids: ['a', 'b', 'c', 'urgent'], hours: 24 }]);
  });

  test('gets an alarm at once though it is being called', async () => {
    const life = await delivery(named('a'), { notify: silent });
    await life.until(0.05);
    await handOver(life, [alarm('alarm')]);
    const sent = life.run.calls.map(({ call }) => (call.argument as { notifications: Notification[] }).notifications);
    expect(sent.map(ids)).toEqual([['a', 'alarm']]);
  });

  test('gets only the latest reminder of each alarm', async () => {
    const life = await delivery([alarm('alarm'), reminder('1'), reminder('1b', 'b')], { notify: unavailable });
    await handOver(life, [reminder('2')]);
    await handOver(life, named('a'));
    expect(await undeliveredIn(life)).toEqual(['alarm', '1b', '2', 'a']);
  });
});

describe('a notification that the receiver refuses for good', () => {
  test('is set aside, and waits for an operator, who has it sent again before all others', async () => {
    const life = await delivery(named('a', 'b', 'c'), { notify: refusing('a', 'b') });
    expect(await stateOf(life)).toEqual({
      source,
      undelivered: ['a', 'b'].map((id) => ({ id, type: 'labops.order.phase_changed', at, refusedWith: 422 })),
      triedUntil: '2026-03-03T10:00:00.000Z',
      delivered: 1,
      discarded: 0,
    });
    await life.until(24);
    expect(life.calls).toEqual(['0h notify']);
    life.answers['notify'] = silent;
    await handOver(life, named('d'));
    const reply = await life.update('resend', { ids: ['b'] });
    expect(reply?.value).toMatchObject({ undelivered: [{ id: 'b' }, { id: 'd' }, { id: 'a', refusedWith: 422 }] });
    expect(await life.update('resend', { ids: null })).toMatchObject({
      value: { undelivered: [{ id: 'a' }, { id: 'b' }, { id: 'd' }] },
    });
    await life.given({ notify: undefined });
    expect(ids(life.announced)).toEqual(['a', 'b', 'd']);
    expect(resultOf(life)).toEqual({ source, delivered: 4, discarded: 0, givenUp: [] });
  });

  test('is sent again at once, whether its operator names it or not', async () => {
    for (const command of [undefined, null, {}, { ids: null }, { ids: ['a'] }]) {
      const life = await delivery(named('a'), { notify: refusing('a') });
      await life.given({ notify: undefined }, 1);
      await life.update('resend', command);
      expect(life.events).toEqual(['1h order.phase_changed at_lab', '1h completed']);
    }
  });

  test('that is being refused while its operator has it sent again is tried once more', async () => {
    const life = await delivery(named('a'), { notify: silent });
    await life.run.update({ name: 'resend', argument: {} });
    const [attempt] = life.run.calls;
    const refused = refusing('a')(start, { notifications: named('a') });
    await life.run.answer(attempt?.seq ?? -1, 'notify', { value: refused });
    await life.given({ notify: undefined });
    expect(life.events).toEqual(['0h order.phase_changed at_lab', '0h completed']);
  });

  test('that was refused before the hand-over is not sent, and is given up when its time is over', async () => {
    const refused = [{ notification: notification('a'), status: 410 }];
    const life = await delivery([], {}, refused);
    await life.until(1000);
    expect(life.calls).toEqual([]);
    expect(life.events).toEqual(['48h completed']);
    expect(resultOf(life)).toMatchObject({ givenUp: [{ id: 'a', refusedWith: 410 }] });
  });

  test('can be discarded, once, and what is being tried, too', async () => {
    const life = await delivery(named('a', 'b'), { notify: refusing('a', 'b') });
    expect(await life.update('discard', { ids: ['a', 'a'] })).toMatchObject({
      value: { undelivered: [{ id: 'b' }], discarded: 1 },
    });
    expect(await life.update('discard', { ids: ['a'] })).toMatchObject({ refused: 'NotificationNotFound' });
    life.answers['notify'] = silent;
    await handOver(life, named('c', 'd'));
    await life.update('discard', { ids: ['b', 'c'] });
    await life.given({ notify: undefined });
    expect(ids(life.announced)).toEqual(['d']);
    expect(resultOf(life)).toEqual({ source, delivered: 1, discarded: 3, givenUp: [] });
  });
});

test('an operator ends a pause: what is left is sent at once', async () => {
  const { attempts, notify } = noting();
  const life = await delivery(named('a'), { notify });
  await life.until(0.05);
  expect(await life.update('resend', {})).toMatchObject({ value: { undelivered: [{ id: 'a' }] } });
  expect(attempts.map((each) => each.at)).toEqual([0, 0.05]);
  expect(await life.update('resend', null)).toMatchObject({ value: { undelivered: [{ id: 'a' }] } });
  expect(attempts).toHaveLength(3);
});

test.each<[string, string, unknown]>([
  ['resend', 'InvalidCommand', { ids: 'a' }],
  ['resend', 'InvalidCommand', { ids: {} }],
  ['resend', 'NotificationNotFound', { ids: ['a', 'b'] }],
  ['discard', 'InvalidCommand', undefined],
  ['discard', 'InvalidCommand', null],
  ['discard', 'InvalidCommand', { ids: 'a' }],
  ['discard', 'InvalidCommand', { ids: [] }],
  ['discard', 'NotificationNotFound', { ids: ['b'] }],
])('an operator whose %s cannot be carried out (%s) leaves no trace', async (name, refused, command) => {
  const life = await delivery(named('a'), { notify: unavailable });
  expect(await life.update(name, command)).toEqual({ name, refused });
  expect(life.run.accepted).toEqual([]);
  expect(await undeliveredIn(life)).toEqual(['a']);
});

test('an operator sees what is undelivered, fifty lines of it, and since when, until nothing is, which ends the delivery', async () => {
  const many = Array.from({ length: 55 }, (_, index) => notification(`n${index}`));
  const life = await delivery(many, { notify: unavailable }, [{ notification: notification('r'), status: 410 }]);
  const { details, attributes } = life.run.shown;
  expect(details).toContain('Undelivered notifications of `kit-order/a`: **56**, retried until 2026-03-03 10:00:00');
  expect(details).toContain('| `n0` | labops.order.phase_changed | 2026-03-01 09:00:00 |  |');
  expect(details.split('\n').filter((line) => line.startsWith('| `n'))).toHaveLength(50);
  const undelivered = { LabAttention: ['notifications_undelivered'], LabAttentionSince: new Date(start) };
  expect(attributes).toMatchObject(undelivered);
  await life.until(0.1);
  await life.given({ notify: refusing() }, 0.2);
  expect(life.run.shown.details).toContain('| `r` | labops.order.phase_changed | 2026-03-01 09:00:00 | 410 |');
  await life.update('discard', { ids: ['r'] });
  expect(life.run.end).toMatchObject({ kind: 'completed' });
  expect(attentionOf(life)).toEqual([]);
  expect(life.run.shown.details).toContain('**0**');
  expect(life.run.shown.details).not.toContain('|');
});

test.each([silent, unavailable])(
  'a delivery that an operator cancels through Temporal sends nothing more, and says what the product has missed',
  async (notify) => {
    const refused = [{ notification: notification('r'), status: 410 }];
    const life = await delivery([notification('a'), alarm('b')], { notify }, refused);
    await life.cancel();
    expect(life.events).toEqual(['0h completed']);
    expect(resultOf(life)).toMatchObject({
      ...{ delivered: 0, discarded: 0 },
      givenUp: [{ id: 'a' }, { id: 'b' }, { id: 'r', refusedWith: 410 }],
    });
    expect(attentionOf(life)).toEqual(['notifications_undelivered']);
  },
);

test('a delivery that an operator cancels counts what arrives meanwhile', async () => {
  const life = await delivery(named('a', 'b'), { notify: silent });
  await life.run.cancel();
  const { seq = 0 } = life.run.calls[0] ?? {};
  await life.run.answer(seq, 'notify', { value: taken(['a']) });
  expect(resultOf(life)).toMatchObject({ delivered: 1, givenUp: [{ id: 'b' }] });
});

test('a history that grows long goes on in the next run with all that is undelivered, and with the time of each', async () => {
  const life = await delivery(named('a', 'b', 'c'), { notify: refusing('a', 'b') });
  await life.update('discard', { ids: ['b'] });
  await life.given({ notify: unavailable }, 24);
  life.run.suggestNewRun();
  await handOver(life, named('d'));
  expect(life.run.end).toMatchObject({ kind: 'continued', input: { source, giveUpAfter } });
  const next = await life.next();
  expect(await stateOf(next)).toMatchObject({
    undelivered: [{ id: 'd' }, { id: 'a', refusedWith: 422 }],
    triedUntil: '2026-03-04T10:00:00.000Z',
    delivered: 1,
    discarded: 1,
  });
  await next.until(24.5);
  expect(await undeliveredIn(next)).toEqual(['d']);
  await next.until(1000);
  expect(next.events).toEqual(['48h completed']);
  expect(resultOf(next)).toMatchObject({ delivered: 1, discarded: 1, givenUp: [{ id: 'a' }, { id: 'd' }] });
});

test('a hand-over that cannot be decrypted needs attention, also when everything else is delivered: it may be an alarm', async () => {
  const life = await delivery(named('a'), { notify: unavailable });
  await life.signal('unreadable');
  await life.given({ notify: refusing() }, 0.2);
  expect(life.run.end).toMatchObject({ kind: 'completed' });
  expect(attentionOf(life)).toEqual(['unreadable_signal']);
});
