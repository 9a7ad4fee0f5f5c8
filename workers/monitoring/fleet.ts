import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { decodeTypedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import { deliverNotificationsName } from '../../protocol/delivery.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { labAttentionKey, labAttentionSinceKey, labPhaseKey } from '../../protocol/search-attributes.js';
import { remembered } from '../remembered.js';
import { ofTaskQueue } from '../temporal-config.js';
import { countedPhases } from './phases.js';

/**
 * The totals of all workflows of the task queue. Temporal's visibility counts them, so every worker shows the same numbers, and
 * nothing is counted while an order moves.
 */

export interface FleetOptions {
  /** Default 30 s: some 40 counts then cost less than two calls a second. */
  rememberedMs?: number;
}

const usuallyRememberedMs = 30_000;
/** Below the 10 s that Prometheus waits by default. What comes later is in the next scrape. */
const answerWithinMs = 4_000;
/** For all calls of a refresh together: it is over before the next one is due. */
const refreshMs = 25_000;

/** Of one list; the largest page that a server gives by default. */
const pageSize = 1_000;
/** The most workflows with attention whose reasons and ages are read. Beyond that, the total says enough. */
const mostWithAttention = 5_000;

/** @returns refreshes the gauges, unless they are fresh; never rejects */
export function watchFleet(
  registry: Registry,
  { client, taskQueue, log }: { client: Client; taskQueue: string; log: Pick<Logger, 'warn'> },
  { rememberedMs = usuallyRememberedMs }: FleetOptions = {},
): () => Promise<void> {
  const gauges = fleetGauges(registry);
  const ask = remembered(
    async () => {
      try {
        show(gauges, await client.withDeadline(Date.now() + refreshMs, () => readFleet(client, taskQueue)));
      } catch (error) {
        // An old number would look like a fact.
        hide(gauges);
        log.warn({ err: error }, 'the workflows cannot be counted: metrics of all orders are missing until they can');
      }
    },
    undefined,
    rememberedMs,
  );
  return async () => {
    await Promise.race([ask(), sleep(answerWithinMs, undefined, { ref: false })]);
  };
}

interface Fleet {
  open: { workflowType: string; phase: string; count: number }[];
  withAttention: number;
  attention: { workflowType: string; reason: string; count: number; oldestSince?: Date }[];
  placingsInDoubt: { delayed: number; ambiguous: number };
  deliveriesGivenUp: number;
}

async function readFleet(client: Client, taskQueue: string): Promise<Fleet> {
  const ours = ofTaskQueue(taskQueue);
  const count = async (query: string) => (await client.workflow.count(`${ours} AND ${query}`)).count;
  const open: Fleet['open'] = [];
  for (const { workflowType, phases } of countedPhases) open.push(...(await countOpen(count, workflowType, phases)));
  const withAttention = await count(`${running} AND ${labAttentionKey.name} IS NOT NULL`);
  const lately = `CloseTime > '${new Date(Date.now() - week).toISOString()}' AND ${labAttentionKey.name} IS NOT NULL`;
  const placing = `WorkflowType = '${placeKitOrderName}'`;
  return {
    open,
    withAttention,
    attention: withAttention === 0 ? [] : await readAttention(client, `${ours} AND ${running}`),
    placingsInDoubt: {
      delayed: await count(`${placing} AND ${running} AND ${labAttentionKey.name} IS NOT NULL`),
      ambiguous: await count(`${placing} AND ExecutionStatus = 'Failed' AND ${lately}`),
    },
    deliveriesGivenUp: await count(
      `WorkflowType = '${deliverNotificationsName}' AND ExecutionStatus = 'Completed' AND ${lately}`,
    ),
  };
}

const running = `ExecutionStatus = 'Running'`;
const week = 7 * 24 * 60 * 60_000;

async function countOpen(
  count: (query: string) => Promise<number>,
  workflowType: string,
  phases: readonly string[],
): Promise<Fleet['open']> {
  const whole = `WorkflowType = '${workflowType}' AND ${running}`;
  const total = await count(whole);
  if (phases.length === 0) return [{ workflowType, phase: 'none', count: total }];
  let others = total;
  const counted = [];
  for (const phase of phases) {
    const inPhase = total === 0 ? 0 : await count(`${whole} AND ${labPhaseKey.name} = '${phase}'`);
    counted.push({ workflowType, phase, count: inPhase });
    others -= inPhase;
  }
  // About to end, or of another release. Visibility moves on between two counts, so it may even be less than none.
  return [...counted, { workflowType, phase: 'other', count: Math.max(0, others) }];
}

async function readAttention(client: Client, ours: string): Promise<Fleet['attention']> {
  const found = new Map<string, Fleet['attention'][number]>();
  for await (const { workflowType, reasons, since } of withAttention(client, ours)) {
    for (const reason of reasons.filter(isReason)) {
      const entry = found.get(`${workflowType} ${reason}`) ?? { workflowType, reason, count: 0 };
      entry.count += 1;
      if (since && (!entry.oldestSince || since < entry.oldestSince)) entry.oldestSince = since;
      found.set(`${workflowType} ${reason}`, entry);
    }
  }
  return [...found.values()];
}

/** Lists them by the service itself, because the client's list decodes memos: one with a key that is lost would hide all others. */
async function* withAttention(client: Client, ours: string) {
  const { namespace } = client.options;
  const query = `${ours} AND ${labAttentionKey.name} IS NOT NULL`;
  let nextPageToken: Uint8Array | undefined;
  for (let looked = 0; looked < mostWithAttention;) {
    const page = await client.workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const { type, searchAttributes } of page.executions) {
      const attributes = decodeTypedSearchAttributes(searchAttributes?.indexedFields);
      yield {
        workflowType: type?.name ?? '',
        reasons: attributes.get(labAttentionKey) ?? [],
        since: attributes.get(labAttentionSinceKey),
      };
    }
    looked += page.executions.length;
    if (page.nextPageToken.length === 0) return;
    nextPageToken = page.nextPageToken;
  }
}

/** Anyone who may write to the namespace can set anything. */
function isReason(text: string): boolean {
  return /^[a-z_]{1,60}$/.test(text);
}

type FleetGauges = ReturnType<typeof fleetGauges>;

function fleetGauges(registry: Registry) {
  const registers = [registry];
  return {
    open: new Gauge({
      name: 'labops_open_workflows',
      help: 'Running workflows of the task queue by phase.',
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
      help: 'Running workflows that need a person, by reason; one with two reasons counts twice.',
      labelNames: ['workflow_type', 'reason'],
      registers,
    }),
    attentionAge: new Gauge({
      name: 'labops_attention_oldest_seconds',
      help: 'For how long the workflow that has waited longest has needed a person, by its reasons.',
      labelNames: ['workflow_type', 'reason'],
      registers,
    }),
    placingsInDoubt: new Gauge({
      name: 'labops_placings_in_doubt',
      help: 'Placings that are delayed, and those that failed as ambiguous in the last 7 days.',
      labelNames: ['doubt'],
      registers,
    }),
    deliveriesGivenUp: new Gauge({
      name: 'labops_deliveries_given_up',
      help: 'Workflows whose notifications were given up in the last 7 days.',
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

function hide(gauges: FleetGauges): void {
  clear(gauges);
  gauges.failures.inc();
}

function clear(gauges: FleetGauges): void {
  for (const gauge of [gauges.open, gauges.attention, gauges.attentionAge, gauges.placingsInDoubt]) gauge.reset();
  // `reset` would show 0 for a gauge without labels.
  gauges.withAttention.remove();
  gauges.deliveriesGivenUp.remove();
}
