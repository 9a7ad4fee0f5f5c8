import { describe, expect, test } from 'vitest';
import { resolveReportPolicy } from '../../../protocol/report/policy.js';
import { upgradeAppointment, upgradeAppointmentResult } from '../../../workflows/appointment/versions.js';
import { resultOf as appointmentResultOf } from '../../../workflows/appointment/view.js';
import { upgradeDelivery } from '../../../workflows/delivery.js';
import { openDeletion } from '../../../workflows/deletion/deletion.js';
import { upgradeDeletion } from '../../../workflows/deletion/versions.js';
import { StateTooNew, upgrade, versionOf, type Step } from '../../../workflows/entity/versions.js';
import { upgradeLink } from '../../../workflows/link/versions.js';
import { upgradeReview, upgradeReviewResult } from '../../../workflows/match-review/versions.js';
import { resultOf as reviewResultOf } from '../../../workflows/match-review/view.js';
import { openChain } from '../../../workflows/order/chain.js';
import { deadlinesOf } from '../../../workflows/order/deadlines.js';
import { orderPolicyVersions, upgradeChain, upgradeOrderResult } from '../../../workflows/order/versions.js';
import { resultOf } from '../../../workflows/order/view.js';
import { openJob } from '../../../workflows/report/job.js';
import { upgradeJob, upgradeReportResult, upgradeSubmission } from '../../../workflows/report/versions.js';
import { resultOf as reportResultOf } from '../../../workflows/report/view.js';
import { requestedCase } from '../appointment/appointments.js';
import { asked } from '../link/links.js';
import { readCase } from '../match-review/reviews.js';
import { caseOf, kitOf, pathTo } from '../order/histories.js';
import { handedOver } from '../report/jobs.js';

const chain = caseOf([kitOf('order-1', pathTo('with_customer'))]);
const deletion = openDeletion({ userId: 'user-1' }, 0);

/** What a later run is given by an earlier one, and what it makes of that. */
const states: readonly (readonly [string, object, (state: unknown) => unknown])[] = [
  ['chain', chain, upgradeChain],
  ['order result', resultOf(chain), upgradeOrderResult],
  ['link', asked(), upgradeLink],
  ['job', handedOver(), upgradeJob],
  ['report result', reportResultOf(handedOver()), upgradeReportResult],
  ['submission', { version: 1, lostUploads: [], failures: 3, since: 5, looksBack: true }, upgradeSubmission],
  ['appointment', requestedCase(), upgradeAppointment],
  ['appointment result', appointmentResultOf(requestedCase()), upgradeAppointmentResult],
  ['match review', readCase(), upgradeReview],
  ['match review result', reviewResultOf(readCase()), upgradeReviewResult],
  ['deletion', deletion, upgradeDeletion],
  ['delivery', { version: 1, source: 'a', waiting: [], refused: [], delivered: 2, discarded: 1 }, upgradeDelivery],
];

const sent = (state: object) => JSON.parse(JSON.stringify(state)) as Record<string, unknown>;

describe.each(states)('of an earlier run: %s', (_name, state, upgraded) => {
  test('stays as it is in the version of this release', () => {
    expect(upgraded(sent(state))).toEqual(sent(state));
  });

  test('has everything again if it was written before there were versions, whatever it lacks', () => {
    const whole = sent(state);
    const { version: _, ...before } = whole;
    expect(upgraded(before)).toEqual(whole);
    for (const [name, value] of Object.entries(before)) {
      // What has no value for all orders, such as an id, was never missing.
      const isList = Array.isArray(value) && value.length === 0;
      if (!isList && value !== false && value !== 0) continue;
      const { [name]: _missing, ...less } = before;
      expect(upgraded(less), name).toEqual(whole);
    }
  });

  test('is not touched', () => {
    const { version: _, ...before } = sent(state);
    const frozen = Object.freeze(before);
    upgraded(frozen);
    expect(frozen).not.toHaveProperty('version');
  });

  test('is refused if a later release wrote it, and not taken for something else', () => {
    expect(() => upgraded({ ...sent(state), version: 2 })).toThrow(StateTooNew);
    expect(() => upgraded({ ...sent(state), version: 2 })).toThrow('run a later release again');
  });
});

test('the codes of a link from before codeForm are tidied, as they were then', () => {
  const { codeForm: _, ...policy } = asked().policy;
  expect(upgradeLink({ ...sent(asked()), policy: { ...policy, version: 1 } }).policy.codeForm).toBe('tidied');
});

test('a deadline whose setting the policy lacks exists: it has the constant of the version that added it', () => {
  const { shippingDeadline: _, version: _version, ...policy } = chain.policy;
  const placed = sent(caseOf([kitOf('order-1', pathTo('ordered'))]));
  const upgraded = upgradeChain({ ...placed, policy });
  expect(upgraded.policy.shippingDeadline).toBe(orderPolicyVersions.added[0]?.['shippingDeadline']);
  expect(deadlinesOf(upgraded).map(({ name }) => name)).toContain('shipping_overdue');
});

test('what a run asked for and did not learn before it continued is asked for by the next one', () => {
  const open = {
    ...requestedCase(),
    policy: { ...requestedCase().policy, version: 0 },
    requestedPolicy: { choiceWait: '2d' },
  };
  expect(upgradeAppointment(sent(open))).toMatchObject({
    policy: { version: 0 },
    requestedPolicy: { choiceWait: '2d' },
  });
});

test('null is nothing that an earlier run knew, as a backend in another language may say it', () => {
  const order = { rootOrderId: 'order-1', policy: chain.policy };
  expect(openChain({ ...order, carried: null }, 0)).toEqual(openChain(order, 0));
  const job = { jobId: 'job-1', policy: resolveReportPolicy() };
  expect(openJob({ ...job, carried: null }, 0)).toEqual(openJob(job, 0));
});

test('an old state takes every step on the way, once and in order', () => {
  const steps: readonly Step[] = [
    (state) => ({ ...state, names: [state['name']] }),
    ({ names, ...state }) => ({ count: 0, names, ...state }),
  ];
  const now = { version: 2, names: ['a'], count: 0 };
  expect(upgrade('thing', steps, { name: 'a' })).toEqual({ ...now, name: 'a' });
  expect(upgrade('thing', steps, { version: 1, names: ['a'] })).toEqual(now);
  expect(upgrade('thing', steps, now)).toEqual(now);
  expect(upgrade('thing', steps, undefined)).toEqual({ version: 2, names: [undefined], count: 0 });
});

test('what has no version that is a whole number was written before there were versions', () => {
  const versions = [{ version: 2 }, { version: 1.5 }, { version: '2' }, {}, null, 2].map((state) =>
    versionOf('thing', state, 2),
  );
  expect(versions).toEqual([2, 0, 0, 0, 0, 0]);
});
