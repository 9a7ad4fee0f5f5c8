import { ApplicationFailure } from '@temporalio/activity';
import { expect, test } from 'vitest';
import { policyActivities, type PolicyQuestion } from '../../../activities/policy.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

const ask = (question: PolicyQuestion) => policyActivities().resolvePolicy(question);

async function failureOf(question: PolicyQuestion): Promise<unknown> {
  return ask(question).catch((error: unknown) => error);
}

test('with a base they are those of the base', async () => {
  const base = resolvePolicy('order', { shippingDeadline: '1d', onLost: 'fail', creationTimeout: '10s' });
  expect(await ask({ of: 'order', policy: { onLost: 'replace' }, base })).toEqual({ ...base, onLost: 'replace' });
});

test('an invalid policy fails for good, with every fault', async () => {
  const failure = await failureOf({ of: 'deletion', policy: { grace: '8d', unknown: 1 } });
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({
    type: 'PolicyInvalid',
    nonRetryable: true,
    message: expect.stringMatching(
      /^Invalid deletion policy: grace must .*; unknown is not a policy setting$/,
    ) as string,
    details: [{ fields: [] }],
  });
});

test('a policy of a later release waits for a worker that knows it', async () => {
  const policy = { ...resolvePolicy('order'), version: resolvePolicy('order').version + 1, unknown: 1 };
  expect(await failureOf({ of: 'order', policy })).toMatchObject({ type: 'PolicyTooNew', nonRetryable: false });
});
