import { describe, expect, test } from 'vitest';
import { start, life as appointmentLife, reading } from '../appointment/appointments.js';
import { opening as deletion, usual, userId } from '../deletion/lives.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { opening as linkOpening, provider, userId as linkUser } from '../link/links.js';
import { life as reviewLife, item } from '../match-review/reviews.js';
import {
  acknowledgement,
  alarm,
  awaited,
  orderId,
  refusal,
  registered,
  registration,
  shownAt,
} from '../order/lives.js';
import { placed } from './placed-order.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import { placeKitOrder } from '../../../workflows/order/placing.js';
import { submitReport } from '../../../workflows/report/submit.js';

/* How callers of commands are answered, the same in all rooms: in the lives of an appointment and of a deletion. */

const minutes = (count: number) => count / 60;
const ended = (how: string) => ({ failure: { ended: how } });
const slots = { slots: [], timezone: 'UTC' };
const known = { notifies: true, reading: reading() };

const appointment = (answers: Answers) =>
  appointmentLife(reading(), {}, true, { identifyAppointment: known, findSlots: slots, ...answers });

const repliesOf = ({ run }: Life) => run.replies.map(({ refused = 'answered' }) => refused);

describe('a command', () => {
  test('that comes before it is known what it is for is refused after three minutes, and may be sent again', async () => {
    const life = await appointment({ identifyAppointment: silent });
    await life.update('findSlots', {});
    await life.until(minutes(2.9));
    expect(life.run.summaries.at(-1)).toBe('commands wait');
    await life.update('findSlots', {});
    expect(repliesOf(life)).toEqual([]);
    await life.until(minutes(3));
    expect(repliesOf(life)).toEqual(['ServiceUnavailable', 'ServiceUnavailable']);
    await life.until(minutes(60));
    await life.update('findSlots', {});
    await life.until(minutes(62.9));
    expect(repliesOf(life)).toHaveLength(2);
    await life.given({ identifyAppointment: known });
    expect(repliesOf(life).slice(2)).toEqual(['answered']);
    expect(life.calls.map((call) => call.replace(/^\S+ /, ''))).toEqual(['identifyAppointment', 'findSlots']);
    await life.update('findSlots', {});
    await life.until(minutes(70));
    expect(repliesOf(life).slice(3)).toEqual(['answered']);
  });

  test('leaves no timer behind if it is known in time what it is for, or if there is none', async () => {
    for (const waits of [true, false]) {
      const life = await appointment({ identifyAppointment: silent });
      if (waits) await life.update('findSlots', {});
      await life.given({ identifyAppointment: known });
      expect([...life.run.timers.values()].filter((at) => at <= start + 180_000)).toEqual([]);
      expect(life.run.summaries.includes('commands wait')).toBe(waits);
    }
  });

  test('is carried out after the one before it, whose failure is not its own', async () => {
    const life = await appointment({ findSlots: silent });
    await life.update('findSlots', {});
    await life.update('findSlots', { place: 'later' });
    expect(life.run.calls).toHaveLength(1);
    const details = { fields: [], status: 409 };
    await life.run.answer(life.run.calls[0]?.seq ?? 0, 'findSlots', { failure: { type: 'SlotsRefused', details } });
    expect(repliesOf(life)).toEqual(['SlotsRefused']);
    expect(life.run.refusals).toEqual([details]);
    await life.given({ findSlots: slots });
    expect(repliesOf(life)).toEqual(['SlotsRefused', 'answered']);
  });

  test('waits for the one before it also if there was another one before that', async () => {
    const life = await placed({ registerKit: silent });
    await life.report(awaited);
    const register = () => life.update('register', { registration });
    await register();
    await register();
    const [{ seq } = { seq: 0 }] = life.run.calls.filter(({ call }) => call.name === 'registerKit');
    await life.run.answer(seq, 'registerKit', { failure: { type: 'RegistrationRefused' } });
    await register();
    expect(repliesOf(life)).toEqual(['RegistrationRefused']);
    expect(life.run.calls.filter(({ call }) => call.name === 'registerKit')).toHaveLength(1);
  });

  test('is refused without a trace if five of an order wait, a cancellation or a policy if eight do, an acknowledgement never', async () => {
    const life = await placed({ registerKit: silent });
    await life.report(awaited);
    await life.signal(alarm.name, alarm.argument);
    const register = () => life.update('register', { registration });
    const refused = (name: string) => ({ name, refused: 'ServiceUnavailable' });
    for (let count = 0; count < 5; count += 1) expect(await register()).toBeUndefined();
    expect(await register()).toEqual(refused('register'));
    expect(await life.update('replaceKit', { orderId })).toEqual(refused('replaceKit'));
    for (let count = 0; count < 3; count += 1) expect(await life.update('cancel')).toBeUndefined();
    expect(await life.update('cancel')).toEqual(refused('cancel'));
    expect(await life.update('setPolicy', { policy: { recheckEvery: '2 days' } })).toEqual(refused('setPolicy'));
    expect(await life.update('acknowledgeCriticalResult', acknowledgement)).toMatchObject({ value: {} });
    expect(life.run.accepted).toEqual([
      ...Array<string>(5).fill('register'),
      ...Array<string>(3).fill('cancel'),
      'acknowledgeCriticalResult',
    ]);
    await life.given({ registerKit: shownAt(registered), cancelOrder: refusal('CancelRefused') });
    expect(repliesOf(life).filter((reply) => reply === 'answered')).toHaveLength(6);
    expect(await register()).toMatchObject({ value: { registered: true } });
  });

  test('is refused without a trace if five of an appointment, a match review or a link wait, or eight cancellations of a placing, an adoption or an upload', async () => {
    const arranging = await appointment({ findSlots: silent });
    const reviewing = await reviewLife(item(), { decideMatchReview: silent });
    const linking = new Life(linkOpening(), { createLinkToken: silent });
    const opening = { workflow: placeKitOrder, type: 'placeKitOrder', workflowId: 'place-kit-order/ref-1', now: start };
    const placing = new Life(opening, { createKitOrder: silent });
    const adopting = new Life(opening, { adoptOrder: silent });
    const upload = { workflow: submitReport, type: 'submitReport', workflowId: 'submit-report/ref-1', now: start };
    const uploading = new Life(upload, { uploadReport: silent });
    const kit = { reference: 'ref-1', policy: resolvePolicy('order') };
    const file = { reference: 'ref-1', userId, file: { path: 'report.pdf' }, policy: resolvePolicy('report') };
    for (const [life, name, given, most] of [
      [arranging, 'findSlots', {}, 5],
      [reviewing, 'reject', {}, 5],
      [await linking.start({ userId: linkUser, provider, policy: resolvePolicy('link') }), 'requestLink', {}, 5],
      [await placing.start({ ...kit, kind: 'unregistered', order: { user_id: userId } }), 'cancel', {}, 8],
      [await adopting.start({ ...kit, kind: 'existing', orderId }), 'cancel', {}, 8],
      [await uploading.start(file), 'cancel', {}, 8],
    ] as const) {
      for (let count = 0; count < most; count += 1) expect(await life.update(name, given)).toBeUndefined();
      expect(await life.update(name, given)).toEqual({ name, refused: 'ServiceUnavailable' });
      expect(life.run.accepted).toHaveLength(most);
    }
    expect(await arranging.update('cancel')).toBeUndefined();
    expect(arranging.run.accepted.at(-1)).toBe('cancel');
    await arranging.given({ findSlots: slots });
    expect(repliesOf(arranging).slice(1, 6)).toEqual(Array(5).fill('answered'));
  });

  test.each(['not_started', 'worker_lost'])('without an answer in time (%s) may be sent again', async (how) => {
    const life = await appointment({ findSlots: ended(how) });
    await life.update('findSlots', {});
    expect(repliesOf(life)).toEqual(['CommandTimedOut']);
    expect(life.run.end).toBeUndefined();
  });

  test('is answered though the workflow is cancelled meanwhile, which has its turn after it', async () => {
    const life = await appointment({ findSlots: silent });
    await life.update('findSlots', {});
    await life.update('findSlots', {});
    await life.run.cancel();
    expect(life.run.end).toBeUndefined();
    await life.given({ findSlots: slots });
    expect(repliesOf(life)).toEqual(['answered', 'AppointmentEnded']);
    expect(life.run.end).toMatchObject({ kind: 'completed', result: { outcome: 'abandoned' } });
  });
});

const input = { userId, policy: resolvePolicy('deletion') };

/** A deletion whose second read of its user ends so, and at which hours it is read the next two times. */
async function readsAfter(second: object): Promise<number[]> {
  const answers = [unavailable, second];
  const readUser = () => answers.shift() ?? unavailable;
  const life = await new Life(deletion, { ...usual, readUser }).start(input);
  const hours = (await life.until(40)).secondsOf('readUser').map((seconds) => seconds / 3_600);
  return hours.slice(1, 3);
}

const asking = (hours: number) => ({
  failure: { type: 'TooManyRequests', isFinal: false, details: { fields: [], retryAfterMs: hours * 3_600_000 } },
});

test.each([
  ['waits as long as the service asks', asking(2), 120],
  ['waits for a day at most', asking(72), 24 * 60],
  ['does not take no worker for a refusal', ended('not_started'), 10],
  ['does not take a lost worker for a refusal', ended('worker_lost'), 10],
])('a workflow that calls without end %s', async (_what, second, pause) => {
  const [first = 0, next = 0] = await readsAfter(second);
  expect(Math.round((next - first) * 60)).toBe(pause);
});
