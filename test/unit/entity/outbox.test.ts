import { describe, expect, test } from 'vitest';
import type { NotifyOutcome } from '../../../activities/notifications/notifications.js';
import type { Notification, NotificationsLeft } from '../../../protocol/notifications/delivery.js';
import type { ActivityCall, Answer, Message } from '../../../proof/lives/run.js';
import { shortDigest } from '../../../workflows/entity/outbox.js';
import { requested as requestedDeletion, userId } from '../deletion/lives.js';
import { happyPath, pathTo, start } from '../order/histories.js';
import { type Life, silent, unavailable, type Answers } from '../life.js';
import { alarm, opening, orderId, OrderLife, shownAt } from '../order/lives.js';
import { placed } from './placed-order.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* When a workflow calls the receiver of its notifications, and with what: in the lives of an order and of a deletion. */

const hour = 3_600_000;
const minutes = (count: number) => count / 60;

const raiseAlarm = (life: Life) => life.signal(alarm.name, alarm.argument);

type HandOver = NotificationsLeft & { isPromised: boolean };

/** A receiver that notes for what it is called, and what is handed over; without an answer it says nothing. */
class Receiver {
  readonly attempts: { at: number; sends: string[]; hours: number }[] = [];
  /** What nobody took, what was refused, and whether there is a receiver. */
  readonly handed: unknown[] = [];
  answer: (sent: Notification[]) => unknown;

  constructor(answer: (sent: Notification[]) => unknown = () => unavailable) {
    this.answer = answer;
  }

  notify = (now: number, { notifications }: { notifications: Notification[] }, { within = 0 }) => {
    const at = (now - start) / hour;
    this.attempts.push({ at, sends: notifications.map(briefly), hours: within / hour });
    return this.answer(notifications);
  };

  handOverNotifications = (_now: number, { notifications, refused, isPromised }: HandOver) => {
    this.handed.push([notifications.map(briefly), refused.map((each) => briefly(each.notification)), isPromised]);
    return null;
  };

  get answers(): Answers {
    return { notify: this.notify, handOverNotifications: this.handOverNotifications };
  }

  get sent(): string[][] {
    return this.attempts.map(({ sends }) => sends);
  }
}

function briefly({ type, data }: Notification): string {
  const { phase, outcome: end, reason } = data;
  return [phase, end, reason].find((each) => typeof each === 'string') ?? type;
}

/** It did not take a call; it may ask for a pause. */
const refusing = (retryAfterMs?: number) => () => {
  const details = { fields: [], ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return { failure: { type: 'NotificationRefused', isFinal: false, details } };
};

const outcome = (more: Partial<NotifyOutcome>): NotifyOutcome => ({
  ...{ delivered: [], refused: [], handedOver: false },
  ...more,
});
const refusesFirst = ([notification]: Notification[]) => outcome({ refused: [{ notification, status: 422 } as never] });
const takes = (sent: Notification[]) => outcome({ delivered: sent.map(({ id }) => id) });

const sentIn = ({ argument }: ActivityCall) => (argument as { notifications: Notification[] }).notifications;
/** What is being sent at present. */
const underWay = ({ run }: Life) =>
  run.calls.filter(({ call }) => call.name === 'notify').map(({ call }) => sentIn(call).map(briefly));

/** The attempt that is running ends so; the signal comes in the same step. */
async function answerAttempt({ run }: Life, to: (sent: Notification[]) => Answer, ...signals: Message[]) {
  const [running] = run.calls;
  if (!running) throw new Error('No attempt is running');
  await run.answer(running.seq, 'notify', to(sentIn(running.call)), ...signals);
}

describe('a receiver that does not answer', () => {
  test('is called for as long as the policy says, again every ten minutes, and needs a person until it is back', async () => {
    const both = ['preparing', 'notifications_undelivered'];
    const receiver = new Receiver();
    const life = await placed({ notify: receiver.notify }, { notificationDeadline: '1h' });
    await life.until(minutes(25));
    expect(receiver.attempts).toEqual([
      { at: 0, sends: ['preparing'], hours: 1 },
      { at: 1 / 6, sends: both, hours: 1 },
      { at: 2 / 6, sends: both, hours: 1 },
    ]);
    expect(life.run.shown.attributes['LabAttention']).toEqual(['notifications_undelivered']);
    expect(life.run.summaries).toContain('notify: preparing, attention raised');
    expect(life.run.summaries).toContain('until the receiver is tried again');
    receiver.answer = takes;
    await life.until(minutes(31));
    expect(receiver.attempts.slice(3)).toEqual([
      { at: 0.5, sends: both, hours: 1 },
      { at: 0.5, sends: ['notifications_undelivered'], hours: 1 },
    ]);
    expect(life.run.shown.attributes['LabAttention']).toEqual([]);
    await life.until(1);
    expect(receiver.attempts).toHaveLength(5);
  });

  test.each([
    ['ten minutes', undefined, [0, 10, 20]],
    ['ten minutes if a shorter pause was asked for', 60_000, [0, 10, 20]],
    ['as long as the receiver asks for', 2_400_000, [0, 40, 80]],
  ])('is called again after %s', async (_how, retryAfterMs, tries) => {
    const receiver = new Receiver(refusing(retryAfterMs));
    await (await placed(receiver.answers)).until(minutes(85));
    expect(receiver.attempts.slice(0, 3).map(({ at }) => Math.round(at * 60))).toEqual(tries);
  });

  test('takes what it takes: the rest of a batch is sent again', async () => {
    const receiver = new Receiver((sent) => takes(sent.slice(0, 1)));
    const life = await placed({ notify: silent });
    await life.report(pathTo('awaiting_registration'));
    await life.report(pathTo('transit_customer'));
    await life.given(receiver.answers);
    const [first, second, third] = ['preparing', 'awaiting_registration', 'in_transit_to_customer'];
    expect(receiver.sent).toEqual([[first], [second, third], [third]]);
  });

  test('that is taken whole is over, though a replay gives an id another time than the one that was sent', async () => {
    const earlier = (sent: Notification[]) => sent.map((each) => ({ ...each, id: `${each.id}, a moment earlier` }));
    const receiver = new Receiver((sent) => takes(earlier(sent)));
    await placed(receiver.answers);
    expect(receiver.attempts).toHaveLength(1);
  });

  test('has twenty at most in one call', async () => {
    const receiver = new Receiver(takes);
    const life = await placed({ notify: silent });
    const trouble = Array.from({ length: 13 }, () => ['problem_in_transit_customer', 'out_for_delivery']).flat();
    const statuses = [...pathTo('transit_customer'), ...trouble];
    for (let count = 2; count <= statuses.length; count += 1) await life.report(statuses.slice(0, count));
    await life.given(receiver.answers);
    const counts = receiver.sent.map(({ length }) => length);
    expect(counts.slice(0, 2)).toEqual([1, 20]);
    expect(counts[2]).toBeGreaterThan(0);
    expect(counts).toHaveLength(3);
  });
});

describe('an alarm', () => {
  test('calls back the attempts that others wait for, and is sent with them', async () => {
    const life = await placed({ notify: silent });
    await life.report(pathTo('transit_customer'));
    expect(life.run.commands).not.toContain('requestCancelActivity');
    expect(underWay(life)).toEqual([['preparing']]);
    await life.until(0.5);
    await raiseAlarm(life);
    const all = ['preparing', 'in_transit_to_customer', 'order.critical_result', 'critical_result'];
    expect(underWay(life)).toEqual([all]);
    // It does not wait for itself.
    const { length } = life.run.commands;
    await life.until(0.9);
    expect(life.run.commands.slice(length)).toEqual([]);
  });

  test.each([
    ['arrives', true, ['in_transit_to_customer', 'order.critical_result', 'critical_result']],
    ['fails', false, ['preparing', 'in_transit_to_customer', 'order.critical_result', 'critical_result']],
  ])('goes after the attempt that is running, if that %s', async (_, isTaken, next) => {
    const life = await placed({ notify: silent });
    await life.report(pathTo('transit_customer'));
    await life.run.signal(alarm);
    expect(life.run.calls[0]?.call.isCalledBack).toBe(true);
    await answerAttempt(life, (sent) => (isTaken ? { value: takes(sent) } : unavailable));
    expect(underWay(life)).toEqual([next]);
    expect(life.run.shown.attributes['LabAttention']).toEqual(['critical_result']);
  });

  test('does not wait for the receiver if it is handled in the step in which the attempt fails', async () => {
    const life = await placed({ notify: silent });
    await answerAttempt(life, () => unavailable, alarm);
    const all = ['preparing', 'order.critical_result', 'critical_result', 'notifications_undelivered'];
    expect(underWay(life)).toEqual([all]);
  });

  test('waits for nothing if nothing is under way', async () => {
    const life = await placed();
    await raiseAlarm(life);
    expect(life.events).toContain('0h order.critical_result');
    expect(life.run.commands).not.toContain('requestCancelActivity');
  });

  test('ends the pause of a receiver that did not answer, once, however long a pause it asked for', async () => {
    const receiver = new Receiver(refusing(hour));
    const life = await placed(receiver.answers);
    await life.until(minutes(2));
    await raiseAlarm(life);
    await life.until(1);
    expect(receiver.attempts.map(({ at }) => at)).toEqual([0, minutes(2)]);
    expect(receiver.attempts[1]?.sends).toContain('order.critical_result');
  });

  test('has its reminders sent, too, while others are tried: the first calls their attempts back, and the next waits behind it', async () => {
    const life = await placed({ notify: silent });
    await raiseAlarm(life);
    await answerAttempt(life, (sent) => ({ value: takes(sent.slice(1)) }));
    expect(underWay(life)).toEqual([['preparing']]);
    await life.until(1);
    expect(underWay(life)).toEqual([['preparing', 'order.critical_result_reminder']]);
    const { length } = life.run.commands;
    await life.until(2);
    expect(life.run.commands.slice(length)).not.toContain('requestCancelActivity');
  });

  test('that waited before, without room in the batch, ends no attempts either', async () => {
    const life = await placed(new Receiver().answers);
    // Both are in one batch.
    await life.given({ notify: silent });
    await raiseAlarm(life);
    const { length } = life.run.summaries;
    await life.until(minutes(30));
    expect(life.run.summaries.slice(length).filter((each) => each.includes('notify'))).toEqual([]);
  });
});

test('a notification that the receiver refuses for good is handed over, and not sent again; the ones after it are', async () => {
  const receiver = new Receiver(refusesFirst);
  const life = await placed(receiver.answers);
  expect(receiver.handed).toEqual([[[], ['preparing'], true]]);
  expect(life.run.summaries.at(-1)).toBe('hand over 1 notifications');
  receiver.answer = takes;
  await life.report(pathTo('awaiting_registration'));
  await life.until(1);
  expect(receiver.sent).toEqual([['preparing'], ['awaiting_registration']]);
  expect(receiver.handed).toHaveLength(1);
});

test('what was put behind notifications that are still being delivered is sent only once, and the run ends', async () => {
  const receiver = new Receiver(() => outcome({ handedOver: true }));
  const life = await placed(receiver.answers);
  await life.report(pathTo('awaiting_registration'));
  await life.report(happyPath);
  expect(receiver.sent.slice(0, 2)).toEqual([['preparing'], ['awaiting_registration']]);
  expect(new Set(receiver.sent.flat()).size).toBe(receiver.sent.flat().length);
  expect(receiver.handed).toEqual([]);
  expect(life.events).toEqual(['0h completed']);
});

test('a hand-over whose answer was refused is repeated: the workflow goes on', async () => {
  const lost = { failure: { type: 'AnswerLost', isFinal: false } };
  const { answers, handed } = new Receiver(refusesFirst);
  const life = await placed({ ...answers, handOverNotifications: lost });
  await life.given(answers, minutes(3));
  expect(handed).toEqual([[[], ['preparing'], true]]);
});

describe('an end', () => {
  test('by an operator hands over what is undelivered, too, an alarm above all', async () => {
    const { answers, handed } = new Receiver();
    const life = await placed(answers);
    await raiseAlarm(life);
    await life.run.cancel();
    await life.until(minutes(2));
    expect(life.run.end).toEqual({ kind: 'failed', type: 'cancelled' });
    const all = ['preparing', 'notifications_undelivered', 'order.critical_result', 'critical_result'];
    expect(handed).toEqual([[all, [], true]]);
  });

  test('by an operator hands over an alarm, too, that comes while the rest is handed over', async () => {
    const { answers, handed } = new Receiver();
    const life = await placed({ notify: silent, handOverNotifications: silent });
    await life.run.cancel();
    await life.until(minutes(2));
    await raiseAlarm(life);
    await life.given({ ...answers, notify: silent });
    await life.until(minutes(4));
    expect(life.run.end).toEqual({ kind: 'failed', type: 'cancelled' });
    expect(handed).toEqual([
      [['preparing'], [], true],
      [['preparing', 'order.critical_result', 'critical_result'], [], true],
    ]);
  });

  test('by an operator still delivers an alarm that comes then, if the receiver answers', async () => {
    const { answers, handed } = new Receiver();
    const life = await placed({ ...answers, notify: silent });
    await life.run.cancel();
    await raiseAlarm(life);
    await life.given({ notify: undefined });
    expect(life.announced.map(({ type }) => type)).toContain('order.critical_result');
    expect([handed, life.run.end]).toEqual([[], { kind: 'failed', type: 'cancelled' }]);
  });

  test('waits a minute for the receiver, then hands over what is left, in its order', async () => {
    const { answers, handed } = new Receiver();
    const life = await placed({ ...answers, notify: silent });
    await life.report(pathTo('delivered_to_lab'));
    await life.report(happyPath);
    expect(life.run.summaries.at(-1)).toBe('until the product is notified');
    await life.until(59 / 3600);
    expect(life.run.end).toBeUndefined();
    await life.until(minutes(1));
    expect(life.run.end).toMatchObject({ kind: 'completed', result: { outcome: 'completed' } });
    const [[names, ...more] = []] = handed as [string[], ...unknown[]][];
    expect(names?.at(0)).toBe('preparing');
    expect(names?.at(-1)).toBe('completed');
    expect(more).toEqual([[], true]);
    expect(life.run.summaries.at(-1)).toBe(`hand over ${names?.length} notifications`);
  });

  test('ends the pause of a receiver that did not answer, once', async () => {
    const { answers, attempts, handed } = new Receiver();
    const life = await placed(answers);
    await life.until(minutes(5));
    await life.report(happyPath);
    expect(attempts.map(({ at }) => at)).toEqual([0, 5 / 60]);
    await life.until(minutes(20));
    expect([attempts.length, handed.length]).toEqual([2, 1]);
    expect(life.events).toEqual(['0.1h completed']);
  });

  test('that is taken back while the product is being notified goes on, and so does the delivery', async () => {
    const lost = [...pathTo('transit_customer'), 'lost'];
    const life = await placed({}, { decisionWait: '5d' });
    await life.report(lost);
    await life.until(191);
    await life.given({ notify: silent }, 192);
    expect(life.run.summaries.filter((each) => each.startsWith('notify')).at(-1)).toBe('notify: failed');
    await life.report([...lost, 'with_customer']);
    await life.until(193);
    expect(life.run.end).toBeUndefined();
    await life.given({ notify: undefined });
    expect(life.events).toContain('193h order.ended failed');
    expect(life.events.at(-1)).toBe('193h order.phase_changed awaiting_registration');
    // An end that comes later ends the pause of the receiver, as if there had been none before it.
    await life.given({ notify: unavailable });
    const attempts = () => life.calls.filter((call) => call.endsWith('notify')).length;
    await life.report([...lost, 'with_customer', 'transit_lab']);
    expect(attempts()).toBe(1);
    await life.report([...lost, 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed']);
    expect(attempts()).toBe(2);
  });
});

test('a deployment without a receiver keeps nothing, calls nobody, and has nothing to take along to the next run', async () => {
  const life = await placed({ notify: unavailable }, {}, false);
  await life.report(pathTo('transit_customer'));
  await life.report(happyPath);
  expect(life.calls).toEqual([]);
  expect(life.events).toEqual(['0h completed']);
  const next = await placed({}, {}, false);
  expect(await takenAlong(next)).toEqual([]);
});

/** Types of the notifications that the next run is given, when a kit is on its way. */
async function takenAlong(life: OrderLife): Promise<string[]> {
  life.run.suggestNewRun();
  await life.report(pathTo('transit_customer'));
  const { input } = life.run.end as { input: { carried: { outbox: Notification[] } } };
  return input.carried.outbox.map(({ type }) => type);
}

describe('before it is known whether there is a receiver', () => {
  const snapshot = shownAt(['ordered']);
  const input = { rootOrderId: orderId, policy: resolvePolicy('order') };
  const known = (notifies: boolean) => ({
    readChain: { snapshots: [snapshot], gone: false, rootOrderId: orderId, notifies },
  });

  test.each([true, false])('what is announced waits, and is then sent, or dropped: %s', async (notifies) => {
    const life = new OrderLife(opening, { readOrder: snapshot, readChain: silent });
    await life.start(input, { ...alarm, argument: { ...alarm.argument, order: snapshot } });
    await life.until(minutes(5));
    expect(life.events).toEqual([]);
    await life.given(known(notifies));
    expect(life.events.includes('0.083h order.critical_result')).toBe(notifies);
    expect(await takenAlong(life)).toEqual(notifies ? ['order.phase_changed'] : []);
  });

  test('attention is raised, and dropped if there is none', async () => {
    const life = new OrderLife(opening, { readChain: unavailable });
    await life.start(input, { name: 'orderChanged', argument: snapshot });
    await life.until(30);
    expect(life.run.shown.attributes['LabAttention']).toEqual(['order_unreadable']);
    await life.given(known(false), 31);
    expect(await takenAlong(life)).toEqual([]);
  });
});

test('the digest of a text is the same in every release, because ids are made of it', () => {
  expect(['', 'a', 'foobar'].map(shortDigest)).toEqual(['811c9dc5', 'e40c292c', 'bf9cf968']);
});

describe('a deletion', () => {
  const input = { userId, policy: resolvePolicy('deletion') };
  const requested = (answers: Answers) =>
    requestedDeletion({ undoDeletion: null, handOverNotifications: null, ...answers }, {}, start);

  /** The deletion is undone and requested again, while its product is notified. */
  async function again(life: Life, meanwhile: Answers = {}): Promise<void> {
    await life.update('undo');
    await life.given(meanwhile);
    await life.update('request', input);
  }

  test('that is undone before it is known whether there is a receiver hands its end over at once', async () => {
    const { answers, handed } = new Receiver();
    const life = await requested({ ...answers, findRunningWork: silent, notify: silent });
    const [search] = life.run.calls;
    await life.run.answer(search?.seq ?? 0, 'findRunningWork', unavailable);
    await life.update('undo');
    expect(life.events).toEqual(['0h completed']);
    expect(handed).toEqual([[['user.deletion_undone'], [], false]]);
  });

  test('that follows another one in its run sends what is left of that one first', async () => {
    const receiver = new Receiver(takes);
    const life = await requested(receiver.answers);
    await life.given({ notify: silent });
    await again(life);
    await life.given(receiver.answers);
    expect(receiver.sent).toEqual([['user.deletion_scheduled'], ['user.deletion_undone'], ['user.deletion_scheduled']]);
  });

  test('that does not know its work yet sends what is left of the one before it all the same', async () => {
    const life = await requested({ notify: silent });
    await again(life, { findRunningWork: silent });
    await life.given({ notify: undefined });
    expect(life.events).toEqual(['0h user.deletion_scheduled', '0h user.deletion_undone']);
  });

  test('that begins while what is left of the one before it is handed over does not overtake that', async () => {
    const receiver = new Receiver(takes);
    const life = await requested({});
    await life.given({ notify: silent, handOverNotifications: silent });
    await life.update('undo');
    await life.until(minutes(1));
    await life.update('request', input);
    await life.given(receiver.answers);
    // The attempt that was under way.
    expect(receiver.sent).toEqual([['user.deletion_undone']]);
    expect(receiver.handed).toEqual([
      [['user.deletion_undone'], [], true],
      [['user.deletion_scheduled'], [], true],
    ]);
    expect(life.run.end).toBeUndefined();
  });
});
