import { randomUUID } from 'node:crypto';
import proto from '@temporalio/proto';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { deliverNotificationsName } from '../../protocol/notifications/delivery.js';
import { kitOrderName } from '../../protocol/order/messages.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { labAttentionKey, labAttentionSinceKey, labPhaseKey } from '../../protocol/search-attributes.js';
import { type FleetOptions, watchFleet } from '../../workers/monitoring/fleet.js';
import { createRegistry } from '../../workers/monitoring/metrics.js';
import { devServer } from '../rig/environments.js';
import { samplesOf, valueOf } from '../rig/monitoring.js';
import { patience } from '../e2e/stack.js';

/** As a released server limits them; a dev server has no limit of its own. */
const limit = ['--dynamic-config-value', 'frontend.namespaceRPS.visibility=10'];
const rig = devServer({ serverArguments: limit });
const taskQueue = 'counted';
const log = pino({ level: 'silent' });
const { CommandType } = proto.temporal.api.enums.v1;
const completion = {
  commandType: CommandType.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
  completeWorkflowExecutionCommandAttributes: {},
};

async function open(name: string, phase?: string, reasons: string[] = []): Promise<void> {
  const since = new Date(Date.now() - 60_000);
  const attention = [
    { key: labAttentionKey, value: reasons },
    { key: labAttentionSinceKey, value: since },
  ];
  await rig.client.workflow.start(name, {
    workflowId: `${name}-${randomUUID()}`,
    taskQueue,
    typedSearchAttributes: [
      ...(phase === undefined ? [] : [{ key: labPhaseKey, value: phase }]),
      ...(reasons.length === 0 ? [] : attention),
    ],
  });
}

/** The next workflow task of this queue ends its workflow. */
async function end(command: proto.temporal.api.command.v1.ICommand): Promise<void> {
  const { workflowService } = rig.client;
  const task = { namespace: rig.namespace, taskQueue: { name: taskQueue } };
  const poll = () => workflowService.pollWorkflowTaskQueue(task);
  const { taskToken } = await rig.client.withDeadline(Date.now() + patience.timeout, poll);
  await workflowService.respondWorkflowTaskCompleted({ namespace: rig.namespace, taskToken, commands: [command] });
}

function watched(options: FleetOptions = {}) {
  const registry = createRegistry({});
  const refresh = watchFleet(registry, { client: rig.client, taskQueue, log }, options);
  return async () => {
    await refresh();
    return samplesOf(await registry.metrics()).filter(({ name }) => name.startsWith('labops_'));
  };
}

test('a page of workflows shows the same numbers as counting them one by one', async () => {
  await open(placeKitOrderName, 'placing', ['placing_ambiguous']);
  await end({
    commandType: CommandType.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION,
    failWorkflowExecutionCommandAttributes: { failure: { message: 'ambiguous' } },
  });
  await open(deliverNotificationsName, undefined, ['notifications_undelivered']);
  await end(completion);
  await open(kitOrderName, 'at_lab');
  await end(completion);
  await open(placeKitOrderName, 'placing', ['placing_delayed']);
  await open(kitOrderName, 'at_lab', ['results_overdue', 'critical_result']);
  await open(kitOrderName, 'of_another_release');
  const scrape = watched({ rememberedMs: 0, callEveryMs: 200 });
  await expect
    .poll(async () => valueOf(await scrape(), 'labops_placings_in_doubt', { doubt: 'ambiguous' }), patience)
    .toBe(1);
  await expect.poll(async () => valueOf(await scrape(), 'labops_deliveries_given_up'), patience).toBe(1);
  await expect.poll(async () => valueOf(await scrape(), 'labops_workflows_with_attention'), patience).toBe(2);
  const kit = { workflow_type: kitOrderName };
  await expect
    .poll(async () => valueOf(await scrape(), 'labops_open_workflows', { ...kit, phase: 'other' }), patience)
    .toBe(1);
  const listed = await scrape();
  expect(valueOf(listed, 'labops_open_workflows', { ...kit, phase: 'at_lab' })).toBe(1);
  expect(valueOf(listed, 'labops_open_workflows', { workflow_type: placeKitOrderName })).toBe(1);
  expect(valueOf(listed, 'labops_placings_in_doubt', { doubt: 'delayed' })).toBe(1);
  expect(valueOf(listed, 'labops_attention', { ...kit, reason: 'critical_result' })).toBe(1);
  expect(valueOf(listed, 'labops_attention_oldest_seconds', { reason: 'critical_result' })).toBeGreaterThan(59);

  const countScrape = watched({ pageSize: 1, callEveryMs: 150 });
  await expect.poll(async () => valueOf(await countScrape(), 'labops_deliveries_given_up'), patience).toBe(1);
  const numbers = (samples: typeof listed) => samples.filter(({ name }) => !name.endsWith('seconds'));
  expect(numbers(await countScrape())).toEqual(numbers(listed));
});

test('eight workers that are scraped together stay within the limit of a released server', async () => {
  const fleet = Array.from({ length: 8 }, () => watched());
  for (const samples of await Promise.all(fleet.map((scrape) => scrape()))) {
    expect(valueOf(samples, 'labops_workflows_with_attention')).toBe(2);
    expect(valueOf(samples, 'labops_fleet_age_seconds')).toBeLessThan(5);
    expect(valueOf(samples, 'labops_fleet_failures_total')).toBe(0);
  }
});

test('while visibility does not answer, the last numbers are shown with their age, but not for long', async () => {
  const scrape = watched({ rememberedMs: 0, callEveryMs: 200, shownMs: 10_000 });
  expect(valueOf(await scrape(), 'labops_workflows_with_attention')).toBe(2);
  const refused = Object.assign(new Error('too many'), { code: 8, details: '', metadata: {} });
  const list = vi.spyOn(rig.client.workflowService, 'listWorkflowExecutions').mockRejectedValue(refused);
  try {
    const soon = await scrape();
    expect(valueOf(soon, 'labops_workflows_with_attention')).toBe(2);
    expect(valueOf(soon, 'labops_fleet_failures_total')).toBe(1);
    await expect.poll(async () => valueOf(await scrape(), 'labops_workflows_with_attention'), patience).toBeUndefined();
    expect(valueOf(await scrape(), 'labops_fleet_age_seconds')).toBeUndefined();
  } finally {
    list.mockRestore();
  }
});
