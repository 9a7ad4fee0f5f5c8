import { job, Run, signalJob, type Answer, type Command, type Job, type Message, type Opening } from './run.js';
import type { SearchAttributePair } from '@temporalio/common';

/** Which empty tasks a replay joins with the next one: as the run did, none, those before a command, or all that can be. */
export type Joins = 'recorded' | 'none' | 'commands' | 'all';

/** What a workflow task brings. */
export type Incoming =
  | { kind: 'start'; input: unknown }
  | { kind: 'signal'; message: Message }
  | { kind: 'update'; message: Message; id: string }
  | { kind: 'timer'; seq: number }
  | { kind: 'activity'; seq: number; name: string; answer: Answer | 'cancelled' }
  | { kind: 'cancel' };

/** One workflow task, as the history has it. */
interface Task {
  at: number;
  incoming: Incoming[];
  suggestsNewRun: boolean;
  /** The run did the empty task before it together with it. */
  isJoined: boolean;
  /** In the order of the history: `activity 3 notify`, `timer 4`, `accepted 1`. */
  commands: string[];
}

/** The worker gives messages to a workflow before results, and the start before all. */
const ranks = { start: 0, signal: 1, update: 2, timer: 3, activity: 3, cancel: 3 } as const;

/**
 * A run whose tasks are kept, so it can be rebuilt as by a worker that does not have it in its cache, and replayed with tasks that are
 * joined otherwise than they were (docs/internals/decisions/0021-what-goes-on-when-in-a-step.md).
 */
export class RecordedRun extends Run {
  readonly opening: Opening;
  readonly tasks: Task[] = [];
  /** The ids of updates that were refused before anything was written: no history has them. */
  readonly rejected = new Set<string>();
  /** The commands of the last task. */
  taken: Command[] = [];
  private entries: string[] = [];
  private readonly updateIds: string[] = [];

  constructor(opening: Opening) {
    super(opening);
    this.opening = opening;
  }

  get pairs(): SearchAttributePair[] {
    return this.activator.info.typedSearchAttributes.getAll();
  }

  /** @param joined an empty task before this one is given to the workflow together with it */
  async perform(incoming: Incoming[], at: number, suggestsNewRun: boolean, joined: Incoming[] = []): Promise<string[]> {
    const commands = await this.step([...joined, ...incoming], at, suggestsNewRun);
    // A task with nothing but refused updates is in no history.
    if (commands.length > 0 || kept(incoming, this.rejected).length > 0)
      this.tasks.push({ at, incoming, suggestsNewRun, isJoined: joined.length > 0, commands });
    return commands;
  }

  private async step(incoming: readonly Incoming[], at: number, suggestsNewRun: boolean): Promise<string[]> {
    this.now = at;
    this.taken = [];
    this.entries = [];
    if (suggestsNewRun) this.suggestNewRun();
    const sorted = incoming.toSorted((a, b) => ranks[a.kind] - ranks[b.kind]);
    await this.activate(sorted.map((each) => this.jobOf(each)));
    return withoutTakenBack(this.entries);
  }

  private jobOf(incoming: Incoming): Job {
    switch (incoming.kind) {
      case 'start':
        return this.startJob(incoming.input);
      case 'signal':
        return signalJob(incoming.message);
      case 'update':
        this.updateIds.push(incoming.id);
        return this.updateJob(incoming.message);
      case 'cancel':
        return job('cancelWorkflow', { reason: '' });
      case 'timer':
        this.timers.delete(incoming.seq);
        return job('fireTimer', { seq: incoming.seq });
      case 'activity':
        return this.answerJob(incoming.seq, incoming.name, incoming.answer);
      default:
        return incoming satisfies never;
    }
  }

  protected override take(command: Command): void {
    if (this.end) return;
    // An option that is left out is sent as the protocol's first value.
    if (command.scheduleActivity) command.scheduleActivity.cancellationType ??= 0;
    this.taken.push(command);
    this.entries.push(...this.entriesOf(command));
    super.take(command);
  }

  private entriesOf(command: Command): string[] {
    const { scheduleActivity, requestCancelActivity, startTimer, cancelTimer, updateResponse } = command;
    if (scheduleActivity) return [`activity ${scheduleActivity.seq} ${scheduleActivity.activityType}`];
    if (requestCancelActivity) return [`cancel activity ${requestCancelActivity.seq}`];
    if (startTimer) return [`timer ${startTimer.seq}`];
    if (cancelTimer) return [`cancel timer ${cancelTimer.seq}`];
    if (!updateResponse) return [Object.keys(command).find((name) => name !== 'userMetadata') ?? ''];
    const id = this.idOf(updateResponse.protocolInstanceId);
    // A refusal by the handler itself comes after the acceptance, and is in the history.
    if (updateResponse.rejected && !this.acceptedIds.has(id)) {
      this.rejected.add(id);
      return [];
    }
    if (updateResponse.accepted) this.acceptedIds.add(id);
    return [`${updateResponse.accepted ? 'accepted' : 'answered'} ${id}`];
  }

  private readonly acceptedIds = new Set<string>();

  /** The runtime numbers updates by themselves. */
  idOf(protocolInstanceId: string | null | undefined): string {
    return this.updateIds[Number(protocolInstanceId) - 1] ?? '';
  }

  /** As a worker does that takes the run up without having it in its cache. @returns the run, and the empty task that it has yet to do */
  async rebuilt(directlyAfter: boolean): Promise<{ run: RecordedRun; left: Incoming[]; isSame: boolean }> {
    const last = this.tasks.at(-1);
    const isJoined = directlyAfter && this.tasks.length > 1 && last?.commands.length === 0;
    const done = isJoined ? this.tasks.slice(0, -1) : this.tasks;
    const { run, commands } = await this.replayed(done, this.joinedBy('none'));
    const isSame = String(commands) === String(done.flatMap((task) => task.commands));
    run.tasks.push(...this.tasks);
    for (const id of this.rejected) run.rejected.add(id);
    return { run, left: isJoined ? kept(last.incoming, this.rejected) : [], isSame };
  }

  /** For each task, whether a replay does it together with the next one. */
  joinedBy(joins: Joins): boolean[] {
    return this.tasks.map(({ at, commands }, index) => {
      const next = this.tasks[index + 1];
      if (index === 0 || next === undefined || commands.length > 0) return false;
      // Core takes a task without events of its own for a continuation of the one before.
      if (kept(next.incoming, this.rejected).length === 0) return true;
      return joins === 'recorded' ? next.isJoined : isJoined(joins, at, next);
    });
  }

  /** @param joined for each task, if it is done together with the next one. @returns the commands in their order */
  async replayed(
    tasks: readonly Task[],
    joined: readonly boolean[],
  ): Promise<{ run: RecordedRun; commands: string[] }> {
    const run = new RecordedRun(this.opening);
    const commands: string[] = [];
    const recorded = tasks.flatMap((task) => task.commands);
    let waiting: Incoming[] = [];
    for (const [index, { at, incoming, suggestsNewRun }] of tasks.entries()) {
      waiting.push(...kept(incoming, this.rejected));
      if (joined[index] === true && index < tasks.length - 1) continue;
      if (waiting.length > 0) commands.push(...(await run.step(waiting, at, suggestsNewRun)));
      waiting = [];
      // What comes next would be the result of something else, which no worker gives to a workflow.
      if (commands.some((command, each) => command !== recorded[each])) break;
    }
    return { run, commands };
  }
}

/**
 * Nothing but its own events may stand between two tasks that are joined. A command writes none before its task, however much later it
 * comes; anything else may come in while a task that a refused command has had scheduled waits for a busy worker.
 */
function isJoined(joins: Joins, at: number, next: Task): boolean {
  if (joins === 'none') return false;
  return next.incoming.every(({ kind }) => kind === 'update') || (joins === 'all' && next.at - at <= busyFor);
}

/** Milliseconds. */
const busyFor = 2_000;

function kept(incoming: readonly Incoming[], rejected: ReadonlySet<string>): Incoming[] {
  return incoming.filter((each) => each.kind !== 'update' || !rejected.has(each.id));
}

/** What a task starts and takes back itself is in no history. */
function withoutTakenBack(entries: readonly string[]): string[] {
  const isTakenBack = (entry: string) =>
    entry.startsWith('timer ')
      ? entries.includes(`cancel ${entry}`)
      : entry.startsWith('cancel timer ') && entries.includes(entry.slice('cancel '.length));
  return entries.filter((entry) => !isTakenBack(entry));
}
