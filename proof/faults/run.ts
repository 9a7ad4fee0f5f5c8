import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import {
  acknowledgedButLost,
  differences,
  kitsPerReference,
  notificationsAgree,
  outcomesOf,
  processesOf,
  workflowsOf,
} from './checks.js';
import { endingOf, readService, type Ending, type Played } from './ending.js';
import { Caller, sceneOf } from './product.js';
import { stories, type Plan, type Subject } from './plan.js';
import { behindMs, type Stage } from './stage.js';
import type { Fault } from './schedule.js';

export interface Verdict {
  /** What is wrong, one sentence each; empty if everything holds. */
  violations: string[];
  workflows: number;
  events: number;
  notifications: number;
  /** From the end of the last fault until everything had ended. */
  settledInMs: number;
  /** How many connections and requests the faults have met. */
  met: number;
  /** The longest that a command had to be repeated. */
  mostSent: number;
  peakMiB: number;
}

/** How long everything may take to settle once nothing fails any more. */
export const defaultSettleMs = 240_000;

export interface RunOptions {
  settleMs?: number;
  /** Gets a line on the progress. */
  say?: (text: string) => void;
}

/** Plays the plan without faults, then with them, on the same stage, and compares the two. */
export async function run(
  stage: Stage,
  plan: Plan,
  { settleMs = defaultSettleMs, say = () => undefined }: RunOptions = {},
): Promise<Verdict> {
  say('without faults');
  const calm = await play(stage, { ...plan, faults: [] }, 'calm', settleMs);
  say(`without faults: settled in ${seconds(calm.settledInMs)}; now with ${plan.faults.length} faults`);
  const faulty = await play(stage, plan, 'faulty', settleMs);
  say(`with faults: settled in ${seconds(faulty.settledInMs)}; checking`);
  const users = [...calm.played, ...faulty.played].flatMap((one) => one.users);
  const atService = await readService(stage, users);
  const { accepted } = stage.receiver;
  const endingsOf = (each: Run): Ending[] => each.played.map((one) => endingOf(one, atService, accepted));
  const [without, withFaults] = [endingsOf(calm), endingsOf(faulty)];
  const { found, ...counts } = await workflowsOf(stage.temporal);
  return {
    violations: [
      ...outcomesOf(without).map((sentence) => `without faults: ${sentence}`),
      ...outcomesOf(withFaults),
      ...differences(without, withFaults),
      ...acknowledgedButLost(withFaults),
      ...kitsPerReference(atService),
      ...notificationsAgree(accepted, atService),
      ...found,
      ...(await processesOf(stage)),
    ],
    ...counts,
    notifications: accepted.length,
    settledInMs: faulty.settledInMs,
    met: Object.values(stage.ways).reduce((sum, way) => sum + way.met, 0),
    mostSent: Math.max(0, ...faulty.played.flatMap(({ answers }) => answers.map(({ sent }) => sent))),
    peakMiB: Math.round(Math.max(...Object.values(stage.parts).map((part) => part.peakBytes())) / 2 ** 20),
  };
}

interface Run {
  played: Played[];
  settledInMs: number;
}

async function play(stage: Stage, plan: Plan, prefix: 'calm' | 'faulty', settleMs: number): Promise<Run> {
  const late = new AbortController();
  const over = new AbortController();
  // A long run has more subjects, and a product that repeats a request for longer.
  const graceMs = Math.round(plan.lengthMs / 2.5);
  // Every subject listens.
  setMaxListeners(0, late.signal, over.signal);
  const subjects = Promise.all(
    plan.subjects.map(async (subject, index) => playOne(stage, { subject, index, prefix, graceMs }, late.signal)),
  );
  const passes = reconcile(stage, over.signal);
  await inflict(stage, plan.faults);
  const healed = Date.now();
  // Without faults the stories have only just begun.
  const limitMs = settleMs + (plan.faults.length === 0 ? plan.lengthMs : 0);
  const timer = setTimeout(
    () => late.abort(new Error(`it had not ended ${seconds(limitMs)} after the last fault`)),
    limitMs,
  );
  const played = await subjects;
  over.abort();
  await passes;
  await untilNothingRuns(stage, late.signal);
  clearTimeout(timer);
  return { played, settledInMs: Date.now() - healed };
}

async function playOne(
  stage: Stage,
  { subject, prefix, ...more }: { subject: Subject; index: number; prefix: string; graceMs: number },
  signal: AbortSignal,
): Promise<Played> {
  const caller = new Caller(signal);
  const scene = sceneOf(stage, caller, { ...more, reference: `${prefix}-${subject.name}`, pauseMs: subject.pauseMs });
  const { users } = scene;
  const { answers } = caller;
  try {
    await caller.pause(subject.startsAtMs);
    return { subject, users, answers, result: await stories[subject.story]?.play(scene) };
  } catch (error) {
    return { subject, users, answers, error: describe(signal.aborted ? signal.reason : error) };
  }
}

/** With its causes: what the server itself said. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : ` (${describe(error.cause)})`;
  return `${error.name}: ${error.message}${cause}`;
}

const reconcileEveryMs = 15_000;
const overlapMs = 60_000;

/** The passes that a schedule makes every hour: what was updated since the last one began, by the service's clock. */
async function reconcile({ operations }: Stage, signal: AbortSignal): Promise<void> {
  const caller = new Caller(signal);
  const atService = (time: number): string => new Date(time - behindMs).toISOString();
  let since = Date.now();
  try {
    for (;;) {
      await caller.pause(reconcileEveryMs);
      const range = { from: atService(since - overlapMs), to: atService(Date.now() + overlapMs) };
      since = Date.now();
      await caller.read(async (options) => operations.orders.reconcile(range, options));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Ends without a complaint when it is too late: what still runs is found by the checks. */
async function untilNothingRuns({ temporal }: Stage, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { count } = await temporal.workflow.count("ExecutionStatus = 'Running'");
    if (count === 0) return;
    await pause(500);
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** Plays the schedule. Resolves when the last fault is over and everything is up again. */
async function inflict(stage: Stage, faults: readonly Fault[]): Promise<void> {
  const began = Date.now();
  await Promise.all(
    faults.map(async (fault) => {
      await pause(Math.max(0, began + fault.atMs - Date.now()));
      await begin(stage, fault);
    }),
  );
  await heal(stage);
}

async function begin(stage: Stage, fault: Fault): Promise<void> {
  const { parts, ways, control, receiver } = stage;
  switch (fault.kind) {
    case 'kill':
      return parts[fault.part].kill(fault.forMs);
    case 'freeze':
      return parts[fault.part].freeze(fault.forMs);
    case 'way':
      ways[fault.way].set(fault.does);
      await pause(fault.forMs);
      return ways[fault.way].set(undefined);
    case 'service': {
      const id = await control.addFault(fault.fault);
      await pause(fault.forMs);
      return control.removeFaults(id);
    }
    case 'webhooks': {
      const id = await control.addWebhookFault(fault.fault);
      await pause(fault.forMs);
      await control.removeWebhookFaults(id);
      if (['hold', 'reorder'].includes(fault.fault.action.kind)) await control.releaseWebhooks('reversed');
      return;
    }
    case 'receiver': {
      const flag = flags[fault.does];
      receiver[flag] = true;
      await pause(fault.forMs);
      receiver[flag] = false;
    }
  }
}

const flags = { refuses: 'isDown', hangs: 'hangs', 'loses answers': 'losesAnswers' } as const;

/** Whatever overlapped, nothing fails any more. */
async function heal({ ways, control, receiver }: Stage): Promise<void> {
  for (const way of Object.values(ways)) way.set(undefined);
  for (const flag of Object.values(flags)) receiver[flag] = false;
  await control.removeFaults();
  await control.removeWebhookFaults();
  await control.releaseWebhooks('reversed');
}
