import { expect, test } from 'vitest';
import { opening as appointmentOpening, orderId, reading as readingOf } from '../appointment/lives.js';
import { Life } from '../life.js';
import { life as linkLife } from '../link/lives.js';
import { placed } from '../entity/placed-order.js';
import { resolvePolicy as policyOf } from '../../../protocol/policy/policies.js';

/* The policies of runs that were given a part of one, or one that is wrong. */

const invalid = { failure: { type: 'PolicyInvalid', isFinal: true } };

/** @returns the run, and what it asked for */
async function appointment(given: unknown, requested?: unknown): Promise<Life & { asked: unknown[] }> {
  const asked: unknown[] = [];
  const resolvePolicy = (_now: number, question: { policy: { choiceWait?: string } }, call: { within?: number }) => {
    const { policy } = question;
    // Nobody waits for it: it takes as long as it takes to find a worker that knows the policy.
    expect(call.within).toBeUndefined();
    asked.push(policy);
    return policy.choiceWait === 'soon' ? invalid : policyOf('appointment', policy as object);
  };
  const reading = readingOf();
  const answers = { resolvePolicy, identifyAppointment: { notifies: true, reading }, readAppointment: reading };
  const begun = new Life(appointmentOpening, answers);
  await begun.start({ orderId, policy: given }, { name: 'bookingRequested', argument: { policy: requested } });
  return Object.assign(begun, { asked });
}

const ends = ({ events }: Life) => events.filter((event) => event.includes('ended'));

test('a policy that is wrong is ignored, and said to be: the defaults count, or the policy before it', async () => {
  const run = await appointment({ choiceWait: 'soon' });
  expect(run.asked).toEqual([{ choiceWait: 'soon' }, {}]);
  expect(ends(await run.until(1000))).toEqual(['336h appointment.ended expired']);
  const other = await appointment(policyOf('appointment', { choiceWait: '3d' }), { choiceWait: 'soon' });
  expect(other.asked).toEqual([{ choiceWait: 'soon' }]);
  expect(ends(await other.until(1000))).toEqual(['72h appointment.ended expired']);
  const { timeline } = (other.run.end as unknown as { result: { timeline: { what: string }[] } }).result;
  expect(timeline.map(({ what }) => what)).toContain('an invalid policy was ignored');
});

test('a policy that came while another one was resolved is the one that counts', async () => {
  const run = await appointment(undefined);
  expect(run.asked).toEqual([{}]);
  const late = new Life(appointmentOpening, { ...run.answers, identifyAppointment: { notifies: true } });
  await late.run.start({ orderId, policy: { choiceWait: '2d' } });
  await late.run.signal({ name: 'bookingRequested', argument: { policy: { choiceWait: '4d' } } });
  expect(ends(await (await late.settle()).until(1000))).toEqual(['96h appointment.ended expired']);
});

test('a new link after the end of another asks for its policy only if that is a part of one, and for as long as a caller waits', async () => {
  const expiresAt = '2026-03-01T10:20:00.000Z';
  for (const [given, asked] of [
    [policyOf('link', { tokenLife: '20m' }), []],
    [{ tokenLife: '20m' }, [180_000]],
  ] as const) {
    const within: unknown[] = [];
    const resolvePolicy = (_now: number, { policy }: { policy: object }, call: { within?: number }) => {
      within.push(call.within);
      return policyOf('link', policy);
    };
    const link = await linkLife({}, { resolvePolicy });
    // The end and the request for the next one arrive together: the run has not closed yet.
    await link.run.update({ name: 'cancel' });
    expect(await link.update('requestLink', { newLink: { policy: given } })).toMatchObject({ value: { expiresAt } });
    expect(within).toEqual(asked);
  }
});

test('changes of a running order’s policy are completed by the policy that it has', async () => {
  const asked: unknown[] = [];
  const resolvePolicy = (_now: number, question: { policy: object; base: object }, { within }: { within?: number }) => {
    asked.push({ ...question, within });
    return { ...question.base, ...question.policy };
  };
  const order = await placed({ resolvePolicy }, { giveUpAfter: '1d' });
  const policy = { shippingDeadline: 172_800_000 };
  await order.update('setPolicy', { policy });
  // The caller waits for as long as for other commands.
  const base = policyOf('order', { giveUpAfter: '1d' });
  expect(asked).toEqual([{ of: 'order', policy, base, within: 180_000 }]);
  expect((await order.until(1000)).events.slice(1)).toEqual([
    '48h order.attention_raised shipping_overdue',
    '72h order.ended unresolved',
    '72h completed',
  ]);
});
