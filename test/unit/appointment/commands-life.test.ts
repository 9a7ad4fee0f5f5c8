import { describe, expect, test } from 'vitest';
import type { AppointmentState } from '../../../protocol/appointment/messages.js';
import type { AppointmentPolicy } from '../../../protocol/appointment/policy.js';
import { slotIdOf } from '../../../protocol/appointment/slots.js';
import type { AppointmentSnapshot } from '../../../service/appointment/snapshot.js';
import { silent, unavailable, type Answers, type Life } from '../life.js';
import { day, hour, snapshot, start, life, orderId, reading, report } from './appointments.js';

/* The lives of appointments through their commands: what is asked of the service, and what the caller is answered. */

const at = (span: number) => new Date(start + span).toISOString();
const slotAt = (span: number, site?: string) =>
  slotIdOf({ day: at(span).slice(0, 10), start: at(span), end: at(span + hour), ...(site !== undefined && { site }) });
const atHome = slotAt(5 * day);
const atCentre = slotAt(5 * day, 'PSC1');
const later = slotAt(6 * day);
const laterAtCentre = slotAt(6 * day, 'PSC2');

const walkInType = 'patient_service_center';
const confirmed = snapshot(['pending', 'confirmed']);
const moved = snapshot(['pending', 'confirmed', 'confirmed'], { startAt: at(6 * day), endAt: at(6 * day + hour) });
const cancelled = snapshot(['pending', 'confirmed', 'cancelled']);
const walkIn = { ...confirmed, type: walkInType };
const other = snapshot(['confirmed'], { appointmentId: 'appointment-2', from: day });
const lost = { failure: { type: 'AnswerLost', isFinal: false } };

/** An appointment that the product requested; the service shows what is known, unless the answers say otherwise. */
const begin = (known: AppointmentSnapshot | undefined, given: Answers, policy?: AppointmentPolicy): Promise<Life> =>
  life(reading(known), policy, true, given);

const choose = async (of: Life, slotId: string) => of.update('chooseSlot', { slotId });
const move = async (of: Life, slotId: string) => of.update('reschedule', { slotId });
const valueOf = async (reply: Promise<unknown>) => ((await reply) as { value?: AppointmentState }).value;
const refusalOf = async (reply: Promise<unknown>) => ((await reply) as { refused?: string } | undefined)?.refused;
const stateOf = async ({ run }: Life) => (await run.query('state')) as AppointmentState;
const readsOf = (of: Life) => of.secondsOf('readAppointment');
const refusing = (type: string) => ({ failure: { type } });
/** A webhook that only the service can put in order. */
const reportUnclear = (of: Life) => of.signal('appointmentChanged', { ...confirmed, canReschedule: true, events: [] });

/** A choice whose booking was not answered. */
async function booking(): Promise<Life> {
  const of = await begin(undefined, { bookSlot: lost });
  await choose(of, atHome);
  return of;
}

const slots = { slots: [] };

test.each([
  [{ startDate: '2024-03-05', zipCode: '10001', radius: 25 }, 'slots at service centres'],
  [{ siteCodes: ['PSC1'] }, 'slots at service centres'],
  [{ radius: 50 }, 'slots near the order’s address'],
  [undefined, 'slots near the order’s address'],
])(
  'a search for slots asks for what the caller asks for, %j, and is called %s in the Web UI',
  async (question, summary) => {
    const of = await begin(undefined, { findSlots: slots });
    expect(await of.update('findSlots', question)).toEqual({ name: 'findSlots', value: slots });
    expect(of.argumentsOf('findSlots')).toEqual([{ orderId, ...question }]);
    expect(of.run.summaries.at(-1)).toBe(summary);
  },
);

test('a search for slots shows that somebody means to choose', async () => {
  const of = await life(reading(confirmed), {}, false, { findSlots: slots });
  await of.update('findSlots');
  await report(of, cancelled);
  expect(of.events.at(-1)).toBe('0h appointment.choice_needed cancelled');
});

test('what a message makes due during a command is done when the timer for it has fired: a replay may handle the message later', async () => {
  const policy: AppointmentPolicy = { confirmationWait: '10m', firstPoll: '1d', longestPoll: '1d' };
  const of = await begin(undefined, { bookSlot: silent }, policy);
  await choose(of, atHome);
  await report(of, snapshot(['pending']));
  await of.until(1);
  const { length } = of.calls;
  await of.given({ bookSlot: snapshot(['pending']), readAppointment: reading(snapshot(['pending'])) });
  expect(of.calls.slice(length)).toEqual(['1h bookSlot']);
  await of.until(1.0001);
  expect(of.calls.slice(length + 1)).toEqual(['1h readAppointment']);
  expect(of.events.at(-1)).toBe('1h appointment.attention_raised confirmation_overdue');
});

test('what a command waits for makes nothing else due that no timer has fired for', async () => {
  const pauses = { firstPoll: '1d', longestPoll: '1d' } as const;
  const policy: AppointmentPolicy = { bookingTimeout: '2m', confirmationWait: '1m', ...pauses };
  const of = await begin(undefined, { bookSlot: lost, rescheduleAppointment: silent }, policy);
  await choose(of, atHome);
  await move(of, later);
  await of.until(10 / 3600);
  await report(of, snapshot(['pending']));
  await of.given({ readAppointment: reading(snapshot(['pending'])) }, 180 / 3600);
  expect(readsOf(of)).toEqual([180]);
  await of.given({ rescheduleAppointment: snapshot(['pending']) });
  expect(readsOf(of)).toEqual([180]);
  await of.until(1);
  expect(readsOf(of)).toEqual([180, 180.001]);
});

test.each<[string, object]>([
  ['findSlots', { startDate: 'soon' }],
  ['chooseSlot', { slotId: 'any' }],
  ['requestAppointment', { provider: '' }],
  ['reschedule', { slotId: 'any' }],
  ['cancel', { rebook: 1 }],
])('%s of something odd is refused before it is in the history', async (name, argument) => {
  const of = await begin(undefined, {});
  expect(await refusalOf(of.update(name, argument))).toBe('InvalidCommand');
  expect(of.run.accepted).toEqual([]);
  expect(of.calls).toEqual(['0h identifyAppointment']);
});

describe('a choice', () => {
  test('books the slot, and is not announced to the product that made it', async () => {
    const of = await begin(undefined, { bookSlot: confirmed });
    const state = await valueOf(choose(of, atHome));
    expect(state).toMatchObject({ phase: 'confirmed', appointment: { appointmentId: 'appointment-1' } });
    expect(of.argumentsOf('bookSlot')).toEqual([{ orderId, slotId: atHome, bookingTimeout: 30_000 }]);
    expect(of.run.shown.attributes).toMatchObject({ LabPhase: 'confirmed', LabOrderId: [orderId] });
    expect(readsOf(await of.until(1))).toEqual([]);
  });

  const withKey = { idempotencyKey: expect.stringMatching(/^[\da-f-]{36}$/) as string };
  test.each<[string, AppointmentSnapshot, AppointmentPolicy, { slotId: string; notes?: string }, object]>([
    [
      'with its notes if the policy says so',
      confirmed,
      { confirmation: 'later' },
      { slotId: atHome, notes: 'Dog' },
      {},
    ],
    ['at a service centre, and has a key of its own', walkIn, {}, { slotId: atCentre }, withKey],
  ])('is sent with the time to confirm it later %s', async (_when, bookSlot, policy, choice, key) => {
    const of = await begin(undefined, { bookSlot }, policy);
    const state = await valueOf(of.update('chooseSlot', choice));
    expect(state?.appointment?.siteCode).toBe(choice.slotId === atCentre ? 'PSC1' : undefined);
    const call = { orderId, ...choice, bookingTimeout: 30_000, confirmWithin: 2 * day, ...key };
    expect(of.argumentsOf('bookSlot')).toEqual([call]);
  });

  test('that is repeated is one booking; another slot is refused, and so is the hour at another centre', async () => {
    const of = await begin(undefined, { bookSlot: walkIn });
    await choose(of, atCentre);
    expect(await valueOf(choose(of, atCentre))).toMatchObject({ phase: 'confirmed' });
    for (const slotId of [later, slotAt(5 * day, 'PSC2'), atHome]) {
      expect(await refusalOf(choose(of, slotId))).toBe('AppointmentExists');
    }
    expect(of.argumentsOf('bookSlot')).toHaveLength(1);
  });

  test('of the hour of an appointment that was made elsewhere is that appointment, wherever that is', async () => {
    const of = await begin(walkIn, {});
    expect(await valueOf(choose(of, atCentre))).toMatchObject({ phase: 'confirmed' });
    expect(await refusalOf(choose(of, laterAtCentre))).toBe('AppointmentExists');
    expect(of.calls).toEqual(['0h identifyAppointment']);
  });
});

describe('a booking that is not answered', () => {
  const doubtful = [
    ...['AnswerLost', 'AnswerUnreadable', 'ServiceUnavailable', 'AttemptOutdated', 'ServiceUnreachable'],
    'TooManyRequests',
  ];

  test.each<[string, object]>([
    ...doubtful.map((type): [string, object] => [type, { failure: { type, isFinal: false } }]),
    ['CommandTimedOut', { failure: { ended: 'worker_lost' } }],
  ])('(%s) is read once the service cannot be at work any more', async (type, bookSlot) => {
    const of = await begin(undefined, { bookSlot });
    expect(await refusalOf(choose(of, atHome))).toBe(type);
    expect(of.run.shown.details).toContain('A booking was not answered');
    await of.given({ readAppointment: reading(confirmed) }, 2);
    expect(readsOf(of)).toEqual([45]);
    expect(of.events).toEqual(['0.013h appointment.phase_changed confirmed']);
  });

  const certain = ['BookingRefused', 'SlotUnavailable', 'Unauthorized', 'PlacingStopped'];
  test.each(certain)('(%s) is not in doubt, and is made when it is sent again', async (type) => {
    const of = await begin(undefined, { bookSlot: refusing(type) });
    expect(await refusalOf(choose(of, atHome))).toBe(type);
    expect(of.run.shown.details).not.toContain('A booking was not answered');
    expect(readsOf(await of.until(2))).toEqual([]);
    of.answers['bookSlot'] = confirmed;
    expect(await valueOf(choose(of, atHome))).toMatchObject({ phase: 'confirmed' });
    expect(of.argumentsOf('bookSlot')).toHaveLength(2);
  });

  test('is in doubt until then whatever is read before', async () => {
    const of = await begin(confirmed, { rescheduleAppointment: lost });
    await move(of, later);
    await of.until(10 / 3600);
    await reportUnclear(of);
    await of.given({ readAppointment: reading(moved) }, 0.1);
    expect(readsOf(of)).toEqual([10, 45]);
    expect(await stateOf(of)).toMatchObject({ appointment: { startAt: at(6 * day) } });
  });

  test.each([
    ['chooseSlot', { slotId: later }, 'bookSlot', moved],
    ['requestAppointment', { provider: 'lab' }, 'requestAppointment', moved],
    ['reschedule', { slotId: later }, 'rescheduleAppointment', moved],
    ['cancel', {}, 'cancelAppointment', cancelled],
  ])('holds up the next command until then, which is read first: %s', async (name, argument, activity, answer) => {
    const of = await booking();
    const isMoving = name === 'reschedule' || name === 'cancel';
    await of.given({ [activity]: answer, ...(isMoving && { readAppointment: reading(confirmed) }) }, 10 / 3600);
    await of.update(name, argument);
    expect(of.calls.at(-1)).not.toContain('readAppointment');
    await of.until(1);
    expect(readsOf(of)).toEqual([45]);
    expect(of.secondsOf(activity).at(-1)).toBe(45);
    expect(of.run.replies.at(-1)).toMatchObject({ name, value: { orderId } });
  });

  test('is still in doubt if the service cannot be read, which the caller learns', async () => {
    const of = await (await booking()).given({ readAppointment: unavailable }, 0.5);
    expect(await refusalOf(choose(of, atHome))).toBe('ServiceUnavailable');
    expect(of.secondsOf('bookSlot')).toEqual([0]);
    // After three reads that said nothing new the pause has doubled three times.
    expect(readsOf(await of.until(10))).toEqual([45, 1800, 1800 + 8 * 3600]);
  });

  test.each([
    ['is over once its order is', 'collected', 'AppointmentEnded', ['0.013h completed']],
    ['is not known yet while the service does not find the order', 'gone', 'ServiceUnavailable', []],
  ])('%s', async (_what, order, refused, end) => {
    const of = await (await booking()).given({ readAppointment: reading(undefined, order) });
    await choose(of, atHome);
    await of.until(0.1);
    expect(of.run.replies.at(-1)).toEqual({ name: 'chooseSlot', refused });
    expect(of.events.slice(-1)).toEqual(end);
  });
});

describe('while a booking may still be carried out', () => {
  /** The choice is made so many seconds before nobody may choose any more. */
  const wait = 14 * 24 * 3600;
  const far = snapshot(['confirmed'], { startAt: at(20 * day), endAt: at(20 * day + hour), from: 14 * day });

  test.each([
    [40, 7],
    [20, -5],
    [1, 0],
  ])('a wait for a choice does not end: one made %d s before has no answer %d s after it', async (before, after) => {
    const of = await begin(undefined, { bookSlot: silent });
    await of.until((wait - before) / 3600);
    await choose(of, slotAt(20 * day));
    await of.until((wait + after) / 3600);
    const isShown = (now: number) => now >= start + (wait + after + 30) * 1000;
    await of.given({ bookSlot: lost, readAppointment: (now: number) => reading(isShown(now) ? far : undefined) });
    expect(of.run.replies.at(-1)).toMatchObject({ refused: 'AnswerLost' });
    await of.until((wait + 600) / 3600);
    expect(await stateOf(of)).toMatchObject({ phase: 'confirmed' });
    expect(of.events.join()).not.toContain('ended');
  });

  test('nothing is given up however long the service is silent; then the wait ends', async () => {
    const of = await begin(undefined, { bookSlot: lost });
    await of.until((wait - 10) / 3600);
    await of.given({ readAppointment: unavailable });
    await choose(of, slotAt(20 * day));
    await of.until(wait / 3600 + 100);
    expect(of.run.end).toBeUndefined();
    await of.given({ readAppointment: reading() }, wait / 3600 + 200);
    expect(of.run.end).toMatchObject({ result: { outcome: 'expired' } });
  });

  test.each([
    ['completed', reading(snapshot(['pending', 'confirmed', 'completed'])), 'completed'],
    ['collected', reading(undefined, 'collected'), 'order_ended'],
    ['cancelled', reading(undefined, 'cancelled'), 'order_ended'],
  ])('nothing ends before that, whatever is read (%s)', async (_what, shown, outcome) => {
    const of = await begin(confirmed, { rescheduleAppointment: lost });
    await move(of, later);
    await of.given({ readAppointment: shown }, 10 / 3600);
    await reportUnclear(of);
    await of.until(40 / 3600);
    expect(of.run.end).toBeUndefined();
    await of.until(1);
    expect(of.run.end).toMatchObject({ result: { outcome } });
    expect(readsOf(of).slice(0, 2)).toEqual([10, 45]);
  });

  test('an operator ends it, and the next run waits until then before it books', async () => {
    const of = await booking();
    await of.cancel();
    const { result } = of.run.end as { result: object };
    expect(result).toMatchObject({ outcome: 'abandoned', doubtUntil: at(45_000) });
    const identifyAppointment = { notifies: true, previous: result, reading: reading() };
    const shown = { identifyAppointment, readAppointment: reading(confirmed) };
    const next = await begin(undefined, { ...shown, bookSlot: confirmed });
    await choose(next, atHome);
    await next.until(1);
    expect(next.run.replies.at(-1)).toMatchObject({ value: { phase: 'confirmed' } });
    expect(readsOf(next)).toEqual([45]);
    expect(next.argumentsOf('bookSlot')).toEqual([]);
  });
});

const { startAt: _startAt, endAt: _endAt, ...timeless } = snapshot(['pending'], { provider: 'lab' });
test.each<[string, object, AppointmentSnapshot, AppointmentSnapshot, object, number]>([
  ['chooseSlot', { slotId: atHome }, confirmed, cancelled, { value: { orderId } }, 1],
  ['reschedule', { slotId: atHome }, confirmed, cancelled, { refused: 'NothingBooked' }, 0],
  ['requestAppointment', { provider: 'lab' }, timeless, timeless, { value: { orderId } }, 0],
])('what only a webhook has reported, perhaps long ago, acknowledges no %s before it is read', async (...given) => {
  const [name, argument, webhook, shown, reply, sent] = given;
  const of = await begin(undefined, { bookSlot: confirmed });
  await of.signal('appointmentChanged', webhook);
  of.answers['readAppointment'] = unavailable;
  expect(await refusalOf(of.update(name, argument))).toBe('ServiceUnavailable');
  of.answers['readAppointment'] = reading(shown);
  expect(await of.update(name, argument)).toMatchObject(reply);
  expect(of.argumentsOf('bookSlot', 'rescheduleAppointment', 'requestAppointment')).toHaveLength(sent);
});

describe('the key of a choice at a service centre', () => {
  const sentIn = (of: Life) => of.argumentsOf('bookSlot') as { idempotencyKey: string; isRepeated?: true }[];
  const keysOf = (of: Life) => sentIn(of).map(({ idempotencyKey }) => idempotencyKey);
  const repeatsOf = (of: Life) => sentIn(of).map(({ isRepeated = false }) => isRepeated);

  test('is the same until it is known what came of it, then never again', async () => {
    const answers = [lost, refusing('Unauthorized'), walkIn, walkIn];
    const cancelAppointment = { ...cancelled, type: walkInType };
    const readAppointment = reading();
    const given = { bookSlot: () => answers.shift(), cancelAppointment, readAppointment };
    const of = await begin(undefined, given);
    for (let time = 0; time < 3; time += 1) {
      await choose(of, atCentre);
      await of.until(time + 1);
    }
    await of.update('cancel', { rebook: true });
    await choose(of, atCentre);
    const [first, second, third, fourth] = keysOf(of);
    expect([second, third]).toEqual([first, first]);
    expect(fourth).not.toBe(first);
    expect(repeatsOf(of)).toEqual([false, true, true, false]);
  });

  test('is another one for another slot', async () => {
    const of = await begin(undefined, { bookSlot: refusing('Unauthorized') });
    await choose(of, atCentre);
    await choose(of, laterAtCentre);
    expect(new Set(keysOf(of)).size).toBe(2);
    expect(repeatsOf(of)).toEqual([false, false]);
  });

  const known = ['BookingRefused', 'RescheduleRefused', 'SlotUnavailable', 'BookingKeyExpired', 'AppointmentExists'];
  test.each<[string, object]>([
    ...[...known, 'NothingBooked'].map((type): [string, object] => [type, refusing(type)]),
    ['an answer that nobody can read', { odd: true }],
  ])('is not used again after %s', async (_what, bookSlot) => {
    const of = await begin(undefined, { bookSlot });
    await choose(of, atCentre);
    await choose(of, atCentre);
    expect(new Set(keysOf(of)).size).toBe(2);
  });

  test('is forgotten with the appointment that is given up', async () => {
    const of = await begin(undefined, { bookSlot: refusing('Unauthorized'), notify: unavailable });
    await choose(of, atCentre);
    await of.update('cancel', {});
    await of.signal('bookingRequested', {});
    await choose(of, atCentre);
    expect(new Set(keysOf(of)).size).toBe(2);
  });
});

test.each(['AppointmentExists', 'NothingBooked'])('what a refusal (%s) contradicts is read', async (type) => {
  const of = await begin(undefined, { bookSlot: refusing(type), readAppointment: reading(confirmed) });
  await choose(of, atHome);
  expect(readsOf(of)).toEqual([0]);
  expect(await stateOf(of)).toMatchObject({ phase: 'confirmed' });
});

describe('a provider', () => {
  const timeless = { startAt: undefined as never };
  const ask = (of: Life, provider: string, more: object = {}) => of.update('requestAppointment', { provider, ...more });

  test('is asked for an appointment, whose time it names later', async () => {
    const of = await begin(undefined, { requestAppointment: snapshot(['pending'], timeless) });
    const state = await valueOf(ask(of, 'lab', { notes: 'Ring twice' }));
    expect(state).toMatchObject({ phase: 'awaiting_confirmation' });
    const call = { orderId, provider: 'lab', notes: 'Ring twice', bookingTimeout: 30_000 };
    expect(of.argumentsOf('requestAppointment')).toEqual([call]);
    expect(await refusalOf(ask(of, 'lab'))).toBe('AppointmentExists');
    expect(of.argumentsOf('requestAppointment')).toHaveLength(1);
  });

  test.each(['Lab', 'lab'])('is asked once, in whatever letter case the service names it: %s', async (provider) => {
    const requestAppointment = snapshot(['pending'], { ...timeless, provider });
    const of = await begin(undefined, { requestAppointment });
    for (const spelling of ['Lab', 'lab']) {
      expect(await valueOf(ask(of, spelling))).toMatchObject({ phase: 'awaiting_confirmation' });
    }
    expect(of.argumentsOf('requestAppointment')).toEqual([{ orderId, provider: 'Lab', bookingTimeout: 30_000 }]);
    expect(await refusalOf(ask(of, 'another'))).toBe('AppointmentExists');
    await report(of, snapshot(['pending'], { provider }));
    expect(await refusalOf(ask(of, 'lab'))).toBe('AppointmentExists');
  });
});

test.each<[string, AppointmentSnapshot, { slotId: string; notes?: string }, object]>([
  ['at home, with its notes', confirmed, { slotId: later, notes: 'Ring twice' }, {}],
  ['at another centre, which is shown, without notes', walkIn, { slotId: laterAtCentre }, { siteCode: 'PSC2' }],
])('a move goes to another slot %s, once', async (_where, known, to, shown) => {
  const of = await begin(known, { rescheduleAppointment: { ...moved, type: known.type as string } });
  const state = await valueOf(of.update('reschedule', to));
  expect(state).toMatchObject({ phase: 'confirmed', appointment: { startAt: at(6 * day), ...shown } });
  expect(await valueOf(move(of, to.slotId))).toMatchObject({ phase: 'confirmed' });
  const call = { orderId, appointmentId: 'appointment-1', ...to, bookingTimeout: 30_000 };
  expect(of.argumentsOf('rescheduleAppointment')).toEqual([call]);
});

test('a move needs an appointment, and one at another time', async () => {
  const of = await begin(undefined, { bookSlot: walkIn });
  expect(await refusalOf(move(of, later))).toBe('NothingBooked');
  await choose(of, atCentre);
  expect(await refusalOf(move(of, slotAt(5 * day, 'PSC2')))).toBe('RescheduleRefused');
  expect(of.argumentsOf('rescheduleAppointment')).toEqual([]);
});

describe('a cancellation', () => {
  const drawn = snapshot(['pending', 'confirmed', 'in_progress', 'completed']);
  const otherCancelled = snapshot(['confirmed', 'cancelled'], { appointmentId: 'appointment-2', from: day });
  const call = { orderId, appointmentId: 'appointment-1' };
  const cancel = (of: Life, given?: object) => of.update('cancel', given);

  test('cancels the appointment, says so once, and whether it is refunded', async () => {
    const of = await begin(confirmed, { cancelAppointment: cancelled });
    const state = await valueOf(cancel(of, { reasonId: 'r-1', notes: 'ill' }));
    expect(state).toMatchObject({ outcome: 'cancelled', appointment: { refundable: true } });
    expect(of.argumentsOf('cancelAppointment')).toEqual([{ ...call, reasonId: 'r-1', notes: 'ill' }]);
    expect(of.events.slice(1)).toEqual(['0h appointment.ended cancelled', '0h completed']);
    expect(of.run.shown.details).not.toContain('too late');
  });

  test('to choose again names the appointment in the next booking; one that is shown open all the same may fall again, which is news', async () => {
    const of = await begin(confirmed, { cancelAppointment: { ...cancelled, events: [] }, bookSlot: lost });
    await cancel(of, { rebook: true });
    await choose(of, later);
    expect(of.argumentsOf('bookSlot')).toMatchObject([{ cancelledId: 'appointment-1' }]);
    await of.given({ readAppointment: reading(confirmed) }, 0.1);
    expect(await stateOf(of)).toMatchObject({ phase: 'confirmed' });
    await report(of, cancelled);
    expect(of.events.at(-1)).toBe('0.1h appointment.choice_needed cancelled');
  });

  test('to choose again is not news either if a read within a minute still shows the appointment', async () => {
    const of = await begin(confirmed, { cancelAppointment: { ...cancelled, events: [] } });
    await cancel(of, { rebook: true });
    await reportUnclear(of);
    expect(await stateOf(of)).toMatchObject({ phase: 'awaiting_choice' });
    await report(of, cancelled);
    await of.given({ readAppointment: reading(cancelled) }, 1);
    expect(of.events.join()).not.toContain('choice_needed');
  });

  test('is not undone in the next run by a read that is older, but an appointment that stands a minute later is in the way', async () => {
    const of = await begin(confirmed, { cancelAppointment: cancelled });
    await cancel(of, {});
    const { result: previous } = of.run.end as { result: object };
    const answers = { identifyAppointment: { notifies: true, previous, reading: reading(confirmed) } };
    const next = await begin(confirmed, { ...answers, bookSlot: lost });
    expect(await refusalOf(choose(next, atHome))).toBe('AnswerLost');
    expect(next.argumentsOf('bookSlot')).toMatchObject([{ cancelledId: 'appointment-1' }]);
    expect(await stateOf(next)).toMatchObject({ phase: 'awaiting_choice' });
    await next.until(1);
    expect(await stateOf(next)).toMatchObject({ phase: 'confirmed' });

    const later = await begin(undefined, { cancelAppointment: cancelled, bookSlot: lost, readAppointment: reading() });
    await report(later, confirmed);
    await cancel(later, { rebook: true });
    await later.until(1);
    await choose(later, atHome);
    expect(later.argumentsOf('bookSlot')).not.toMatchObject([{ cancelledId: 'appointment-1' }]);
  });

  test.each([0, 1])('a day before the visit or less (%i h) is not refunded', async (hours) => {
    const soon = { startAt: at(day), endAt: at(day + hour) };
    const cancelAppointment = snapshot(['confirmed', 'cancelled'], soon);
    const of = await begin(snapshot(['confirmed'], soon), { cancelAppointment });
    await of.until(hours);
    expect(await of.run.query('state')).toMatchObject({ appointment: { refundableUntil: at(0) } });
    expect(await valueOf(cancel(of))).toMatchObject({ appointment: { refundable: false } });
    expect(of.run.shown.details).toContain('Cancelled too late for a refund');
  });

  test.each([
    ['at a service centre names the type, and says nothing of a refund', walkInType, { type: walkInType }, {}],
    ['at home leaves the type out', 'phlebotomy', {}, { refundable: true }],
  ])('%s', async (_what, type, named, refund) => {
    const of = await begin({ ...confirmed, type }, { cancelAppointment: { ...cancelled, type } });
    const { refundable } = (await valueOf(cancel(of, {})))?.appointment ?? {};
    expect(of.argumentsOf('cancelAppointment')).toEqual([{ ...call, ...named }]);
    expect(refundable === undefined ? {} : { refundable }).toEqual(refund);
  });

  test.each([
    ['the appointment as it was', confirmed],
    ['an older state of it', snapshot(['pending'])],
    ['fewer events than it had reported', { ...cancelled, events: cancelled.events.slice(-1) }],
  ])('counts though the service answers with %s', async (_what, cancelAppointment) => {
    const of = await begin(confirmed, { cancelAppointment });
    expect(await valueOf(cancel(of))).toMatchObject({ outcome: 'cancelled', appointment: { status: 'cancelled' } });
  });

  test('counts though a move was reported before its answer, which shows the appointment as it was', async () => {
    const of = await begin(confirmed, { cancelAppointment: silent });
    await cancel(of);
    await report(of, moved);
    await of.given({ cancelAppointment: confirmed });
    expect(of.run.replies).toMatchObject([{ value: { outcome: 'cancelled' } }]);
  });

  test('whose webhook is faster than its answer is not news', async () => {
    const of = await begin(confirmed, { cancelAppointment: silent });
    await cancel(of, { rebook: true });
    await report(of, cancelled);
    await of.given({ cancelAppointment: cancelled });
    expect(of.run.replies.at(-1)).toMatchObject({ value: { phase: 'awaiting_choice' } });
    expect((await of.until(1)).events).toHaveLength(1);
  });

  test('that a late confirmation follows does not hide the next one: another choice is requested again', async () => {
    const pending = snapshot(['pending']);
    const of = await begin(pending, { cancelAppointment: { ...pending, status: 'cancelled' } });
    await cancel(of, { rebook: true });
    for (const late of [confirmed, cancelled]) await report(of, late);
    expect(of.events.slice(-2)).toEqual([
      '0h appointment.phase_changed confirmed',
      '0h appointment.choice_needed cancelled',
    ]);
  });

  test('has the same answer again, at the same time and until its end is delivered; any other command is refused then', async () => {
    const of = await begin(confirmed, { cancelAppointment: silent, notify: unavailable });
    expect([await cancel(of), await cancel(of)]).toEqual([undefined, undefined]);
    await of.given({ cancelAppointment: cancelled, readAppointment: reading(cancelled) });
    for (const given of [{ rebook: false }, undefined]) await cancel(of, given);
    expect(of.run.replies).toMatchObject(Array(4).fill({ value: { outcome: 'cancelled' } }));
    expect(await refusalOf(cancel(of, { rebook: true }))).toBe('AppointmentEnded');
    expect(await refusalOf(of.update('requestAppointment', { provider: 'lab' }))).toBe('AppointmentEnded');
    expect(of.argumentsOf('cancelAppointment')).toHaveLength(1);
  });

  test('that chose the slot of an appointment that has ended has its answer again, and another choice is refused', async () => {
    const of = await begin(confirmed, { bookSlot: drawn });
    await of.until(121);
    of.answers['notify'] = silent;
    await report(of, drawn, 'collected');
    for (const name of ['chooseSlot', 'reschedule']) {
      expect(await valueOf(of.update(name, { slotId: atHome }))).toMatchObject({ outcome: 'completed' });
      expect(await refusalOf(of.update(name, { slotId: later }))).toBe('AppointmentEnded');
    }
    expect(of.argumentsOf('bookSlot')).toEqual([]);
  });

  test.each([
    ['counts as no request', false, '0h completed'],
    ['takes none back: a later one from elsewhere is news', true, '0h appointment.choice_needed cancelled'],
  ])('that the service refuses %s', async (_what, isRequested, last) => {
    const refuses = { cancelAppointment: refusing('CancellationRefused') };
    const of = await life(reading(confirmed), {}, isRequested, refuses);
    expect(await refusalOf(cancel(of))).toBe('CancellationRefused');
    await report(of, cancelled);
    expect(of.events.at(-1)).toBe(last);
  });

  test('that the service refuses changes nothing either if an earlier one was carried out', async () => {
    const answers = [cancelled, refusing('CancellationRefused')];
    const of = await begin(confirmed, { cancelAppointment: () => answers.shift(), bookSlot: other });
    await cancel(of, { rebook: true });
    await choose(of, atHome);
    await cancel(of);
    await report(of, otherCancelled);
    expect(of.events.at(-1)).toBe('0h appointment.choice_needed cancelled');
  });

  test.each([
    ['its answer', { cancelAppointment: drawn }],
    ['a read', { cancelAppointment: null, readAppointment: reading(drawn) }],
  ])('that comes after the blood draw, as %s shows, is refused, and the appointment is completed', async (_, shown) => {
    const of = await (await begin(confirmed, {})).until(100);
    await of.given(shown);
    expect(await refusalOf(cancel(of, { rebook: true }))).toBe('AppointmentEnded');
    expect(of.events.slice(-2)).toEqual(['100h appointment.ended completed', '100h completed']);
    expect(of.run.end).not.toHaveProperty('result.appointment.refundable');
  });

  test('ends the request: one that is made elsewhere before that is announced needs no choice', async () => {
    const of = await begin(confirmed, { cancelAppointment: cancelled, notify: unavailable });
    await cancel(of);
    await report(of, other);
    expect(await stateOf(of)).toMatchObject({ phase: 'confirmed' });
    await report(of, otherCancelled);
    expect(await stateOf(of)).toMatchObject({ outcome: 'cancelled' });
  });

  test.each([
    ['before its answer', {}, [other], cancelled],
    ['before its answer, to choose again', { rebook: true }, [other], cancelled],
    ['after its own webhook and before its answer', {}, [cancelled, other], cancelled],
    ['before the service answers with the appointment as it was', {}, [other], confirmed],
    ['and the first one is not there any more', {}, [other], null],
  ])('that another follows %s leaves that to the caller: cancelled again, it is that one', async (...given) => {
    const [, cancellation, webhooks, answer] = given;
    const second = { appointmentId: 'appointment-2' };
    const of = await begin(confirmed, { cancelAppointment: silent });
    await cancel(of, { ...cancellation, by: 'nurse-7' });
    for (const webhook of webhooks) await report(of, webhook);
    await of.given({ cancelAppointment: answer });
    expect(of.run.shown.details).toContain('Cancelled by the product, by `nurse-7`');
    expect(of.run.replies).toEqual([{ name: 'cancel', refused: 'AppointmentExists' }]);
    expect(await stateOf(of)).toMatchObject({ phase: 'confirmed', appointment: second });
    const status = 'cancelled';
    await of.given({ cancelAppointment: { ...other, status } });
    expect(await valueOf(cancel(of))).toMatchObject({ outcome: 'cancelled', appointment: { ...second, status } });
  });

  test('of nothing asks the service first, is refused without an answer, and cancels what was made without a report', async () => {
    const of = await begin(undefined, { cancelAppointment: cancelled, readAppointment: unavailable });
    expect(await refusalOf(cancel(of))).toBe('ServiceUnavailable');
    expect(of.events).toEqual([]);
    await of.given({ readAppointment: reading(confirmed) });
    expect(await valueOf(cancel(of))).toMatchObject({ outcome: 'cancelled' });
    expect(readsOf(of)).toEqual([0, 0]);
    expect(of.argumentsOf('cancelAppointment')).toHaveLength(1);
  });

  test('of nothing ends the waiting, unless it is to choose again', async () => {
    const of = await begin(undefined, { cancelAppointment: cancelled });
    expect(await refusalOf(cancel(of, { rebook: true }))).toBe('NothingBooked');
    expect(await valueOf(cancel(of, {}))).toMatchObject({ outcome: 'cancelled' });
    expect(of.argumentsOf('cancelAppointment')).toEqual([]);
    expect(of.events).toEqual(['0h appointment.ended cancelled', '0h completed']);
  });

  test('to choose again asks for another choice from then on', async () => {
    const of = await begin(confirmed, { cancelAppointment: cancelled });
    await of.until(10);
    const waiting = { until: at(10 * hour + 14 * day) };
    expect(await valueOf(cancel(of, { rebook: true }))).toMatchObject({ phase: 'awaiting_choice', waiting });
    expect((await of.until(1000)).events.slice(1, 3)).toEqual([
      ...['34h appointment.choice_reminder 1', '82h appointment.choice_reminder 2'],
    ]);
  });

  test.each([cancelled, undefined])(
    'to choose again is answered as before until the visit is another one: %j',
    async (shown) => {
      const of = await begin(confirmed, { cancelAppointment: shown ?? null, readAppointment: reading(shown) });
      for (let time = 0; time < 2; time += 1) {
        expect(await valueOf(cancel(of, { rebook: true }))).toMatchObject({ phase: 'awaiting_choice' });
      }
      expect(of.argumentsOf('cancelAppointment')).toHaveLength(1);
      await report(of, { ...cancelled, appointmentId: 'another' });
      expect(await refusalOf(cancel(of, { rebook: true }))).toBe('NothingBooked');
    },
  );

  test('of one that was made elsewhere, and then chosen again, is a request', async () => {
    const of = await life(reading(confirmed), {}, false, { cancelAppointment: cancelled });
    expect(await valueOf(cancel(of, { rebook: true }))).toMatchObject({ phase: 'awaiting_choice' });
    expect((await of.until(30)).events.at(-1)).toBe('24h appointment.choice_reminder 1');
  });
});

describe('an appointment that is not there any more when it is cancelled', () => {
  const second = { appointment: { appointmentId: 'appointment-2' } };

  test('is cancelled, and nothing else', async () => {
    const of = await begin(confirmed, { cancelAppointment: null, readAppointment: reading() });
    const state = await valueOf(of.update('cancel'));
    expect(state).toMatchObject({ outcome: 'cancelled' });
    expect(state).not.toHaveProperty('appointment');
    expect(readsOf(of)).toEqual([0]);
  });

  test('and whose place another one has taken meanwhile leaves that one as it is', async () => {
    const of = await begin(confirmed, { cancelAppointment: silent });
    await of.update('cancel');
    await of.signal('appointmentChanged', other);
    await of.given({ cancelAppointment: null, readAppointment: unavailable });
    expect(of.run.replies).toEqual([{ name: 'cancel', refused: 'ServiceUnavailable' }]);
    expect(await stateOf(of)).toMatchObject(second);
  });

  test('at a service centre, after its start, may have taken place: only the order can say so', async () => {
    const of = await begin(walkIn, { cancelAppointment: null });
    await of.until(121);
    await of.given({ readAppointment: reading() });
    expect(await refusalOf(of.update('cancel'))).toBe('CancellationRefused');
    await of.given({ readAppointment: reading(undefined, 'collected') });
    expect(await refusalOf(of.update('cancel'))).toBe('AppointmentEnded');
    expect(of.events.at(-1)).toBe('121h completed');
  });
});
