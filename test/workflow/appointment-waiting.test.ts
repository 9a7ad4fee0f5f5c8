import { describe, expect, test } from 'vitest';
import { SlotGone } from '../../client/appointments/errors.js';
import { ServiceDown } from '../../client/errors.js';
import { appointmentSnapshotOf } from '../../service/appointment-snapshot.js';
import { appointmentChangedSignal } from '../../workflows/appointment/messages.js';
import { appointmentPath, AVisit, bookPath, loseWebhooks } from './a-visit.js';
import { eventually } from '../rig/eventually.js';
import { eventsOf, textOf } from './recorded.js';
import { setStage } from './story.js';

/* What happens to an appointment while nobody does anything: silence, lost answers, lost and late webhooks. */

const stage = setStage();

describe('a booking that is confirmed later', () => {
  test('is pending until the webhook says more [226]', async () => {
    const visit = await AVisit.start(stage, { policy: { confirmation: 'later' } });
    await visit.chooses();
    await visit.shows({ phase: 'awaiting_confirmation', waiting: { for: 'the provider to confirm' } });
    await stage.sandbox.advanceClock('31m');
    await visit.shows({ phase: 'confirmed' });
    await visit.tells('phase_changed awaiting_confirmation', 'phase_changed confirmed');
    expect(await stage.countRequests('GET', `/v3/order/${visit.orderId}/phlebotomy/appointment`)).toBe(2);
  });

  test('whose webhook is lost is found confirmed by reading', async () => {
    const visit = await AVisit.start(stage, { policy: { confirmation: 'later' } });
    await visit.chooses();
    await loseWebhooks(stage);
    await stage.sandbox.advanceClock('31m');
    await stage.skip('2 hours');
    await visit.shows({ phase: 'confirmed' });
  });

  test('that the provider declines asks for another choice', async () => {
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'decline' });
    const visit = await AVisit.start(stage, { policy: { confirmation: 'later' } });
    await visit.chooses();
    await stage.sandbox.advanceClock('31m');
    await visit.shows({ phase: 'awaiting_choice' });
    await visit.tells('phase_changed awaiting_confirmation', 'choice_needed cancelled');
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'confirm' });
    await visit.chooses(3);
    await visit.shows({ phase: 'awaiting_confirmation' });
  });

  test('that nobody confirms asks for a person, and lapses when it was told to [226]', async () => {
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'never' });
    const policy = { confirmation: 'later', confirmationWait: '24h' } as const;
    const visit = await AVisit.start(stage, { policy });
    const { slots } = await visit.handle.slots();
    await loseWebhooks(stage);
    await visit.handle.choose({ slotId: slots.at(-1)?.id ?? '' });
    await stage.sandbox.addFault({
      ...{ method: 'GET', path: appointmentPath },
      action: { kind: 'answer', status: 200, body: await stage.service.appointments.get(visit.orderId) },
    });
    await stage.skip('25 hours');
    await visit.shows({ phase: 'awaiting_confirmation', attention: ['confirmation_overdue'] });
    await stage.sandbox.removeFaults();
    await stage.skip('14 hours');
    await visit.shows({ phase: 'awaiting_choice', attention: [] });
    await visit.tells(
      'phase_changed awaiting_confirmation',
      'attention_raised confirmation_overdue',
      'attention_cleared confirmation_overdue',
      'choice_needed cancelled',
    );
  });
});

test('a request has no time until the provider names one [227]', async () => {
  const visit = await AVisit.start(stage);
  const asked = await visit.handle.request({ provider: 'invented_draws', notes: 'Invented: mornings' });
  expect(asked).toMatchObject({ phase: 'awaiting_confirmation', appointment: { provider: 'invented_draws' } });
  expect(asked.appointment).not.toHaveProperty('startAt');
  await stage.sandbox.advanceClock('31m');
  const { appointment } = await visit.shows({ phase: 'confirmed' });
  expect(appointment?.startAt).toMatch(/Z$/);
  expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({
    appointment_notes: 'Invented: mornings',
  });
});

describe('an answer that is lost', () => {
  test.each([
    ['a connection that broke', { kind: 'drop_response' }],
    ['status 500', { kind: 'answer', status: 500, body: 'oops', phase: 'after_work' }],
    ['what nobody can read', { kind: 'answer', status: 200, body: 'oops', phase: 'after_work' }],
  ] as const)('to a booking, behind %s: it is read, not booked again [226]', async (_how, action) => {
    // Another attempt would come too late for this story: the look is the same attempt's.
    const visit = await AVisit.start(stage, { policy: { bookingTimeout: '2m' } });
    const slot = await visit.slot();
    await loseWebhooks(stage);
    await stage.sandbox.addFault({ path: bookPath, times: 1, action });
    const state = await visit.handle.choose({ slotId: slot.id });
    expect(state).toMatchObject({ phase: 'confirmed', appointment: { startAt: slot.start } });
    expect(await visit.bookings()).toBe(1);
  });

  test('to a booking that the service shows only later is not repeated: it is read once more first', async () => {
    const visit = await AVisit.start(stage);
    const slot = await visit.slot();
    await loseWebhooks(stage);
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'drop_response' } });
    const path = appointmentPath;
    const unknown = { kind: 'answer', status: 404, body: { detail: 'Appointment not found' } } as const;
    await stage.sandbox.addFault({ method: 'GET', path, times: 2, action: unknown });
    const answer = visit.handle.choose({ slotId: slot.id });
    await stage.seesRequests('GET', path.replace('*', visit.orderId), 3);
    await stage.skip('50 seconds');
    expect(await answer).toMatchObject({ phase: 'confirmed', appointment: { startAt: slot.start } });
    expect(await visit.bookings()).toBe(1);
  });

  test('of which nothing is learnt in time is reported; the next choice waits, reads, and finds it', async () => {
    const visit = await AVisit.start(stage, { policy: { bookingTimeout: '5s' } });
    const [slot, other] = [await visit.slot(), await visit.slot(4)];
    await loseWebhooks(stage);
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'drop_response' } });
    const down = { kind: 'answer', status: 503, body: 'down' } as const;
    // The first look is let through.
    await stage.sandbox.addFault({ method: 'GET', path: appointmentPath, skip: 1, action: down });
    const answer = visit.handle.choose({ slotId: slot.id });
    const refused = answer.catch((error: unknown) => error);
    await eventually(async () => expect(await visit.bookings()).toBe(1));
    await stage.skip('6 minutes');
    expect(await refused).toBeInstanceOf(ServiceDown);
    await stage.sandbox.removeFaults();
    const next = visit.handle.choose({ slotId: other.id });
    const exists = next.catch((error: unknown) => error);
    await stage.skip('1 minute');
    expect(await exists).toMatchObject({ name: 'AppointmentExists' });
    await visit.shows({ phase: 'confirmed', appointment: { startAt: slot.start } as never });
    expect(await visit.bookings()).toBe(1);
  });

  test('to a move: it is moved once [228]', async () => {
    const visit = await AVisit.start(stage);
    const other = await visit.slot(7);
    await visit.chooses();
    const path = `${appointmentPath}/reschedule`;
    await stage.sandbox.addFault({ path, times: 1, action: { kind: 'drop_response' } });
    expect(await visit.handle.reschedule({ slotId: other.id })).toMatchObject({
      appointment: { startAt: other.start },
    });
    expect(await stage.countRequests('PATCH', path.replace('*', visit.orderId))).toBe(1);
  });
});

describe('while nobody chooses', () => {
  test('the product is reminded twice, and then it ends', async () => {
    const visit = await AVisit.start(stage);
    await visit.shows({ phase: 'awaiting_choice', waiting: { for: 'a slot to be chosen' } });
    expect(await visit.ends()).toMatchObject({ outcome: 'expired' });
    await visit.tells('choice_reminder 1', 'choice_reminder 2', 'ended expired');
  });

  test('an order that is cancelled is not reminded of', async () => {
    const visit = await AVisit.start(stage);
    await visit.shows({ phase: 'awaiting_choice' });
    await stage.service.orders.cancel(visit.orderId);
    expect(await visit.ends()).toMatchObject({ outcome: 'order_ended', order: 'cancelled' });
    await visit.tells('ended order_ended');
  });

  test('an appointment that is made elsewhere and unheard is found instead of the end', async () => {
    const visit = await AVisit.start(stage, { policy: { choiceReminders: [], choiceWait: '2d' } });
    await visit.shows({ phase: 'awaiting_choice' });
    await loseWebhooks(stage);
    await stage.syncClock();
    const keys = await visit.keys();
    await stage.service.appointments.book(visit.orderId, { booking_key: keys.at(-1) ?? '' });
    await stage.skip('3 days');
    await visit.shows({ phase: 'confirmed' });
  });

  test('a service that is down lets nothing end before it has answered', async () => {
    const visit = await AVisit.start(stage, { policy: { choiceReminders: [], choiceWait: '1d' } });
    await visit.isFollowed();
    const action = { kind: 'answer', status: 401, body: {} } as const;
    await stage.sandbox.addFault({ method: 'GET', path: '/v3/order/*', action });
    await stage.skip('25 hours');
    await visit.shows({ phase: 'awaiting_choice' });
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    await visit.shows({ outcome: 'expired' });
  });

  test('a service that stays down is waited for a day, asked now and then, and then it ends all the same', async () => {
    const visit = await AVisit.start(stage, { policy: { choiceReminders: [], choiceWait: '1d' } });
    await visit.isFollowed();
    const before = await stage.countRequests('GET', '/v3/order/*');
    const action = { kind: 'answer', status: 401, body: {} } as const;
    await stage.sandbox.addFault({ method: 'GET', path: '/v3/order/*', action });
    expect(await visit.ends()).toMatchObject({ outcome: 'expired' });
    expect((await stage.countRequests('GET', '/v3/order/*')) - before).toBeLessThan(12);
    await stage.sandbox.removeFaults();
  });
});

describe('before an appointment', () => {
  test('the product is told to remind, a day and two hours before', async () => {
    const visit = await AVisit.start(stage);
    const { slots } = await visit.handle.slots();
    const { startAt } = (await visit.handle.choose({ slotId: slots.at(-1)?.id ?? '' })).appointment ?? {};
    const { now } = await stage.sandbox.clock();
    await stage.skip(Date.parse(startAt ?? '') - Date.parse(now) - 3_600_000);
    await visit.tells('phase_changed confirmed', 'visit_reminder 1', 'visit_reminder 2');
    for (const [n, hours] of [
      [1, 24],
      [2, 2],
    ] as const) {
      const { time, data } = visit.notifications[n] ?? {};
      expect(data).toMatchObject({ start_at: startAt });
      expect(Math.abs(Date.parse(startAt ?? '') - Date.parse(time ?? '') - hours * 3_600_000)).toBeLessThan(60_000);
    }
  });

  test('that was cancelled unheard nobody is reminded of: they are asked to choose', async () => {
    const visit = await AVisit.start(stage);
    const { slots } = await visit.handle.slots();
    await visit.handle.choose({ slotId: slots.at(-1)?.id ?? '' });
    await visit.goes({ event_status: 'cancelled', webhook: false });
    await stage.skip('14 days');
    await visit.shows({ phase: 'awaiting_choice' });
    expect(visit.told.slice(0, 2)).toEqual(['phase_changed confirmed', 'choice_needed cancelled']);
  });
});

describe('after an appointment', () => {
  test('of which nobody says anything a person is asked, and a draw that only the order shows counts', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    await stage.skip('4 days');
    await visit.shows({ phase: 'confirmed', attention: ['visit_overdue'] });
    await stage.sandbox.move(visit.orderId, 'draw_completed');
    expect(await visit.ends()).toMatchObject({ outcome: 'completed' });
    expect(visit.told.slice(-3)).toEqual([
      'attention_raised visit_overdue',
      'attention_cleared visit_overdue',
      'ended completed',
    ]);
  });

  test('a draw that both the appointment and its order show, and no webhook told, is a draw', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    await visit.goes({ event_status: 'completed', webhook: false });
    expect(await visit.ends()).toMatchObject({ outcome: 'completed', appointment: { status: 'completed' } });
    expect(visit.told.at(-1)).toBe('ended completed');
  });

  test('that never comes to anything it is given up', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    await visit.goes('a_status_of_next_year');
    await visit.shows({ phase: 'confirmed', appointment: { status: 'a_status_of_next_year' } as never });
    expect(await visit.ends()).toMatchObject({ outcome: 'unresolved' });
    expect(visit.told.at(-1)).toBe('ended unresolved');
  });
});

describe('an appointment that falls away', () => {
  test('asks the product for another choice, once', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    await visit.goes('cancelled');
    await visit.tells('phase_changed confirmed', 'choice_needed cancelled');
    await visit.shows({ phase: 'awaiting_choice' });
    const slot = await visit.chooses(3);
    await visit.shows({ phase: 'confirmed', appointment: { startAt: slot.start } as never });
    await visit.tells('phase_changed confirmed', 'choice_needed cancelled', 'phase_changed confirmed');
  });

  test('with its order is the end: nobody is asked to choose', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    await stage.service.orders.cancel(visit.orderId);
    expect(await visit.ends()).toMatchObject({ outcome: 'order_ended', order: 'cancelled' });
    await visit.tells('phase_changed confirmed', 'ended order_ended');
  });

  test('is not brought back by webhooks of it that come late, nor is the next one cancelled by them', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    const first = appointmentSnapshotOf(await stage.service.appointments.get(visit.orderId));
    await stage.skip('1 minute');
    await visit.goes('cancelled');
    await visit.shows({ phase: 'awaiting_choice' });
    const gone = appointmentSnapshotOf(await stage.service.appointments.get(visit.orderId));
    const workflow = stage.temporal.workflow.getHandle(visit.workflowId);
    await workflow.signal(appointmentChangedSignal, first);
    await visit.shows({ phase: 'awaiting_choice' });
    await stage.skip('1 minute');
    const slot = await visit.chooses(3);
    for (const late of [first, gone, first]) await workflow.signal(appointmentChangedSignal, late);
    await visit.shows({ phase: 'confirmed', appointment: { startAt: slot.start } as never });
  });
});

describe('an appointment that was made elsewhere', () => {
  const book = async (orderId: string) => {
    const address = { first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip_code: '62701' };
    const { slots } = await stage.service.appointments.availability(address);
    const key = slots?.at(-1)?.slots?.[0]?.booking_key ?? '';
    return stage.service.appointments.book(orderId, { booking_key: key });
  };

  test('is followed from its first webhook on, to its end [267, 268]', async () => {
    const orderId = await AVisit.newOrder(stage);
    const booked = await book(orderId);
    const visit = await AVisit.adopted(stage, orderId);
    await visit.shows({ phase: 'confirmed', appointment: { appointmentId: booked.id } as never });
    await visit.goes('in_progress');
    await visit.goes('completed');
    expect(await visit.ends()).toMatchObject({ outcome: 'completed' });
    expect(visit.told.at(-1)).toBe('ended completed');
  });

  test('ends when it is cancelled: nobody here was asked to choose', async () => {
    const orderId = await AVisit.newOrder(stage);
    await book(orderId);
    const visit = await AVisit.adopted(stage, orderId);
    await visit.shows({ phase: 'confirmed' });
    await visit.goes('cancelled');
    expect(await visit.ends()).toMatchObject({ outcome: 'cancelled' });
    expect(visit.told.at(-1)).toBe('ended cancelled');
    expect(visit.told).not.toContain('choice_needed cancelled');
  });

  test('leaves where somebody lives, who comes and what was noted out of the history [268]', async () => {
    const orderId = await AVisit.newOrder(stage);
    await book(orderId);
    const visit = await AVisit.adopted(stage, orderId);
    await visit.shows({ phase: 'confirmed' });
    await visit.slot();
    const text = textOf(await eventsOf(stage, visit.workflowId));
    expect(text).toContain(orderId);
    for (const personal of [
      'Invented Street',
      'Springfield',
      '62701',
      'Phoenix',
      '85004',
      'Ring twice',
      '-73.9',
      'bk_',
    ]) {
      expect(text).not.toContain(personal);
    }
  });
});

test('a slot that another order took a moment before is gone for this one', async () => {
  const [one, other] = [await AVisit.start(stage), await AVisit.start(stage)];
  const slot = await one.slot();
  const answers = await Promise.allSettled([one, other].map(({ handle }) => handle.choose({ slotId: slot.id })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const refused = answers.find((answer) => answer.status === 'rejected');
  expect(refused?.reason).toBeInstanceOf(SlotGone);
});
