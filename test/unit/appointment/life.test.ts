import { describe, expect, test } from 'vitest';
import type { AppointmentPolicy } from '../../../protocol/appointment/policy.js';
import type { AppointmentSnapshot } from '../../../service/appointment/snapshot.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { day, hour, snapshot, start, life, opening, orderId, reading, report } from './appointments.js';
import { resolvePolicy as policyOf } from '../../../protocol/policy/policies.js';

/* The lives of appointments, from the start to the end: what the product is notified of, and when the service is asked. */

const confirmed = snapshot(['pending', 'confirmed']);
const cancelled = snapshot(['pending', 'confirmed', 'cancelled']);
const walkIn = { ...confirmed, type: 'patient_service_center' };
const until = (hours: number, before: object, after: object) => (now: number) =>
  now < start + hours * hour ? before : after;

const madeElsewhere = (answers: Answers = {}) => life(reading(confirmed), {}, false, answers);
const stateOf = ({ run }: Life) => run.query('state');
const readsOf = (of: Life) => of.secondsOf('readAppointment');

test('an appointment that nobody chooses is asked for twice with the time until which a choice can be made, and expires', async () => {
  const { calls, events, announced } = await (await life(reading())).until(1000);
  expect(calls).toEqual(['0h identifyAppointment', ...[24, 72, 336].map((at) => `${at}h readAppointment`)]);
  expect(events).toEqual([
    ...['24h appointment.choice_reminder 1', '72h appointment.choice_reminder 2'],
    ...['336h appointment.ended expired', '336h completed'],
  ]);
  const notified = (of: string, type: string, at: string, data: object) => ({
    ...{ id: `${orderId}/${of}/${type}`, type: `appointment.${type}`, at, data: { orderId, ...data } },
    ...{ source: `appointment/${orderId}`, subject: orderId },
  });
  const [begun, until] = ['2024-03-01T10:00:00.000Z', '2024-03-15T10:00:00.000Z'];
  expect([announced[0], announced[2]]).toEqual([
    notified(`${begun}/1`, 'choice_reminder', '2024-03-02T10:00:00.000Z', { reminder: 1, until }),
    notified(`none/expired.${begun}`, 'ended', until, { outcome: 'expired' }),
  ]);
});

test('an appointment that nobody chooses has no reminder at or after its end', async () => {
  const { events } = await (await life(reading(), { choiceWait: '72h' })).until(1000);
  expect(events.slice(0, 2)).toEqual(['24h appointment.choice_reminder 1', '72h appointment.ended expired']);
});

/** What a person is asked to look at from one hour on, and is not any more at another. */
const asked = (reason: string, from: number, to: number) => [
  `${from}h appointment.attention_raised ${reason}`,
  `${to}h appointment.attention_cleared ${reason}`,
];
const unresolved = (at: number) => [`${at}h appointment.ended unresolved`, `${at}h completed`];

test('an appointment that is not confirmed is read at doubling intervals, and needs a person until it is given up', async () => {
  const { calls, events } = await (await life(reading(snapshot(['pending'])))).until(1000);
  const reads = [1, 3, 7, 15, 27, 39, 48, 60].map((at) => `${at}h readAppointment`);
  expect(calls.slice(1, 9)).toEqual(reads);
  expect(events[0]).toBe('0h appointment.phase_changed awaiting_confirmation');
  expect(events.slice(1)).toEqual([...asked('confirmation_overdue', 48, 384), ...unresolved(384)]);
});

test('an appointment that is not confirmed needs nobody any more once it is confirmed, moved and cancelled; then another choice is asked for', async () => {
  const appointment = await life(reading(snapshot(['pending'])));
  const later = { startAt: new Date(start + 6 * day).toISOString() };
  for (const [at, next] of [
    [50, confirmed],
    [90, snapshot(['pending', 'confirmed', 'confirmed'], later)],
    [100, snapshot(['pending', 'confirmed', 'confirmed', 'cancelled'], later)],
  ] as const) {
    await appointment.until(at);
    await report(appointment, next);
  }
  const { events, announced } = await appointment.until(1000);
  expect(events.slice(1)).toEqual([
    ...asked('confirmation_overdue', 48, 50),
    ...['50h appointment.phase_changed confirmed', '90h appointment.phase_changed confirmed'],
    '100h appointment.choice_needed cancelled',
    ...['124h appointment.choice_reminder 1', '172h appointment.choice_reminder 2'],
    ...['436h appointment.ended expired', '436h completed'],
  ]);
  expect(announced[5]?.data).toMatchObject({ reason: 'cancelled', until: '2024-03-19T14:00:00.000Z' });
});

test('an appointment that is not confirmed needs nobody either once its slot is reserved', async () => {
  const appointment = await life(reading(snapshot(['pending'])));
  await appointment.until(50);
  await report(appointment, snapshot(['pending', 'reserved']));
  expect(appointment.events.slice(1)).toEqual(asked('confirmation_overdue', 48, 50));
});

describe('a visit', () => {
  const reminded = [
    '0h appointment.phase_changed confirmed',
    ...['96h appointment.visit_reminder 1', '118h appointment.visit_reminder 2'],
  ];

  test('is announced ahead, and needs a person once it is overdue, until it is given up', async () => {
    const { events, announced, calls } = await (await life(reading(confirmed))).until(1000);
    expect(events).toEqual([...reminded, ...asked('visit_overdue', 145, 481), ...unresolved(481)]);
    expect(calls.slice(1, 7)).toEqual([96, 118, 145, 153, 165, 177].map((at) => `${at}h readAppointment`));
    expect(announced[2]).toMatchObject({
      id: `${orderId}/appointment-1/2024-03-06T10:00:00.000Z/2/visit_reminder`,
      data: { orderId, appointmentId: 'appointment-1', reminder: 2, startAt: '2024-03-06T10:00:00.000Z' },
    });
  });

  const untrue = ['2025-03-06T10:00:00.000Z', '2062-03-06T10:00:00.000Z', '9999-12-31T23:00:00.000Z'];
  test.each(untrue)('whose time cannot be true, %s, needs a person like one without a time', async (startAt) => {
    const { events } = await (await life(reading({ ...confirmed, startAt, endAt: startAt }))).until(1000);
    const others = events.slice(1).filter((event) => !event.includes('visit_reminder'));
    expect(others).toEqual([...asked('visit_overdue', 48, 384), ...unresolved(384)]);
  });

  test('that begins late is overdue again at once, and needs nobody once it is completed', async () => {
    const appointment = await life(reading(confirmed));
    await appointment.until(147);
    await report(appointment, snapshot(['pending', 'confirmed', 'in_progress']));
    await appointment.until(200);
    await report(appointment, snapshot(['pending', 'confirmed', 'in_progress', 'completed']));
    const [raised, cleared] = asked('visit_overdue', 145, 200);
    expect(appointment.events.slice(3)).toEqual([
      ...[raised, '147h appointment.phase_changed in_progress', cleared],
      ...['200h appointment.ended completed', '200h completed'],
    ]);
  });

  test('that was overdue needs nobody for that any more when it is moved', async () => {
    const appointment = await (await life(reading(confirmed))).until(150);
    const startAt = new Date(start + 20 * day).toISOString();
    await report(appointment, snapshot(['pending', 'confirmed', 'confirmed'], { startAt, endAt: startAt }));
    const { events } = await appointment.until(480);
    expect(events).toEqual([
      ...[...reminded, ...asked('visit_overdue', 145, 150), '150h appointment.phase_changed confirmed'],
      ...['456h appointment.visit_reminder 1', '478h appointment.visit_reminder 2'],
    ]);
  });
});

describe('an end that the product was not notified of yet', () => {
  const unordered = snapshot([], { status: 'confirmed' });

  test('stays if somebody has given the appointment up', async () => {
    const appointment = await madeElsewhere({ notify: unavailable });
    await appointment.cancel();
    for (const each of [unordered, cancelled]) await appointment.signal('appointmentChanged', each);
    await appointment.until(2);
    expect(readsOf(appointment)).toEqual([]);
    expect(appointment.run.end).toMatchObject({ result: { outcome: 'abandoned' } });
  });

  test.each([
    ['cancelled', 0],
    ['expired', 1],
  ])('stays %s after %i h, whatever becomes of its order before that is announced', async (outcome, hours) => {
    const appointment = await life(reading(confirmed), { choiceWait: '1h' }, hours > 0, { notify: unavailable });
    await report(appointment, cancelled);
    await (await appointment.until(hours)).given({ readAppointment: reading(cancelled, 'cancelled') });
    await appointment.signal('appointmentChanged', { ...cancelled, canReschedule: true, events: [] });
    expect(readsOf(appointment).slice(-2)).toEqual([hours * 3600, hours * 3600]);
    expect(await stateOf(appointment)).toMatchObject({ outcome });
  });
});

describe.each([
  ['cancelled', cancelled],
  ['completed', snapshot(['pending', 'confirmed', 'completed'])],
])('a webhook that would end the appointment as %s', (outcome, last) => {
  test('ends nothing while the service is silent, acknowledges no cancellation, and ends it once a read shows it', async () => {
    const appointment = await madeElsewhere({ readAppointment: unavailable });
    await appointment.signal('appointmentChanged', last);
    expect(await appointment.update('cancel', {})).toEqual({ name: 'cancel', refused: 'ServiceUnavailable' });
    await appointment.until(50);
    expect(appointment.events.join()).not.toContain('ended');
    await appointment.given({ readAppointment: reading(last) }, 100);
    expect(appointment.run.end).toMatchObject({ result: { outcome } });
  });

  test('ends nothing if a read shows that somebody has made another one since', async () => {
    const another = snapshot(['confirmed'], { appointmentId: 'appointment-2', from: day });
    const appointment = await madeElsewhere({ readAppointment: reading(another) });
    await appointment.signal('appointmentChanged', last);
    await appointment.until(10);
    expect(appointment.run.end).toBeUndefined();
    expect(appointment.events.at(-1)).toBe('0h appointment.phase_changed confirmed');
  });

  test.each([
    ['the first read is older than the webhook', last],
    ['the service never shows all of its events', confirmed],
  ])('ends it a minute later if %s', async (_why, shown) => {
    const appointment = await madeElsewhere();
    await appointment.signal('appointmentChanged', last);
    expect(appointment.run.end).toBeUndefined();
    await appointment.given({ readAppointment: reading(shown) }, 1);
    expect(readsOf(appointment)).toEqual([0, 60]);
    expect(appointment.run.end).toMatchObject({ result: { outcome } });
  });
});

describe('a visit that is cancelled', () => {
  test('with its order needs no other choice, although a read right after its webhook shows the order as it was before', async () => {
    const appointment = await life(reading(confirmed));
    await report(appointment, cancelled);
    const { events } = await appointment.given({ readAppointment: reading(cancelled, 'cancelled') }, 1);
    expect(events.slice(1)).toEqual([
      '0h appointment.choice_needed cancelled',
      ...['0.017h appointment.ended order_ended', '0.017h completed'],
    ]);
  });

  test('is asked about once more, and not again', async () => {
    const [appointment, rebooked] = [await life(reading(confirmed)), await life(reading(confirmed))];
    for (const each of [appointment, rebooked]) await report(each, cancelled);
    await report(rebooked, snapshot(['confirmed'], { appointmentId: 'appointment-2', from: day }));
    expect(readsOf(await appointment.until(20))).toEqual([0, 60]);
    expect(readsOf(await rebooked.until(20))).toEqual([0]);
  });

  test('needs another choice once the service has said that the order needs one', async () => {
    const appointment = await life(reading(confirmed));
    await appointment.given({ readAppointment: unavailable });
    const twice = snapshot(['pending', 'confirmed', 'cancelled', 'cancelled']);
    for (const each of [cancelled, twice]) await appointment.signal('appointmentChanged', each);
    expect(appointment.events.slice(1)).toEqual([]);
    const { events } = await appointment.given({ readAppointment: reading(cancelled) }, 2);
    expect(events.slice(1)).toEqual(['2h appointment.choice_needed cancelled']);
  });
});

test('an appointment whose order the service does not know ends, once the service has said so twice within ten minutes', async () => {
  const { events, calls } = await (await life(reading(undefined, 'gone'))).until(1000);
  expect(calls).toEqual(['0h identifyAppointment', '0.167h readAppointment']);
  expect(events).toEqual(['0.167h appointment.ended order_gone', '0.167h completed']);
});

test('an appointment whose order was cancelled needs somebody who cancels a visit at a service centre, until that is over', async () => {
  const shown = until(30, reading(walkIn), reading(walkIn, 'cancelled'));
  const { events } = await (await life(shown)).until(1000);
  expect(events).toEqual([
    ...['0h appointment.phase_changed confirmed', '39h appointment.attention_raised order_cancelled'],
    ...['96h appointment.visit_reminder 1', '118h appointment.visit_reminder 2'],
    ...['130h appointment.attention_cleared order_cancelled', '130h appointment.ended order_ended', '130h completed'],
  ]);
  const reopened = await (await life(shown)).until(40);
  await reopened.given({ readAppointment: reading(walkIn) }, 70);
  expect(reopened.events.slice(2)).toEqual(['51h appointment.attention_cleared order_cancelled']);
});

describe('a run', () => {
  const policy = policyOf('appointment');

  test('of another order than its ID names is refused, or of none', async () => {
    for (const input of [undefined, { orderId: 1 }, { orderId: '00000000-0000-4000-8000-00000000000b' }]) {
      expect((await new Life(opening, {}).start(input)).events).toEqual(['0h failed: InvalidCommand']);
    }
  });

  test('that nobody requested by a signal was started by hand, to have an appointment', async () => {
    const answers = { identifyAppointment: { notifies: true, reading: reading() }, readAppointment: reading() };
    const appointment = await new Life(opening, answers).start({ orderId: orderId.toUpperCase(), policy });
    expect(await stateOf(appointment)).toMatchObject({ orderId, phase: 'awaiting_choice' });
    expect((await appointment.until(30)).events).toEqual(['24h appointment.choice_reminder 1']);
  });

  test('resolves a policy before it does anything, and one that comes later before it acts on it', async () => {
    const resolvePolicy = (_now: number, { policy: asked }: { policy: AppointmentPolicy }) =>
      policyOf('appointment', asked);
    const answers = { resolvePolicy, identifyAppointment: { notifies: true, reading: reading() } };
    const requested = { name: 'bookingRequested', argument: undefined };
    const input = { orderId, policy: { choiceReminders: ['2h'] } };
    const appointment = await new Life(opening, { ...answers, readAppointment: reading() }).start(input, requested);
    expect(appointment.calls).toEqual(['0h resolvePolicy', '0h identifyAppointment']);
    expect((await appointment.until(3)).events).toEqual(['2h appointment.choice_reminder 1']);
    const later = { policy: { visitReminders: ['100h'] } };
    const elsewhere = await madeElsewhere(answers);
    await elsewhere.signal('bookingRequested', later);
    expect((await elsewhere.until(119)).events.slice(1)).toEqual(['20h appointment.visit_reminder 1']);
    const unresolved = await madeElsewhere({ ...answers, resolvePolicy: silent });
    await unresolved.signal('bookingRequested', later);
    expect((await unresolved.until(119)).events).toHaveLength(1);
    const waiting = await new Life(opening, { ...answers, resolvePolicy: silent }).start(input, requested);
    expect(waiting.run.calls.map(({ call }) => call.name)).toEqual(['resolvePolicy']);
  });

  test('shows operators where the appointment stands, and answers who asks for it', async () => {
    const appointment = await life(reading({ ...confirmed, userId: 'user-1' }));
    expect(appointment.run.shown.details).toContain('### Confirmed');
    const shown = { LabPhase: 'confirmed', LabOrderId: [orderId], LabUserId: 'user-1' };
    expect(appointment.run.shown.attributes).toEqual(shown);
    expect(await stateOf(appointment)).toMatchObject({ phase: 'confirmed', userId: 'user-1' });
  });

  test('has the order’s user, unless another one was reported', async () => {
    const userId = 'user-2';
    expect(await stateOf(await life({ ...reading(), userId }))).toMatchObject({ userId });
    const reported = await life(reading({ ...confirmed, userId: 'user-1' }), {}, false);
    await reported.given({ readAppointment: { ...reading(confirmed), userId } }, 100);
    expect(await stateOf(reported)).toMatchObject({ userId: 'user-1' });
  });

  test('drops what is not about the order’s appointment', async () => {
    const appointment = await life(reading());
    for (const odd of [undefined, { ...confirmed, orderId: '00000000-0000-4000-8000-00000000000b' }]) {
      await appointment.signal('appointmentChanged', odd);
    }
    const dropped = 'error: a signal was dropped: it has no snapshot of this order’s appointment';
    expect(appointment.run.logged).toEqual([dropped, dropped]);
    expect(await stateOf(appointment)).toMatchObject({ phase: 'awaiting_choice' });
    await appointment.signal('appointmentChanged', { ...confirmed, orderId: orderId.toUpperCase() });
    expect(appointment.events).toEqual(['0h appointment.phase_changed confirmed']);
  });

  test('with a long history goes on in a new one, which knows everything and asks for nothing again', async () => {
    const appointment = await life(reading(confirmed));
    appointment.run.suggestNewRun();
    await appointment.until(97);
    expect(appointment.events.slice(1)).toEqual(['96h continued']);
    expect(appointment.run.end).toMatchObject({ input: { orderId } });
    const next = await appointment.next({ readAppointment: reading(confirmed) });
    expect(next.calls).toEqual([]);
    const { events } = await next.until(22);
    expect(events).toEqual(['0h appointment.visit_reminder 1', '21h appointment.visit_reminder 2']);
  });
});

test('that is cancelled gives the appointment up; what is requested after that is another one, in a new run', async () => {
  const appointment = await life(reading(confirmed), {}, true, { notify: unavailable });
  await appointment.cancel();
  expect(await stateOf(appointment)).toMatchObject({ outcome: 'abandoned' });
  await appointment.signal('bookingRequested');
  expect(appointment.events.at(-1)).toBe('0h continued');
  expect(appointment.run.end).toMatchObject({ input: { carried: { requested: true } } });
  expect(appointment.run.end).not.toHaveProperty('input.carried.ending');
});

test('an appointment whose signal could not be decrypted is read at once, however long the service has been silent', async () => {
  const appointment = await (await life(reading(snapshot(['pending'])))).given({ readAppointment: unavailable }, 5);
  const { length } = readsOf(appointment);
  await appointment.signal('unreadable');
  expect(readsOf(appointment).slice(length)).toEqual([5 * 3600]);
});

test('that is cancelled and requested at once is requested', async () => {
  const appointment = await life(reading(confirmed), {}, true, { readAppointment: silent });
  await appointment.signal('appointmentChanged', { ...confirmed, events: [] });
  await appointment.run.cancel();
  await appointment.signal('bookingRequested');
  await appointment.given({ readAppointment: reading(confirmed) });
  expect(appointment.events.at(-1)).toBe('0h continued');
  expect(appointment.run.end).not.toHaveProperty('input.carried.ending');
});

describe('what is there already', () => {
  const earlier = {
    ...{ version: 1, orderId, phase: 'unresolved', outcome: 'unresolved', waiting: { for: 'nothing' }, timeline: [] },
    ...{ policy: policyOf('appointment', { visitReminders: ['10h'] }), attention: [], announced: [] as string[] },
  };
  const found = (previous?: object, shown: object | null = reading(confirmed)) => ({
    identifyAppointment: { notifies: true, ...(previous && { previous }), ...(shown && { reading: shown }) },
  });

  test('is announced once, also by the run after the one that announced it', async () => {
    const announced = (await life(reading(confirmed))).announced.map(({ id }) => id);
    const again = await life(reading(confirmed), {}, false, found({ ...earlier, announced }));
    expect(again.events).toEqual([]);
    expect((await again.until(119)).events).toEqual(['110h appointment.visit_reminder 1']);
    const requested = await life(reading(confirmed), {}, true, found({ ...earlier, announced }));
    expect((await requested.until(97)).events).toEqual(['96h appointment.visit_reminder 1']);
  });

  test('ends as before without another announcement, if the appointment is the same', async () => {
    const gone = { ...confirmed, status: 'cancelled' };
    const appointment = { appointmentId: 'appointment-1', status: 'cancelled' };
    const without = { ...earlier, outcome: 'cancelled' };
    const after = async (previous: object) =>
      (await life(reading(gone), {}, false, found(previous, reading(gone)))).events;
    expect(await after({ ...without, appointment })).toEqual(['0h completed']);
    expect(await after(without)).toEqual(['0h appointment.ended cancelled', '0h completed']);
  });

  test('and needed a person needs that person until it is answered', async () => {
    const since = new Date(start - day).toISOString();
    const attention = [{ reason: 'visit_overdue', since, time: 1 }];
    const previous = { ...earlier, attention, raised: { visit_overdue: 1 } };
    const completed = snapshot(['confirmed', 'completed']);
    const appointment = await life(reading(completed), {}, false, found(previous, reading(completed)));
    expect(appointment.events).toEqual([
      ...['0h appointment.attention_cleared visit_overdue', '0h appointment.ended completed', '0h completed'],
    ]);
  });

  test('is asked for again soon if the service does not answer', async () => {
    const answers = { ...found(undefined, null), readAppointment: reading(cancelled) };
    const appointment = await madeElsewhere(answers);
    await appointment.signal('appointmentChanged', { ...confirmed, events: [] });
    // What cannot be put in order is not asked at once while the service is silent.
    expect(readsOf(appointment)).toEqual([]);
    await appointment.until(3);
    expect(readsOf(appointment)).toEqual([7200]);
    expect(appointment.events.at(-1)).toBe('2h completed');
  });
});

describe('a visit at a service centre', () => {
  const hidden = { ...reading(), isHidden: true };
  const unordered = { ...walkIn, status: 'in_progress', events: [] };

  test('that only webhooks report is what they reported last', async () => {
    const appointment = await life({ ...reading(walkIn), isHidden: true }, {}, false);
    await appointment.given({ readAppointment: hidden }, 30);
    expect(await stateOf(appointment)).toMatchObject({ phase: 'confirmed' });
    // Which of the two is the later one nobody can say.
    await appointment.signal('appointmentChanged', unordered);
    expect(appointment.events.at(-1)).toBe('30h appointment.phase_changed in_progress');
  });

  test('is what the service showed, whatever was reported before that could not be put in order', async () => {
    const appointment = await life(reading(walkIn));
    await report(appointment, walkIn);
    await appointment.signal('appointmentChanged', unordered);
    await appointment.given({ readAppointment: hidden }, 30);
    expect(await stateOf(appointment)).toMatchObject({ phase: 'confirmed' });
    const meanwhile = await life(reading(walkIn), {}, true, { readAppointment: silent });
    await meanwhile.signal('appointmentChanged', unordered);
    await meanwhile.signal('appointmentChanged', { ...unordered, canReschedule: true });
    const reads = [reading(walkIn)];
    await meanwhile.given({ readAppointment: () => reads.shift() ?? hidden });
    expect(await stateOf(meanwhile)).toMatchObject({ phase: 'in_progress' });
  });

  const drawn = snapshot(['confirmed', 'completed']);
  const gone = snapshot(['confirmed', 'cancelled']);
  test.each<[string, AppointmentSnapshot | undefined, string, string | undefined, boolean?]>([
    ['before it, whose order is collected, was the draw', walkIn, 'collected', 'completed'],
    ['that was over, whose order is collected, was the draw', drawn, 'collected', 'completed'],
    ['at home, whose order was cancelled, takes place no more', confirmed, 'cancelled', 'order_ended'],
    ['at a centre, whose order was cancelled, is still to be cancelled', walkIn, 'cancelled', undefined],
    ['that nobody has chosen yet, of an order that was cancelled, is over', undefined, 'cancelled', 'order_ended'],
    ['that was made although the order needs none is followed', confirmed, 'no_appointment', undefined],
    ['that was cancelled, of an order that needs none, is over', gone, 'no_appointment', 'order_ended'],
    ['that nobody requested, of an order without need, ends as reported', gone, 'no_appointment', 'cancelled', false],
    ['of an order without one has nothing to arrange', undefined, 'no_appointment', 'order_ended'],
  ])('%s', async (_what, shown, order, outcome, isRequested) => {
    const { run } = await life(reading(shown, order), {}, isRequested);
    expect((run.end as { result?: { outcome: string } } | undefined)?.result?.outcome).toBe(outcome);
  });

  test('that is over when its order was cancelled is over', async () => {
    const appointment = await life(until(120, reading(walkIn), reading(walkIn, 'cancelled')));
    await appointment.until(119);
    await appointment.signal('appointmentChanged', { ...walkIn, events: [] });
    expect(appointment.run.end).toBeUndefined();
    await appointment.until(120);
    await appointment.signal('appointmentChanged', { ...walkIn, canReschedule: true, events: [] });
    expect(appointment.events.slice(-2)).toEqual(['120h appointment.ended order_ended', '120h completed']);
  });
});

test('a read while a webhook comes may be older than it: what is unclear is asked again', async () => {
  const appointment = await life(reading(confirmed), {}, true, { readAppointment: silent });
  await appointment.signal('appointmentChanged', { ...confirmed, status: 'in_progress', events: [] });
  await appointment.signal('appointmentChanged', { ...confirmed, canReschedule: true, events: [] });
  await appointment.given({ readAppointment: reading(snapshot(['pending', 'confirmed', 'in_progress'])) });
  expect(readsOf(appointment)).toEqual([0, 0]);
  expect(appointment.events.at(-1)).toBe('0h appointment.phase_changed in_progress');
});

test('an order that is found again is known again: what was said of it before does not count later', async () => {
  const appointment = await life(reading(undefined, 'gone'), { choiceReminders: ['30m', '35m'] });
  appointment.answers['readAppointment'] = (now: number) => {
    const minutes = (now - start) / 60_000;
    return minutes < 20 ? reading() : minutes < 33 ? reading(undefined, 'gone') : reading();
  };
  await appointment.until(2);
  expect(appointment.run.end).toBeUndefined();
  expect(readsOf(appointment)).toEqual([600, 1800, 2100]);
});

test('a service that cannot be read is a warning in the log', async () => {
  const appointment = await life(until(1, reading(), unavailable));
  await appointment.until(25);
  expect(appointment.run.logged).toEqual(['warn: appointment could not be read']);
});
