import { describe, expect, test } from 'vitest';
import { type PolicyName, resolvePolicy as policyOf } from '../../../protocol/policy/policies.js';
import { PolicyTooNew } from '../../../protocol/policy/resolution.js';
import type { Settings } from '../../../protocol/policy/settings.js';
import { appointmentSettings } from '../../../protocol/appointment/policy.js';
import { deletionSettings } from '../../../protocol/deletion/policy.js';
import { linkSettings } from '../../../protocol/link/policy.js';
import { matchReviewSettings } from '../../../protocol/match-review/policy.js';
import { orderSettings } from '../../../protocol/order/policy.js';
import { reportSettings } from '../../../protocol/report/policy.js';
import { openPolicy } from '../../../workflows/entity/policy.js';
import { carriedOn, StateTooNew } from '../../../workflows/entity/versions.js';
import { openChain } from '../../../workflows/order/chain.js';
import { openJob } from '../../../workflows/report/job.js';
import { day } from '../order/histories.js';
import { opening as appointmentOpening, orderId, reading as readingOf } from '../appointment/appointments.js';
import { Life } from '../life.js';
import { life as linkLife } from '../link/links.js';
import { placed } from '../entity/placed-order.js';

const all: readonly (readonly [PolicyName, Settings])[] = [
  ['order', orderSettings],
  ['link', linkSettings],
  ['report', reportSettings],
  ['appointment', appointmentSettings],
  ['deletion', deletionSettings],
  ['match review', matchReviewSettings],
];

/** Values at the bounds of a setting, and those next to them that are out of it. */
function boundsOf(setting: Settings[string]): { within: unknown[]; beyond: unknown[] } {
  switch (setting.kind) {
    case 'duration':
    case 'count': {
      const { least, most } = setting;
      return { within: [least, most], beyond: [least - 1, most + 1, String(least)] };
    }
    case 'deadline': {
      const wrong = [0, 999, 3652.5 * day + 1, '0bd', '1000bd', 'bd'];
      return { within: [1000, 3652.5 * day, '1bd', '999bd'], beyond: wrong };
    }
    case 'dates':
      return {
        within: [[], Array(200).fill('2026-12-25')],
        beyond: [
          ...['on 2026-12-25', '2026-02-30', '2026-12-25T00', ['2026-12-25']].map((date) => [date]),
          ...[Array(201).fill('2026-12-25'), '2026-12-25'],
        ],
      };
    case 'following':
      return { within: [setting.most], beyond: [setting.most + 1, 29_999] };
    case 'durations':
      return {
        within: [[], [1000, 3652.5 * day], Array(20).fill(1000)],
        beyond: [[0], [999], [3652.5 * day + 1], Array(21).fill(1000), 1000],
      };
    case 'choice':
      return { within: [...setting.choices], beyond: ['shrug', '', 1] };
    default:
      return setting satisfies never;
  }
}

describe.each(all)('of %j', (of, table) => {
  const resolve = (given?: unknown) => policyOf(of, given);
  const resolved = resolve();
  const names = Object.keys(table);

  test('a setting that is left out, null or undefined has its default', () => {
    const silent = [null, undefined].map((value) => Object.fromEntries(names.map((name) => [name, value])));
    for (const given of [undefined, null, {}, ...silent]) expect(resolve(given)).toEqual(resolved);
  });

  const wrong = ['', 'soon', '-1d', -99, NaN, Infinity, true, {}, '1'.repeat(200)];
  test.each(wrong)('no setting takes %j, and none is known that is not in the table: all faults are named', (value) => {
    for (const name of names) {
      const faults = [expect.stringMatching(`^${name} must be `), 'toString is not a policy setting'];
      const given = { [name]: value, toString: 1 } as never;
      expect(() => resolve(given)).toThrow(expect.objectContaining({ faults }));
    }
  });

  const spans = names.filter((name) => /^d(?!ates)|following/.test(table[name]?.kind ?? ''));

  const noSpans = [7, 30, 86_400_000, '7', ' 7', '7 ', '.5', '86400000', '3e9', 'P7D', '999ms', '0.01s'];
  test.each(noSpans)('%j is not a duration: it has no unit, or is shorter than a second', (value) => {
    for (const name of spans) {
      const list = table[name]?.kind === 'durations';
      const faults = [expect.stringMatching(`^${name} (entry 1 )?must be a duration with its unit, such as '7d'`)];
      expect(() => resolve({ [name]: list ? [value] : value })).toThrow(expect.objectContaining({ faults }));
    }
  });

  test('a duration with its unit is what it says', () => {
    for (const name of spans.filter((each) => table[each]?.kind === 'durations')) {
      expect(resolve({ [name]: ['36 hours', '1.5D'] })).toMatchObject({ [name]: [1.5 * day, 1.5 * day] });
    }
    expect(resolve({ notificationDeadline: '90 Minutes' })).toMatchObject({ notificationDeadline: 5_400_000 });
  });

  test('a resolved policy resolves to itself and is followed as it is; one with a value beyond the bounds of its table is asked for', () => {
    // Settings that are compared with others, which are as far away as they may be.
    const others: Record<string, object> = {
      creationTimeout: of === 'order' ? { creationSettling: 600_000 } : { uploadTimeout: 3_600_000 },
      uploadTimeout: { creationTimeout: 1_000 },
    };
    for (const [name, setting] of Object.entries(table)) {
      const { within, beyond } = boundsOf(setting);
      for (const value of within) {
        const given = { ...resolved, ...others[name], [name]: value };
        expect(openPolicy(of, given), `${name} ${String(value)}`).toEqual({ policy: given });
        expect(resolve(given)).toEqual(given);
      }
      for (const value of beyond) {
        const given = { ...resolved, ...others[name], [name]: value };
        expect(openPolicy(of, given), `${name} ${String(value)}`).toMatchObject({ requestedPolicy: given });
      }
    }
  });

  const parts = [undefined, null, {}, { notificationDeadline: '2d' }, { ...resolved, version: undefined }, 'none'];
  test.each(parts)('one that a caller gave in part is asked for: %j', (given) => {
    expect(openPolicy(of, given)).toMatchObject({ policy: { version: 0 }, requestedPolicy: given ?? {} });
  });

  test('one that says it is complete and is not, or has something else, is asked for', () => {
    const { notificationDeadline: _, ...less } = resolved;
    const wrong = [
      less,
      { ...resolved, unknown: 1 },
      { ...resolved, unknown: '1' },
      { ...resolved, notificationDeadline: '3bd' },
      { ...resolved, notificationDeadline: -1 },
      { ...resolved, notificationDeadline: null },
    ];
    for (const given of wrong) expect(openPolicy(of, given)).toMatchObject({ requestedPolicy: given });
  });

  test('one of a later release is refused', () => {
    const later = { ...resolved, version: resolved.version + 1, unknown: 1 };
    expect(() => openPolicy(of, later)).toThrow(PolicyTooNew);
  });
});

const span = "must be a duration with its unit, such as '7d' or '36 hours',";
test.each<[PolicyName, string, unknown[], string]>([
  ['link', 'tokenLife', ['9s', '9999ms', '25h'], `${span} at least 10 seconds and at most 1 day`],
  ['link', 'maxCodeAttempts', [0, 1.5, 21, '3'], 'must be a whole number from 1 to 20'],
  ['link', 'maxPasswordAttempts', [0, 1.5, 21, '3'], 'must be a whole number from 1 to 20'],
  // The service gives 7 days, and within less than an hour nobody could undo the deletion.
  ['deletion', 'grace', ['8d', '59m', '7 sec', '604800ms'], `${span} at least 1 hour and at most 7 days`],
])('of a policy for a %s, the %s is refused beyond its bounds: %j', (of, name, values, rule) => {
  for (const value of values) {
    const faults = [expect.stringContaining(`${name} ${rule}`)];
    expect(() => policyOf(of, { [name]: value })).toThrow(expect.objectContaining({ faults }));
  }
});

test('a resolved policy may have a grace of seconds, for programs in which days are seconds', () => {
  const policy = { ...policyOf('deletion'), grace: 7_000 };
  expect(policyOf('deletion', policy)).toEqual(policy);
  expect(() => policyOf('deletion', { ...policy, grace: 7 })).toThrow(/grace must be .* at least 1 second/);
});

test('a policy whose settings contradict each other is refused, and asked for if it says that it is resolved', () => {
  const faults = ['creationTimeout must be shorter than uploadTimeout'];
  const same = { uploadTimeout: '30s', creationTimeout: '30s' } as const;
  expect(() => policyOf('report', same)).toThrow(expect.objectContaining({ faults }));
  const order = { ...policyOf('order'), creationTimeout: 60_000 };
  expect(openPolicy('order', order)).toMatchObject({ requestedPolicy: order });
  const report = { ...policyOf('report'), creationTimeout: 10_000, uploadTimeout: 10_000 };
  expect(openPolicy('report', report)).toMatchObject({ requestedPolicy: report });
});

test('a creation may settle in just the time that it may take', () => {
  const order = { ...policyOf('order'), creationTimeout: 60_000, creationSettling: 60_000 };
  expect(openPolicy('order', order)).toEqual({ policy: order });
});

test('what a later release carried on is refused, and not taken for something else', () => {
  expect(() => carriedOn('state of the order', { version: 2 })).toThrow(StateTooNew);
  expect(() => carriedOn('state of the order', { version: 2 })).toThrow('run a later release again');
  expect(carriedOn('state of the order', { version: 1 })).toEqual({ version: 1 });
});

test('null is nothing that an earlier run knew, as a backend in another language may say it', () => {
  const order = { rootOrderId: 'order-1', policy: policyOf('order') };
  expect(openChain({ ...order, carried: null }, 0)).toEqual(openChain(order, 0));
  const job = { jobId: 'job-1', policy: policyOf('report') };
  expect(openJob({ ...job, carried: null }, 0)).toEqual(openJob(job, 0));
});

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
