import { describe, expect, test } from 'vitest';
import { resolveAppointmentPolicy } from '../../../protocol/appointment/policy.js';
import { resolveDeletionPolicy } from '../../../protocol/deletion/policy.js';
import { resolveLinkPolicy } from '../../../protocol/link/policy.js';
import { resolvePolicy } from '../../../protocol/order/policy.js';
import { resolveReportPolicy } from '../../../protocol/report/policy.js';
import { appointmentPolicyVersions } from '../../../workflows/appointment/versions.js';
import { deletionPolicyVersions } from '../../../workflows/deletion/versions.js';
import { openPolicy, upgradePolicy, type PolicyVersions } from '../../../workflows/entity/policy.js';
import { StateTooNew } from '../../../workflows/entity/versions.js';
import { linkPolicyVersions } from '../../../workflows/link/versions.js';
import { orderPolicyVersions } from '../../../workflows/order/versions.js';
import { reportPolicyVersions } from '../../../workflows/report/versions.js';
import { day } from '../order/histories.js';

const all = [
  [resolvePolicy(), orderPolicyVersions],
  [resolveLinkPolicy(), linkPolicyVersions],
  [resolveReportPolicy(), reportPolicyVersions],
  [resolveAppointmentPolicy(), appointmentPolicyVersions],
  [resolveDeletionPolicy(), deletionPolicyVersions],
] as const;

describe.each(all)('of %j', (resolved, versions) => {
  test('the settings of its versions are those of its table: who adds a setting adds a version', () => {
    const { version, ...settings } = resolved;
    const added = versions.added.flatMap((each) => Object.keys(each));
    expect(added.toSorted()).toEqual(Object.keys(settings).toSorted());
    expect(version).toBe(versions.added.length);
  });

  test('a resolved policy is followed as it is, and nobody is asked for it', () => {
    expect(openPolicy(versions, resolved)).toEqual({ policy: resolved });
  });

  test.each([undefined, null, {}, { notificationDeadline: '2d' }, { ...resolved, version: undefined }, 'none'])(
    'one that a caller gave in part is asked for: %j',
    (given) => {
      expect(openPolicy(versions, given)).toMatchObject({ policy: { version: 0 }, requestedPolicy: given ?? {} });
    },
  );

  test('one that says it is complete and is not, or has something else, is asked for', () => {
    const { notificationDeadline: _, ...less } = resolved;
    const wrong = [
      less,
      { ...resolved, unknown: 1 },
      { ...resolved, notificationDeadline: '3d' },
      { ...resolved, notificationDeadline: -1 },
      { ...resolved, notificationDeadline: null },
    ];
    for (const given of wrong) expect(openPolicy(versions, given)).toMatchObject({ requestedPolicy: given });
  });

  test('one of a later release is refused', () => {
    const later = { ...resolved, version: versions.added.length + 1, unknown: 1 };
    expect(() => openPolicy(versions, later)).toThrow(StateTooNew);
    expect(() => upgradePolicy(versions, later)).toThrow(`has version ${later.version}, and this release knows`);
  });
});

/** What a release would write that adds two settings to the order's policy. */
const later: PolicyVersions<'order'> = {
  of: 'order',
  added: [...orderPolicyVersions.added, { holidayAllowance: 2 * day, holidayReminders: [day] }],
};

test('an order under way gets the constant of a setting that a release adds, and keeps what it had', () => {
  const policy = resolvePolicy({ shippingDeadline: '1d', onLost: 'replace' });
  const upgraded = { ...policy, holidayAllowance: 2 * day, holidayReminders: [day], version: 2 };
  expect(upgradePolicy(later, policy)).toEqual(upgraded);
  expect(upgradePolicy(later, upgraded)).toEqual(upgraded);
  // As it does in a history that is replayed: what was complete then is complete, and no activity is added.
  expect(openPolicy(later, policy)).toEqual({ policy: upgraded });
});

test('a policy from before versions gets constants for what it lacks, and never the defaults of today', () => {
  const old = { shippingDeadline: 3 * day, returnReminders: [day], resultsDeadline: Number.NaN, forgotten: 1 };
  const upgraded = upgradePolicy(
    { of: 'order', added: [{ ...orderPolicyVersions.added[0], resultsDeadline: 99 }] },
    old,
  );
  expect(upgraded).toEqual({
    ...resolvePolicy(),
    shippingDeadline: 3 * day,
    returnReminders: [day],
    resultsDeadline: 99,
  });
});
