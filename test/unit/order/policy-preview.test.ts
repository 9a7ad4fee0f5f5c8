import { expect, test } from 'vitest';
import { resolveOrderPolicy } from '../../../protocol/order/policy.js';
import { previewPolicy } from '../../../workflows/order/policy-change.js';
import { openRun } from '../../../workflows/order/run.js';
import { caseOf, kitOf, pathTo } from './histories.js';

test('a change is shown also before the policy of the order itself is resolved', () => {
  const chain = caseOf([kitOf('order-1', pathTo('ordered'))]);
  chain.policy = { ...resolveOrderPolicy(), version: 0 };
  const preview = previewPolicy(openRun(chain, undefined), { shippingDeadline: '8d' }, 0);
  expect(preview).toMatchObject({ moved: [{ name: 'shipping_overdue' }] });
});
