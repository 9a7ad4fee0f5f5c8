import { deliverNotificationsName } from '../../protocol/notifications/delivery.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { labAttentionKey, labPhaseKey, forwardedPhase, supersededPhase } from '../../protocol/search-attributes.js';
import { bookAppointmentName } from '../../protocol/appointment/messages.js';
import { deleteUserName } from '../../protocol/deletion/messages.js';
import { linkProviderName } from '../../protocol/link/messages.js';
import { matchReviewName } from '../../protocol/match-review/messages.js';
import { kitOrderName } from '../../protocol/order/messages.js';
import * as protocol from '../../protocol/phases.js';
import { parsingJobName } from '../../protocol/report/messages.js';
import { submitReportName } from '../../protocol/report/submission-messages.js';
import { stopPlacingName } from '../../protocol/placing-stop.js';
import { fetchWorkoutStreamName } from '../../protocol/workout-stream.js';

/**
 * The workflows that are counted, each with the phases in which it can stay for long. One without phases is counted as a whole. An order
 * that has ended stays open until its critical result is acknowledged.
 */
const countedPhases: readonly { workflowType: string; phases: readonly string[] }[] = [
  { workflowType: placeKitOrderName, phases: [] },
  { workflowType: kitOrderName, phases: [...Object.keys(protocol.orderPhases), forwardedPhase] },
  { workflowType: bookAppointmentName, phases: protocol.phasesOf(protocol.appointmentPhases, 'open') },
  { workflowType: matchReviewName, phases: protocol.phasesOf(protocol.matchReviewPhases, 'open') },
  { workflowType: linkProviderName, phases: protocol.phasesOf(protocol.linkPhases, 'open') },
  { workflowType: submitReportName, phases: [] },
  { workflowType: parsingJobName, phases: [...protocol.phasesOf(protocol.reportPhases, 'open'), supersededPhase] },
  { workflowType: deleteUserName, phases: protocol.phasesOf(protocol.deletionPhases, 'open') },
  { workflowType: deliverNotificationsName, phases: [] },
  { workflowType: fetchWorkoutStreamName, phases: [] },
  { workflowType: stopPlacingName, phases: [] },
];

/** The most workflows with attention whose reasons and ages are read. Beyond that, the total says enough. */
const mostWithAttention = 5_000;

/** Temporal's visibility, of one task queue. */
export interface Visibility {
  count(query: string): Promise<number>;
  page(query: string, nextPageToken?: Uint8Array): Promise<Page>;
}

interface Page {
  workflows: Listed[];
  nextPageToken?: Uint8Array;
}

/** A workflow as visibility lists it. */
interface Listed {
  workflowType: string;
  running: boolean;
  phase: string | undefined;
  reasons: readonly string[];
  since: Date | undefined;
}

export interface Fleet {
  open: { workflowType: string; phase: string; count: number }[];
  withAttention: number;
  attention: { workflowType: string; reason: string; count: number; oldestSince?: Date }[];
  placingsInDoubt: { delayed: number; ambiguous: number };
  deliveriesGivenUp: number;
}

const running = `ExecutionStatus = 'Running'`;
const attention = `${labAttentionKey.name} IS NOT NULL`;
const ofType = (workflowType: string) => `WorkflowType = '${workflowType}'`;
const week = 7 * 24 * 60 * 60_000;

/** One call if all fit on a page. Otherwise each number is a call of its own: a server groups counts by ExecutionStatus only. */
export async function readFleet(visibility: Visibility): Promise<Fleet> {
  const lately = `CloseTime > '${new Date(Date.now() - week).toISOString()}' AND ${attention}`;
  const ambiguous = `${ofType(placeKitOrderName)} AND ExecutionStatus = 'Failed' AND ${lately}`;
  const givenUp = `${ofType(deliverNotificationsName)} AND ExecutionStatus = 'Completed' AND ${lately}`;
  const { workflows, nextPageToken } = await visibility.page(`(${running} OR (${ambiguous}) OR (${givenUp}))`);
  if (!nextPageToken) return fleetOf(workflows);
  const count = (query: string) => visibility.count(query);
  const open: Fleet['open'] = [];
  for (const { workflowType, phases } of countedPhases) open.push(...(await countOpen(count, workflowType, phases)));
  const withAttention = await count(`${running} AND ${attention}`);
  return {
    open,
    withAttention,
    attention: withAttention === 0 ? [] : byReason(await listAttention(visibility)),
    placingsInDoubt: {
      delayed: await count(`${ofType(placeKitOrderName)} AND ${running} AND ${attention}`),
      ambiguous: await count(ambiguous),
    },
    deliveriesGivenUp: await count(givenUp),
  };
}

/** @param listed all that run, and those that have ended which the first query asks for */
function fleetOf(listed: readonly Listed[]): Fleet {
  const open = listed.filter((workflow) => workflow.running);
  const ended = listed.filter((workflow) => !workflow.running);
  const needy = open.filter(({ reasons }) => reasons.length > 0);
  return {
    open: countedPhases.flatMap(({ workflowType, phases }) => openOf(open, workflowType, phases)),
    withAttention: needy.length,
    attention: byReason(needy),
    placingsInDoubt: { delayed: ofTypeIn(needy, placeKitOrderName), ambiguous: ofTypeIn(ended, placeKitOrderName) },
    deliveriesGivenUp: ofTypeIn(ended, deliverNotificationsName),
  };
}

function ofTypeIn(listed: readonly Listed[], name: string): number {
  return listed.filter(({ workflowType }) => workflowType === name).length;
}

function openOf(open: readonly Listed[], workflowType: string, phases: readonly string[]): Fleet['open'] {
  const found = open.filter((workflow) => workflow.workflowType === workflowType);
  return byPhase(
    workflowType,
    found.length,
    phases.map((name) => found.filter(({ phase }) => phase === name).length),
    phases,
  );
}

async function countOpen(
  count: (query: string) => Promise<number>,
  workflowType: string,
  phases: readonly string[],
): Promise<Fleet['open']> {
  const whole = `${ofType(workflowType)} AND ${running}`;
  const total = await count(whole);
  const inPhases = [];
  for (const phase of phases) {
    inPhases.push(total === 0 ? 0 : await count(`${whole} AND ${labPhaseKey.name} = '${phase}'`));
  }
  return byPhase(workflowType, total, inPhases, phases);
}

function byPhase(
  workflowType: string,
  total: number,
  inPhases: readonly number[],
  phases: readonly string[],
): Fleet['open'] {
  if (phases.length === 0) return [{ workflowType, phase: 'none', count: total }];
  // About to end, or of another release. Visibility moves on between two counts, so it may even be less than none.
  const others = inPhases.reduce((rest, count) => rest - count, total);
  return [
    ...phases.map((phase, index) => ({ workflowType, phase, count: inPhases[index] ?? 0 })),
    { workflowType, phase: 'other', count: Math.max(0, others) },
  ];
}

async function listAttention(visibility: Visibility): Promise<Listed[]> {
  const found: Listed[] = [];
  let page: Page | undefined;
  do {
    page = await visibility.page(`${running} AND ${attention}`, page?.nextPageToken);
    found.push(...page.workflows);
  } while (page.nextPageToken && found.length < mostWithAttention);
  return found;
}

function byReason(listed: readonly Listed[]): Fleet['attention'] {
  const found = new Map<string, Fleet['attention'][number]>();
  for (const { workflowType, reasons, since } of listed) {
    for (const reason of reasons.filter(isReason)) {
      const entry = found.get(`${workflowType} ${reason}`) ?? { workflowType, reason, count: 0 };
      entry.count += 1;
      if (since && (!entry.oldestSince || since < entry.oldestSince)) entry.oldestSince = since;
      found.set(`${workflowType} ${reason}`, entry);
    }
  }
  return [...found.values()];
}

/** Anyone who may write to the namespace can set anything. */
function isReason(text: string): boolean {
  return /^[a-z_]{1,60}$/.test(text);
}
