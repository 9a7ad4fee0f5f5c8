import { describe, expect, test } from 'vitest';
import { SlotGone } from '../../client/appointments/errors.js';
import { ServiceDown } from '../../client/errors.js';
import { appointmentSnapshotOf } from '../../service/appointment-snapshot.js';
import { appointmentChangedSignal } from '../../protocol/appointment/messages.js';
import { appointmentPath, Visit, bookPath, loseWebhooks } from './visit.js';
import { eventually } from '../rig/eventually.js';
import { eventsOf, textOf } from './recorded.js';
import { setStage } from './story.js';

/* What happens to an appointment while nobody does anything: silence, lost answers, lost and late webhooks. */

const stage = setStage();

describe('a booking that is confirmed later', () => {
  // proves 226
  test('stays pending until a webhook says more', async () => {
    const visit = await Visit.start(stage, { policy: { confirmation: 'later' } });
    await visit.choose();
    await visit.expectState({ phase: 'awaiting_confirmation', waiting: { for: 'the provider to confirm' } });
    await stage.sandbox.advanceClock('31m');
    await visit.expectState({ phase: 'confirmed' });
    await visit.expectNotifications('phase_changed awaiting_confirmation', 'phase_changed confirmed');
    expect(await stage.countRequests('GET', `/v3/order/${visit.orderId}/phlebotomy/appointment`)).toBe(2);
  });

  test('is found confirmed by a read if its webhook is lost', async () => {
    const visit = await Visit.start(stage, { policy: { confirmation: 'later' } });
    await visit.choose();
    await loseWebhooks(stage);
    await stage.sandbox.advanceClock('31m');
    await stage.skip('2 hours');
    await visit.expectState({ phase: 'confirmed' });
  });

  test('asks for another choice if the provider declines it', async () => {
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'decline' });
    const visit = await Visit.start(stage, { policy: { confirmation: 'later' } });
    await visit.choose();
    await stage.sandbox.advanceClock('31m');
    await visit.expectState({ phase: 'awaiting_choice' });
    await visit.expectNotifications('phase_changed awaiting_confirmation', 'choice_needed cancelled');
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'confirm' });
    await visit.choose(3);
    await visit.expectState({ phase: 'awaiting_confirmation' });
  });

  // proves 226
  test('needs attention if nobody confirms it, and lapses after its deadline', async () => {
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'never' });
    const policy = { confirmation: 'later', confirmationWait: '24h' } as const;
    const visit = await Visit.start(stage, { policy });
    const { slots } = await visit.handle.slots();
    await loseWebhooks(stage);
    await visit.handle.choose({ slotId: slots.at(-1)?.id ?? '' });
    await stage.sandbox.addFault({
      ...{ method: 'GET', path: appointmentPath },
      action: { kind: 'answer', status: 200, body: await stage.service.appointments.get(visit.orderId) },
    });
    await stage.skip('25 hours');
    await visit.expectState({
      phase: 'awaiting_confirmation',
      attention: [{ reason: 'confirmation_overdue' }] as never,
    });
    await stage.sandbox.removeFaults();
    await stage.skip('14 hours');
    await visit.expectState({ phase: 'awaiting_choice', attention: [] });
    await visit.expectNotifications(
      'phase_changed awaiting_confirmation',
      'attention_raised confirmation_overdue',
      'attention_cleared confirmation_overdue',
      'choice_needed cancelled',
    );
  });
});

// proves 227
test('a requested appointment has no time until the provider sets one', async () => {
  const visit = await Visit.start(stage);
  const asked = await visit.handle.request({ provider: 'invented_draws', notes: 'Invented: mornings' });
  expect(asked).toMatchObject({ phase: 'awaiting_confirmation', appointment: { provider: 'invented_draws' } });
  expect(asked.appointment).not.toHaveProperty('startAt');
  await stage.sandbox.advanceClock('31m');
  const { appointment } = await visit.expectState({ phase: 'confirmed' });
  expect(appointment?.startAt).toMatch(/Z$/);
  expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({
    appointment_notes: 'Invented: mornings',
  });
});

describe('a lost answer', () => {
  // proves 226
  test.each([
    ['a connection that broke', { kind: 'drop_response' }],
    ['status 500', { kind: 'answer', status: 500, body: 'oops', phase: 'after_work' }],
    ['what nobody can read', { kind: 'answer', status: 200, body: 'oops', phase: 'after_work' }],
  ] as const)(
    'a lost answer to a booking, behind %s, is settled by a read: nothing is booked twice',
    async (_how, action) => {
      // Another attempt would come too late for this story: the read belongs to the same attempt.
      const visit = await Visit.start(stage, { policy: { bookingTimeout: '2m' } });
      const slot = await visit.slot();
      await loseWebhooks(stage);
      await stage.sandbox.addFault({ path: bookPath, times: 1, action });
      const state = await visit.handle.choose({ slotId: slot.id });
      expect(state).toMatchObject({ phase: 'confirmed', appointment: { startAt: slot.start } });
      expect(await visit.bookings()).toBe(1);
    },
  );

  test('a lost answer to a booking that the service shows only later is settled by one more read, not by booking again', async () => {
    const visit = await Visit.start(stage);
    const slot = await visit.slot();
    await loseWebhooks(stage);
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'drop_response' } });
    const path = appointmentPath;
    const unknown = { kind: 'answer', status: 404, body: { detail: 'Appointment not found' } } as const;
    await stage.sandbox.addFault({ method: 'GET', path, times: 2, action: unknown });
    const answer = visit.handle.choose({ slotId: slot.id });
    await stage.expectRequests('GET', path.replace('*', visit.orderId), 3);
    await stage.skip('50 seconds');
    expect(await answer).toMatchObject({ phase: 'confirmed', appointment: { startAt: slot.start } });
    expect(await visit.bookings()).toBe(1);
  });

  test('a lost answer that stays unsettled is reported; the next choice waits, reads and finds the booking', async () => {
    const visit = await Visit.start(stage, { policy: { bookingTimeout: '5s' } });
    const [slot, other] = [await visit.slot(), await visit.slot(4)];
    await loseWebhooks(stage);
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'drop_response' } });
    const down = { kind: 'answer', status: 503, body: 'down' } as const;
    // The first read is let through.
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
    await visit.expectState({ phase: 'confirmed', appointment: { startAt: slot.start } as never });
    expect(await visit.bookings()).toBe(1);
  });

  test('lets nothing else be asked of the service while the booking may still be under way', async () => {
    const visit = await Visit.start(stage, { policy: { bookingTimeout: '2m' } });
    const [slot, other] = [await visit.slot(), await visit.slot(4)];
    await loseWebhooks(stage);
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'drop_response' } });
    const down = { kind: 'answer', status: 503, body: 'down' } as const;
    await stage.sandbox.addFault({ method: 'GET', path: appointmentPath, skip: 1, action: down });
    const refused = visit.handle.choose({ slotId: slot.id }).catch((error: unknown) => error);
    await eventually(async () => expect(await visit.bookings()).toBe(1));
    // The second attempt is refused three minutes after the first; the booking counts as under way for three more.
    await stage.skip('4 minutes');
    expect(await refused).toBeInstanceOf(ServiceDown);
    await stage.sandbox.removeFaults();
    const asked = async () => (await stage.sandbox.requests({})).length;
    const before = await asked();
    const exists = visit.handle.choose({ slotId: other.id }).catch((error: unknown) => error);
    await stage.skip('1 minute');
    expect(await asked()).toBe(before);
    await stage.skip('2 minutes');
    expect(await exists).toMatchObject({ name: 'AppointmentExists' });
    expect(await visit.bookings()).toBe(1);
  });

  // proves 228
  test('a lost answer to a rescheduling moves the appointment once', async () => {
    const visit = await Visit.start(stage);
    const other = await visit.slot(7);
    await visit.choose();
    const path = `${appointmentPath}/reschedule`;
    await stage.sandbox.addFault({ path, times: 1, action: { kind: 'drop_response' } });
    expect(await visit.handle.reschedule({ slotId: other.id })).toMatchObject({
      appointment: { startAt: other.start },
    });
    expect(await stage.countRequests('PATCH', path.replace('*', visit.orderId))).toBe(1);
  });
});

describe('while nobody chooses a slot', () => {
  test('the product is reminded twice, and then the appointment ends', async () => {
    const visit = await Visit.start(stage);
    await visit.expectState({ phase: 'awaiting_choice', waiting: { for: 'a slot to be chosen' } });
    expect(await visit.result()).toMatchObject({ outcome: 'expired' });
    await visit.expectNotifications('choice_reminder 1', 'choice_reminder 2', 'ended expired');
  });

  test('the product is not reminded about a cancelled order', async () => {
    const visit = await Visit.start(stage);
    await visit.expectState({ phase: 'awaiting_choice' });
    await stage.service.orders.cancel(visit.orderId);
    expect(await visit.result()).toMatchObject({ outcome: 'order_ended', order: 'cancelled' });
    await visit.expectNotifications('ended order_ended');
  });

  test('an appointment that was made elsewhere without a webhook is found before the workflow would end', async () => {
    const visit = await Visit.start(stage, { policy: { choiceReminders: [], choiceWait: '2d' } });
    await visit.expectState({ phase: 'awaiting_choice' });
    await loseWebhooks(stage);
    await stage.syncClock();
    const keys = await visit.keys();
    await stage.service.appointments.book(visit.orderId, { booking_key: keys.at(-1) ?? '' });
    await stage.skip('3 days');
    await visit.expectState({ phase: 'confirmed' });
  });

  test('nothing ends before a service that is down has answered', async () => {
    const visit = await Visit.start(stage, { policy: { choiceReminders: [], choiceWait: '1d' } });
    await visit.untilFollowed();
    const action = { kind: 'answer', status: 401, body: {} } as const;
    await stage.sandbox.addFault({ method: 'GET', path: '/v3/order/*', action });
    await stage.skip('25 hours');
    await visit.expectState({ phase: 'awaiting_choice' });
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    await visit.expectState({ outcome: 'expired' });
  });

  test('a service that stays down is asked now and then for a day, and then the appointment ends all the same', async () => {
    const visit = await Visit.start(stage, { policy: { choiceReminders: [], choiceWait: '1d' } });
    await visit.untilFollowed();
    const path = `/v3/order/${visit.orderId}`;
    const before = await stage.countRequests('GET', path);
    const action = { kind: 'answer', status: 401, body: {} } as const;
    await stage.sandbox.addFault({ method: 'GET', path, action });
    expect(await visit.result()).toMatchObject({ outcome: 'expired' });
    const asked = (await stage.countRequests('GET', path)) - before;
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(12);
    await stage.sandbox.removeFaults();
  });
});

describe('before an appointment', () => {
  test('the product is notified to remind the person, a day and two hours before', async () => {
    const visit = await Visit.start(stage);
    const { slots } = await visit.handle.slots();
    const { startAt } = (await visit.handle.choose({ slotId: slots.at(-1)?.id ?? '' })).appointment ?? {};
    const { now } = await stage.sandbox.clock();
    await stage.skip(Date.parse(startAt ?? '') - Date.parse(now) - 3_600_000);
    await visit.expectNotifications('phase_changed confirmed', 'visit_reminder 1', 'visit_reminder 2');
    for (const [n, hours] of [
      [1, 24],
      [2, 2],
    ] as const) {
      const { time, data } = visit.notifications[n] ?? {};
      expect(data).toMatchObject({ start_at: startAt });
      expect(Math.abs(Date.parse(startAt ?? '') - Date.parse(time ?? '') - hours * 3_600_000)).toBeLessThan(60_000);
    }
  });

  test('the product is asked for another choice, not for reminders, if the appointment was cancelled without a webhook', async () => {
    const visit = await Visit.start(stage);
    const { slots } = await visit.handle.slots();
    await visit.handle.choose({ slotId: slots.at(-1)?.id ?? '' });
    await visit.move({ event_status: 'cancelled', webhook: false });
    await stage.skip('14 days');
    await visit.expectState({ phase: 'awaiting_choice' });
    expect(visit.notified.slice(0, 2)).toEqual(['phase_changed confirmed', 'choice_needed cancelled']);
  });
});

describe('after an appointment', () => {
  test('a person is asked if nothing is reported, and a draw that only the order shows counts', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    await stage.skip('4 days');
    await visit.expectState({ phase: 'confirmed', attention: [{ reason: 'visit_overdue' }] as never });
    await stage.sandbox.move(visit.orderId, 'draw_completed');
    expect(await visit.result()).toMatchObject({ outcome: 'completed' });
    expect(visit.notified.slice(-3)).toEqual([
      'attention_raised visit_overdue',
      'attention_cleared visit_overdue',
      'ended completed',
    ]);
  });

  test('a draw that both appointment and order show counts although no webhook reported it', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    await visit.move({ event_status: 'completed', webhook: false });
    expect(await visit.result()).toMatchObject({ outcome: 'completed', appointment: { status: 'completed' } });
    expect(visit.notified.at(-1)).toBe('ended completed');
  });

  test('the appointment is given up if nothing is ever reported', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    await visit.move('a_status_of_next_year');
    await visit.expectState({ phase: 'confirmed', appointment: { status: 'a_status_of_next_year' } as never });
    expect(await visit.result()).toMatchObject({ outcome: 'unresolved' });
    expect(visit.notified.at(-1)).toBe('ended unresolved');
  });
});

describe('an appointment that is cancelled', () => {
  test('asks the product for another choice, once', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    await visit.move('cancelled');
    await visit.expectNotifications('phase_changed confirmed', 'choice_needed cancelled');
    await visit.expectState({ phase: 'awaiting_choice' });
    const slot = await visit.choose(3);
    await visit.expectState({ phase: 'confirmed', appointment: { startAt: slot.start } as never });
    await visit.expectNotifications('phase_changed confirmed', 'choice_needed cancelled', 'phase_changed confirmed');
  });

  test('an appointment that is cancelled with its order ends: nobody is asked to choose', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    await stage.service.orders.cancel(visit.orderId);
    expect(await visit.result()).toMatchObject({ outcome: 'order_ended', order: 'cancelled' });
    await visit.expectNotifications('phase_changed confirmed', 'ended order_ended');
  });

  test('is not restored by its late webhooks, and they do not cancel the next one', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    const first = appointmentSnapshotOf(await stage.service.appointments.get(visit.orderId));
    await stage.skip('1 minute');
    await visit.move('cancelled');
    await visit.expectState({ phase: 'awaiting_choice' });
    const gone = appointmentSnapshotOf(await stage.service.appointments.get(visit.orderId));
    const workflow = stage.temporal.workflow.getHandle(visit.workflowId);
    await workflow.signal(appointmentChangedSignal, first);
    await visit.expectState({ phase: 'awaiting_choice' });
    await stage.skip('1 minute');
    const slot = await visit.choose(3);
    for (const late of [first, gone, first]) await workflow.signal(appointmentChangedSignal, late);
    await visit.expectState({ phase: 'confirmed', appointment: { startAt: slot.start } as never });
  });
});

describe('an appointment that was made elsewhere', () => {
  const book = async (orderId: string) => {
    const address = { first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip_code: '62701' };
    const { slots } = await stage.service.appointments.availability(address);
    const key = slots?.at(-1)?.slots?.[0]?.booking_key ?? '';
    return stage.service.appointments.book(orderId, { booking_key: key });
  };

  // proves 267, 268
  test('is followed from its first webhook to its end', async () => {
    const orderId = await Visit.newOrder(stage);
    const booked = await book(orderId);
    const visit = await Visit.adopted(stage, orderId);
    await visit.expectState({ phase: 'confirmed', appointment: { appointmentId: booked.id } as never });
    await visit.move('in_progress');
    await visit.move('completed');
    expect(await visit.result()).toMatchObject({ outcome: 'completed' });
    expect(visit.notified.at(-1)).toBe('ended completed');
  });

  test('ends when it is cancelled: nobody here was asked to choose', async () => {
    const orderId = await Visit.newOrder(stage);
    await book(orderId);
    const visit = await Visit.adopted(stage, orderId);
    await visit.expectState({ phase: 'confirmed' });
    await visit.move('cancelled');
    expect(await visit.result()).toMatchObject({ outcome: 'cancelled' });
    expect(visit.notified.at(-1)).toBe('ended cancelled');
    expect(visit.notified).not.toContain('choice_needed cancelled');
  });

  // proves 268
  test('keeps the address, the phlebotomist and the notes out of the history', async () => {
    const orderId = await Visit.newOrder(stage);
    await book(orderId);
    const visit = await Visit.adopted(stage, orderId);
    await visit.expectState({ phase: 'confirmed' });
    await visit.slot();
    const text = textOf(await eventsOf(stage, visit.workflowId));
    expect(text).toContain(orderId);
    for (const personal of [
      'Invented Street',
      'Springfield',
      /\b62701\b/,
      'Fictional Avenue',
      'Nowhereville',
      'Ring twice',
      '-73.9',
      'bk_',
    ]) {
      expect(text).not.toMatch(personal);
    }
  });
});

test('a slot that another order took a moment before is gone', async () => {
  const [one, other] = [await Visit.start(stage), await Visit.start(stage)];
  const slot = await one.slot();
  const answers = await Promise.allSettled([one, other].map(({ handle }) => handle.choose({ slotId: slot.id })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const refused = answers.find((answer) => answer.status === 'rejected');
  expect(refused?.reason).toBeInstanceOf(SlotGone);
});
