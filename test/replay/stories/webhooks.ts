import { WorkflowFailedError } from '@temporalio/client';
import { inventedOrgId } from '../../../sandbox/lab-service/webhook-endpoints.js';
import { inventedTeamId } from '../../../sandbox/lab-service/seed.js';
import { webhookEndpointsId } from '../../../protocol/ids.js';
import { operatorCallName, type OperatorCallName } from '../../../protocol/operators/operator-calls.js';
import type { Story } from './story.js';

export const webhooks: readonly Story[] = [
  /** An address is registered, listed, not rotated (nothing is encrypted here) and removed: a run each. */
  async function webhooksManaged(stage) {
    const { webhooks } = stage.labs;
    const place = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };
    const workflowId = webhookEndpointsId(place);
    const runs: Record<string, string> = {};
    const remember = async (name: string) => {
      runs[name] = (await stage.temporal.workflow.getHandle(workflowId).describe()).runId;
    };
    const { endpoint } = await webhooks.register(place, { url: 'https://labs.example.com/webhooks' });
    await remember('webhook-registered');
    await webhooks.readAll(place);
    await remember('webhooks-listed');
    const input = { do: 'rotateWebhookSecret', ...place, webhookId: endpoint.id };
    const rotation = { workflowId, taskQueue: 'lab-operations', args: [input] };
    const refused: unknown = await stage.temporal.workflow
      .execute(operatorCallName, rotation)
      .catch((error: unknown) => error);
    if (!(refused instanceof WorkflowFailedError)) throw new Error('The rotation was not refused');
    await remember('webhook-not-rotated');
    await webhooks.delete(place, endpoint.id);
    await remember('webhook-deleted');
    return Object.fromEntries(Object.entries(runs).map(([name, runId]) => [name, { workflowId, runId }]));
  },

  async function webhookRotated(stage) {
    const place = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };
    const workflowId = webhookEndpointsId(place);
    const { endpoint } = await stage.labs.webhooks.register(place, { url: 'https://labs.example.com/rotated' });
    const taskQueue = 'recorded-as-though-encrypted';
    const worker = await stage.workAsThoughEncrypted(taskQueue);
    try {
      const carryOut = async (name: OperatorCallName, rest: object = {}) => {
        const input = { do: name, ...place, webhookId: endpoint.id, ...rest };
        await stage.temporal.workflow.execute(operatorCallName, { workflowId, taskQueue, args: [input] });
        const { runId } = await stage.temporal.workflow.getHandle(workflowId).describe();
        return { workflowId, runId };
      };
      return {
        'webhook-rotated': await carryOut('rotateWebhookSecret'),
        'webhook-read': await carryOut('readWebhook'),
        'webhook-updated': await carryOut('updateWebhook', { disabled: false, eventTypes: [] }),
        'webhook-headers-set': await carryOut('setWebhookHeaders', { headers: { 'X-Invented': 'yes' } }),
        'webhook-headers-read': await carryOut('readWebhookHeaders'),
      };
    } finally {
      await worker.stop();
      await stage.labs.webhooks.delete(place, endpoint.id);
    }
  },
];
