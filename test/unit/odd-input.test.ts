import { describe, expect, test } from 'vitest';
import { Run } from '../../proof/lives/run.js';
import { deleteUser } from '../../workflows/deletion/workflow.js';
import { deliverNotifications } from '../../workflows/notifications/delivery.js';
import { linkProvider } from '../../workflows/link/workflow.js';
import { kitOrder } from '../../workflows/order/workflow.js';
import { placeKitOrder } from '../../workflows/order/placing.js';
import { reconcileOrders } from '../../workflows/reconcile.js';
import { operatorCall } from '../../workflows/operator-calls.js';
import { submitReport } from '../../workflows/report/submit.js';
import { parsingJob } from '../../workflows/report/workflow.js';
import { fetchWorkoutStream } from '../../workflows/workout-stream.js';

/*
 * Backends in other languages start and signal workflows as well. An error that is not a refusal would fail a workflow's task again and
 * again, and whatever reaches it after that would be accepted in vain.
 */

const now = Date.parse('2024-03-01T10:00:00Z');
type Workflow = ConstructorParameters<typeof Run>[0]['workflow'];

const workflows: [string, string, unknown][] = [
  ['kitOrder', 'kit-order/a', kitOrder],
  ['placeKitOrder', 'place-kit-order/a', placeKitOrder],
  ['fetchWorkoutStream', 'workout-stream/w', fetchWorkoutStream],
  ['operatorCall', 'webhook-endpoints/a/b/sandbox', operatorCall],
  ['deliverNotifications', 'deliver-notifications/a', deliverNotifications],
  ['reconcileOrders', 'reconcile', reconcileOrders],
  ['parsingJob', 'parsing-job/j', parsingJob],
  ['linkProvider', 'link-provider/u/p', linkProvider],
  ['submitReport', 'submit-report/r', submitReport],
  ['deleteUser', 'delete-user/u', deleteUser],
];

async function started(type: string, input: unknown, signals: readonly object[] = []): Promise<Run> {
  const [, workflowId = '', workflow] = workflows.find(([name]) => name === type) ?? [];
  const run = new Run({ workflow: workflow as Workflow, type, workflowId, now });
  await run.start(input, signals as never);
  return run;
}

const faultless = (run: Run) =>
  expect(JSON.stringify(run.end ?? null)).not.toMatch(/TypeError|RangeError|not iterable/);

describe.each(workflows)('%s', (type) => {
  test.each([undefined, null, {}, 'text'])('started with %j runs, or is refused', async (input) => {
    faultless(await started(type, input));
  });
});

test('a kit order that was started without an input follows the order of its ID, so no webhook is accepted in vain', async () => {
  const run = await started('kitOrder', null);
  expect(run.end).toBeUndefined();
  expect(run.calls).not.toEqual([]);
});

test('a hand-over without an order is dropped, and the order is read', async () => {
  const placed = { reference: 'r', policy: {}, adopted: false, notifies: true };
  const run = await started('kitOrder', { rootOrderId: 'a', earlierRun: {} }, [
    { name: 'orderPlaced', argument: placed },
  ]);
  faultless(run);
  expect(run.end).toBeUndefined();
});
