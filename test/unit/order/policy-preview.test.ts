import { expect, test } from 'vitest';
import { previewPolicy } from '../../../workflows/order/policy-change.js';
import { openRun } from '../../../workflows/order/run.js';
import { caseOf, kitOf, pathTo } from './histories.js';
import { resolvePolicy } from '../../../protocol/policies.js';

test('a change is shown also before the policy of the order itself is resolved', () => {
  const chain = caseOf([kitOf('order-1', pathTo('ordered'))]);
  chain.policy = { ...resolvePolicy('order'), version: 0 };
  const preview = previewPolicy(openRun(chain, undefined), { shippingDeadline: '8d' }, 0);
  expect(preview).toMatchObject({ moved: [{ name: 'shipping_overdue' }] });
});
