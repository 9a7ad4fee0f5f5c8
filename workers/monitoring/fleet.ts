import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import proto from '@temporalio/proto';
import { Counter, Gauge, type Registry } from 'prom-client';
import { labAttentionKey, labAttentionSinceKey, labPhaseKey } from '../../protocol/search-attributes.js';
import { remembered, type Watched, withinScrape } from './readings.js';
import { ofTaskQueue } from '../../protocol/task-queues.js';
import { type Fleet, readFleet, type Visibility } from './fleet-counts.js';

/**
 * The totals of all workflows of the task queue. Temporal's visibility counts them, so every worker shows the same numbers, and
 * nothing is counted while an order moves.
 */

export interface FleetOptions {
  /** From the end of one count to the next. Default: 30 s. */
  rememberedMs?: number;
  /** From one call to the next. Default: 2 s, so a fleet of 8 workers makes at most 4 calls a second, whenever they are scraped. */
  callEveryMs?: number;
  /** The most workflows that are listed rather than counted. Default: 1,000, the largest page that a server gives by default. */
  pageSize?: number;
  /** How old a number may get while no new one can be had. Default: 10 minutes. */
  shownMs?: number;
}

const usuallyRememberedMs = 30_000;
const defaultPageSize = 1_000;
/** A released server allows 10 calls a second for a namespace, and lists of the product need some of them. */
const defaultCallEveryMs = 2_000;
/** For one call, with its repetitions. */
const callWithinMs = 25_000;
/** How long old numbers are shown, with their age: longer than two rounds of a large fleet take. After that an old number would pass for a current one. */
const usuallyShownMs = 10 * 60_000;

const { WORKFLOW_EXECUTION_STATUS_RUNNING: running } = proto.temporal.api.enums.v1.WorkflowExecutionStatus;

/** @returns refreshes the gauges, unless they are fresh; never rejects */
export function watchFleet(
  registry: Registry,
  { client, taskQueue, log }: Watched,
  options: FleetOptions = {},
): () => Promise<void> {
  const gauges = fleetGauges(registry);
  const { rememberedMs = usuallyRememberedMs, shownMs = usuallyShownMs } = options;
  const visibility = visibilityOf(client, taskQueue, options);
  let countedAt = -Infinity;
  const count = async () => {
    const began = performance.now();
    try {
      show(gauges, await readFleet(visibility));
      countedAt = began;
    } catch (error) {
      gauges.failures.inc();
      log.warn(
        { err: error },
        'the workflows cannot be counted: metrics of all orders are old or missing until they can',
      );
    }
  };
  const ask = remembered(count, undefined, rememberedMs);
  return async () => {
    await withinScrape(ask());
    const age = performance.now() - countedAt;
    if (age > shownMs) clear(gauges);
    else gauges.age.set(age / 1000);
  };
}

/** @returns waits for its turn: the first one has it at once */
function paced(everyMs: number): () => Promise<void> {
  let next = -Infinity;
  return async () => {
    const wait = next - performance.now();
    if (wait > 0) await sleep(wait, undefined, { ref: false });
    next = performance.now() + everyMs;
  };
}

/** Lists by the service itself, because the client's list decodes memos: one with a key that is lost would hide all others. */
function visibilityOf(client: Client, taskQueue: string, options: FleetOptions): Visibility {
  const { callEveryMs = defaultCallEveryMs, pageSize = defaultPageSize } = options;
  const turn = paced(callEveryMs);
  const { namespace } = client.options;
  const ours = (query: string) => `${ofTaskQueue(taskQueue)} AND ${query}`;
  const call = async <T>(ask: () => Promise<T>) => {
    await turn();
    return client.withDeadline(Date.now() + callWithinMs, ask);
  };
  return {
    count: async (query) => (await call(() => client.workflow.count(ours(query)))).count,
    async page(query, nextPageToken) {
      const request = { namespace, query: ours(query), pageSize, ...(nextPageToken && { nextPageToken }) };
      const page = await call(() => client.workflowService.listWorkflowExecutions(request));
      const workflows = page.executions.map(({ type, status, searchAttributes }) => {
        const attributes = decodeTypedSearchAttributes(searchAttributes?.indexedFields);
        return {
          workflowType: type?.name ?? '',
          running: status === running,
          phase: attributes.get(labPhaseKey),
          reasons: attributes.get(labAttentionKey) ?? [],
          since: attributes.get(labAttentionSinceKey),
        };
      });
      return { workflows, ...(page.nextPageToken.length > 0 && { nextPageToken: page.nextPageToken }) };
    },
  };
}

type FleetGauges = ReturnType<typeof fleetGauges>;

function fleetGauges(registry: Registry) {
  const registers = [registry];
  return {
    open: new Gauge({
      name: 'labops_open_workflows',
      help: 'Running workflows by LabPhase. `none`: their workflow has no phases; `other`: about to end, or a phase that this release does not know.',
      labelNames: ['workflow_type', 'phase'],
      registers,
    }),
    withAttention: new Gauge({
      name: 'labops_workflows_with_attention',
      help: 'Running workflows that need a person.',
      labelNames: [] as const,
      registers,
    }),
    attention: new Gauge({
      name: 'labops_attention',
      help: 'Running workflows that need a person, by reason (docs/attention.md). A workflow with two reasons counts twice. Reasons and ages are read from at most 5,000 workflows; labops_workflows_with_attention counts all.',
      labelNames: ['workflow_type', 'reason'],
      registers,
    }),
    attentionAge: new Gauge({
      name: 'labops_attention_oldest_seconds',
      help: 'Age of the oldest attention, by LabAttentionSince. A workflow with two reasons counts with the older one’s age for both.',
      labelNames: ['workflow_type', 'reason'],
      registers,
    }),
    placingsInDoubt: new Gauge({
      name: 'labops_placings_in_doubt',
      help: '`delayed`: placings that run and need a person; `ambiguous`: those that failed with attention in the last 7 days.',
      labelNames: ['doubt'],
      registers,
    }),
    deliveriesGivenUp: new Gauge({
      name: 'labops_deliveries_given_up',
      help: 'Workflows whose notifications were given up in the last 7 days; labops_open_workflows of deliverNotifications counts those still tried.',
      labelNames: [] as const,
      registers,
    }),
    age: new Gauge({
      name: 'labops_fleet_age_seconds',
      help: 'How long ago the workflows were counted.',
      labelNames: [] as const,
      registers,
    }),
    failures: new Counter({
      name: 'labops_fleet_failures_total',
      help: 'How often the workflows could not be counted.',
      registers,
    }),
  };
}

function show(gauges: FleetGauges, fleet: Fleet): void {
  clear(gauges);
  for (const { workflowType, phase, count } of fleet.open) {
    gauges.open.set({ workflow_type: workflowType, phase }, count);
  }
  gauges.withAttention.set(fleet.withAttention);
  for (const { workflowType, reason, count, oldestSince } of fleet.attention) {
    const labels = { workflow_type: workflowType, reason };
    gauges.attention.set(labels, count);
    if (oldestSince) gauges.attentionAge.set(labels, Math.max(0, (Date.now() - oldestSince.getTime()) / 1000));
  }
  for (const [doubt, count] of Object.entries(fleet.placingsInDoubt)) gauges.placingsInDoubt.set({ doubt }, count);
  gauges.deliveriesGivenUp.set(fleet.deliveriesGivenUp);
}

function clear(gauges: FleetGauges): void {
  for (const gauge of [gauges.open, gauges.attention, gauges.attentionAge, gauges.placingsInDoubt]) gauge.reset();
  // `reset` would show 0 for a gauge without labels.
  gauges.age.remove();
  gauges.withAttention.remove();
  gauges.deliveriesGivenUp.remove();
}
