import { expect, test } from 'vitest';
import { Calendar } from '../../../sandbox/demo/narrator.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

test.each([0.2, 1, 3600])('an order takes the default policy in days of %d s', (daySeconds) => {
  const calendar = new Calendar(daySeconds);
  expect(resolvePolicy('order', calendar.policy({}))).toMatchObject({ registrationDeadline: 90 * daySeconds * 1000 });
});
