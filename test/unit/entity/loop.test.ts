import { describe, expect, test } from 'vitest';
import { life as appointmentLife, reading } from '../appointment/appointments.js';
import { happyPath, pathTo, start } from '../order/histories.js';
import { type Life, silent, unavailable } from '../life.js';
import { alarm, awaited, type OrderLife, orderId, registered, registration, shownAt } from '../order/lives.js';
import { placed } from './placed-order.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* When a run looks at what came in, ends, or goes on in a new one: in the lives of an order. */

/** An order whose registration the service has not answered yet. */
async function registering(): Promise<OrderLife> {
  const life = await placed({ registerKit: silent });
  await life.report(awaited);
  await life.update('register', { registration });
  return life;
}

const answerRegistration = (life: Life) => life.given({ registerKit: shownAt(registered) });

const looks = async (isFired: boolean, now: (at: number) => number) => {
  const life = await appointmentLife(reading(), { choiceReminders: ['1 hour'] });
  const { run } = life;
  const before = life.calls.length;
  const at = run.nextTimer() ?? 0;
  run.now = now(at);
  if (isFired) await run.fireNextTimer({ isEarly: true });
  else await run.signal({ name: 'bookingRequested' });
  await life.settle();
  return life.calls.slice(before).length;
};

test('a moment that a timer was set for has passed when the timer has fired, and not before, whatever the clock shows', async () => {
  expect(await looks(true, (at) => at - 2_000)).toBe(1);
  expect(await looks(false, (at) => at + 2_000)).toBe(0);
});

describe('a new run', () => {
  test('begins in the step in which the server first suggests it, unless that brings nothing that the history has', async () => {
    const life = await placed();
    life.run.suggestNewRun();
    await life.run.update({ name: 'register', argument: {} });
    expect(life.run.accepted).toEqual([]);
    expect(life.run.replies).toMatchObject([{ refused: 'RegistrationRefused' }]);
    expect(life.run.end).toBeUndefined();
    await life.run.signal({ name: 'of no use' });
    expect(life.run.end?.kind).toBe('continued');
  });

  test.each(['continueAsNewSuggested', 'targetWorkerDeploymentVersionChanged'] as const)(
    'begins when the server says so (%s), not before, and once nobody waits for an answer',
    async (why) => {
      const life = await registering();
      await life.report(awaited);
      life.run.suggestNewRun(why);
      expect(life.run.end).toBeUndefined();
      await life.report(awaited);
      expect(life.run.end).toBeUndefined();
      await answerRegistration(life);
      expect(life.run.replies).toMatchObject([{ name: 'register', value: { registered: true } }]);
      expect(life.run.end).toMatchObject({ kind: 'continued', input: { rootOrderId: orderId } });
    },
  );

  test('does not hold up what falls due while somebody waits for an answer', async () => {
    const life = await registering();
    await life.signal(alarm.name, alarm.argument);
    await life.until(0.98);
    life.run.suggestNewRun();
    await life.report(awaited);
    await life.until(1.01);
    expect(life.events.at(-1)).toBe('1h order.critical_result_reminder 1');
    await life.until(2.01);
    expect(life.events.at(-1)).toBe('2h order.critical_result_reminder 2');
    await answerRegistration(life);
    expect(life.run.end?.kind).toBe('continued');
  });

  test('goes on in an outage: the question stands, and the order is read when it would have been', async () => {
    const life = await placed({ readOrder: unavailable });
    await life.until(240);
    expect(life.run.shown.details).toContain('order unreadable');
    life.run.suggestNewRun();
    await life.signal('orderChanged', shownAt(['ordered']));
    const next = await life.next();
    expect(next.events).toEqual([]);
    expect(next.calls).toEqual([]);
    await next.until(24);
    expect(next.events).toEqual([]);
    expect(next.calls.length).toBeGreaterThan(0);
  });

  test('takes along what the product was not notified of', async () => {
    const life = await placed({ notify: silent });
    life.run.suggestNewRun();
    await life.report(pathTo('transit_customer'));
    const next = await life.next({});
    expect(next.events).toEqual(['0h order.phase_changed preparing', '0h order.phase_changed in_transit_to_customer']);
  });
});

describe('a run', () => {
  test('sets one timer for what is due next, and none once it is over', async () => {
    const life = await placed();
    const first = life.run.nextTimer();
    expect(life.run.timers.size).toBe(1);
    await life.report(['ordered']);
    expect(life.run.nextTimer()).toBe(first);
    expect(life.run.summaries.filter((each) => !each.includes('notify'))).toHaveLength(1);
    await life.report(pathTo('transit_customer'));
    expect(life.run.timers.size).toBe(1);
    expect(life.run.nextTimer()).not.toBe(first);
    life.answers['notify'] = silent;
    await life.report(happyPath);
    // The minute that its end gives the receiver.
    expect([...life.run.timers.values()]).toEqual([start + 60_000]);
  });

  test('schedules a delivery after all else, however what happens is divided into steps', async () => {
    // Its handler announces it, before the main loop looks at it.
    for (const together of [false, true]) {
      const life = await placed({ notify: silent });
      const [{ seq } = { seq: 0 }] = life.run.calls;
      const taken = { value: { delivered: [`${orderId}/1/phase_changed`], refused: [], handedOver: false } };
      const { length } = life.run.summaries;
      await life.run.answer(seq, 'notify', taken, ...(together ? [alarm] : []));
      if (!together) {
        await life.run.signal({ name: 'orderChanged', argument: shownAt(['ordered']) });
        await life.run.signal(alarm);
      }
      const isDelivery = life.run.summaries.slice(length).map((each) => each.startsWith('notify'));
      expect(isDelivery).toEqual([false, true]);
    }
  });

  test('begins the next work on an order after the caller of the work before was answered, however what happens is divided into steps', async () => {
    const placing = { reference: 'ref-1', policy: resolvePolicy('order', {}), adopted: false, cancelRequested: true };
    const signal = { name: 'orderPlaced', argument: { ...placing, snapshot: shownAt(registered) } };
    for (const together of [false, true]) {
      const life = await registering();
      const { seq = 0 } = life.run.calls.find(({ call }) => call.name === 'registerKit') ?? {};
      const { length } = life.run.commands;
      if (!together) await life.run.signal(signal);
      await life.run.answer(seq, 'registerKit', { value: shownAt(registered) }, ...(together ? [signal] : []));
      const scheduled = life.run.commands.slice(length).filter((each) => /updateResponse|scheduleActivity/.test(each));
      expect(scheduled.slice(0, 2)).toEqual(['updateResponse', 'scheduleActivity']);
      expect(life.run.calls.map(({ call }) => call.name)).toContain('cancelOrder');
    }
  });

  test.each([false, true])(
    'schedules a delivery after what operators see, too, when a receiver is back (at the end: %s)',
    async (isEnd) => {
      const life = await appointmentLife(reading());
      await life.until(23.99);
      await life.given({ notify: unavailable }, 24.1);
      expect(life.run.shown.attributes['LabAttention']).toEqual(['notifications_undelivered']);
      life.answers['notify'] = silent;
      if (isEnd) await life.run.cancel();
      else await life.until(24.17);
      const { length } = life.run.commands;
      await life.given({ notify: undefined });
      const scheduled = life.run.commands.slice(length).filter((each) => !each.includes('imer'));
      expect(scheduled.slice(0, 2)).toEqual(['upsertWorkflowSearchAttributes', 'scheduleActivity']);
    },
  );

  test('calls a receiver again in its time, though a command takes long and something came in meanwhile', async () => {
    const life = await appointmentLife(reading(), {}, true, { findSlots: silent });
    await life.until(23.99);
    await life.given({ notify: unavailable }, 24.1);
    await life.update('findSlots', {});
    await life.signal('bookingRequested', { policy: {} });
    await life.until(24.2);
    expect(life.secondsOf('notify')).toHaveLength(2);
  });

  test('sets no timer for later while a command waits', async () => {
    const life = await appointmentLife(reading());
    await life.given({ readAppointment: silent, findSlots: silent }, 24);
    await life.update('findSlots', {});
    await life.given({ readAppointment: reading() });
    expect(life.run.calls).toMatchObject([{ call: { name: 'findSlots' } }]);
    expect(life.run.timers.size).toBe(0);
  });

  test('that has ended sets no timer while it waits for an acknowledgement that nobody is reminded of', async () => {
    const life = await placed({}, {}, false);
    await life.signal(alarm.name, alarm.argument);
    await life.report(happyPath);
    expect(life.run.end).toBeUndefined();
    expect(life.run.timers.size).toBe(0);
  });
});
