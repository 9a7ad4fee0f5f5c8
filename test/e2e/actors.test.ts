import { expect, test } from 'vitest';
import { kitOrderId } from '../../protocol/ids.js';
import { stack } from './stack.js';

const lab = stack();

/** What the Web UI shows of a workflow as its case file. */
async function caseFileOf(workflowId: string): Promise<string> {
  const metadata = await lab.rig.client.workflow.getHandle(workflowId).query('__temporal_workflow_metadata');
  return (metadata as { currentDetails?: string }).currentDetails ?? '';
}

test('what two people decide through one process names each of them, in the state and in the Web UI', async () => {
  const { orderId } = await lab.place();
  const [nurse, doctor] = [lab.labs.as('nurse-7'), lab.labs.as('doctor-3')];
  await (await nurse.orders.getHandle({ orderId })).setPolicy({ shippingDeadline: '8d' });
  const state = await (await doctor.orders.getHandle({ orderId })).cancel();
  const decided = 'timeline' in state ? state.timeline.filter(({ eventId }) => eventId === undefined) : [];
  expect(decided).toMatchObject([
    { status: 'policy_changed', detail: 'shippingDeadline', by: 'nurse-7' },
    { status: 'order_cancelled', by: 'doctor-3' },
  ]);
  const workflowId = kitOrderId(orderId);
  const details = await caseFileOf(workflowId);
  expect(details).toContain('**policy changed: shippingDeadline**, by `nurse-7`');
  expect(details).toContain('**order cancelled**, by `doctor-3`');
  const { events } = await lab.rig.client.workflow.getHandle(workflowId).fetchHistory();
  const accepted = (events ?? []).flatMap(
    ({ workflowExecutionUpdateAcceptedEventAttributes: update }) => update?.acceptedRequest?.meta?.identity ?? [],
  );
  expect(accepted).toEqual(['nurse-7', 'doctor-3']);
});
