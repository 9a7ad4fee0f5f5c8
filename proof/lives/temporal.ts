import type { SearchAttributePair, TypedSearchAttributes, Workflow } from '@temporalio/common';
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import { WorkflowFailedError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { WorkflowStart } from '../../protocol/signal-or-start.js';
import type { End, Message } from './run.js';
import { fromPayload, typeOfFailure, type JsonPayload } from './payloads.js';
import { Attempts, type Worker } from './attempts.js';
import { minute, second, type Life } from './life.js';
import { RecordedRun, type Incoming, type Joins } from './recorded-run.js';

/** The answer to a command: what it came to, or the type of its refusal. */
export interface Reply {
  name: string;
  argument: unknown;
  askedAt: number;
  value?: unknown;
  refused?: string;
  repliedAt?: number;
}

/** What texts say to people does not matter here. */
type Start = Pick<WorkflowStart<object>, 'name' | 'workflowId' | 'args' | 'typedSearchAttributes'> & {
  memo?: Record<string, unknown>;
};

type Status = 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'CONTINUED_AS_NEW';

export interface Execution {
  workflowId: string;
  type: string;
  runId: string;
  run: RecordedRun;
  startedAt: number;
  closedAt?: number;
  status: Status;
  incoming: Incoming[];
  isTaskDue: boolean;
  attempts: Attempts;
  memo: Record<string, unknown>;
  /** A long history, or a later release, from this task on. */
  suggestsNewRunFrom: number;
}

/** The server of Temporal and one worker, in this process: as much of them as the workflows and the activities use. */
export class Server {
  readonly executions: Execution[] = [];
  readonly replies: Reply[] = [];
  /** The times at which a workflow asked for a read of the service; milliseconds since the epoch. */
  readonly reads: number[] = [];
  private readonly life: Life;
  private readonly workflows: Readonly<Record<string, unknown>>;
  private readonly waiting = new Map<string, { reply: Reply; answer: (reply: Reply) => void }>();
  private runs = 0;
  private updates = 0;
  /** Its activities are set later, because they get a client of this server. */
  readonly worker: Worker = { activities: {}, renew: () => undefined };
  /** Is given the input of a run that goes on after another one. */
  onNewRun: (input: unknown) => void = () => undefined;

  constructor(life: Life, workflows: Readonly<Record<string, unknown>>) {
    this.life = life;
    this.workflows = workflows;
  }

  /** An operator has cancelled a run: it says nothing any more, and nobody knows what it had announced. */
  get hasCancelled(): boolean {
    return this.executions.some(({ status }) => status === 'CANCELLED');
  }

  running(workflowId: string): Execution | undefined {
    return this.executions.findLast((each) => each.workflowId === workflowId && each.status === 'RUNNING');
  }

  private hasEnded(workflowId: string): boolean {
    return this.latest(workflowId) !== undefined && this.running(workflowId) === undefined;
  }

  latest(workflowId: string): Execution | undefined {
    return this.executions.findLast((each) => each.workflowId === workflowId);
  }

  /** Signal-with-start, update-with-start, or both at once without either. */
  start({ name, workflowId, args, typedSearchAttributes, memo }: Start, ...messages: Incoming[]): Execution {
    const open = this.running(workflowId);
    if (open) {
      for (const each of messages) this.deliver(open, each);
      return open;
    }
    const attributes = (typedSearchAttributes as TypedSearchAttributes | undefined)?.getAll() ?? [];
    return this.open({ type: name, workflowId, input: args[0], attributes, memo: memo ?? {} }, messages);
  }

  private open(
    {
      type,
      workflowId,
      input,
      attributes,
      memo,
      continuedFrom,
    }: {
      type: string;
      workflowId: string;
      input: unknown;
      attributes: SearchAttributePair[];
      memo: Record<string, unknown>;
      continuedFrom?: string;
    },
    messages: Incoming[],
  ): Execution {
    const { life } = this;
    this.runs += 1;
    const runId = `00000000-0000-4000-8000-${String(this.runs).padStart(12, '0')}`;
    const opening = {
      workflow: this.workflows[type] as Workflow,
      ...{ type, workflowId, runId, now: life.now, attributes },
      ...(continuedFrom !== undefined && { continuedFrom }),
    };
    const execution: Execution = {
      ...{ workflowId, type, runId, run: new RecordedRun(opening), startedAt: life.now, status: 'RUNNING' },
      ...{ incoming: [], isTaskDue: false, memo },
      suggestsNewRunFrom: life.happens(0.25) ? life.between(2, 12) : Infinity,
      attempts: undefined as never,
    };
    execution.attempts = new Attempts(life, execution, this.worker, (incoming) => this.deliver(execution, incoming));
    this.executions.push(execution);
    life.count('runs');
    for (const each of [{ kind: 'start', input } as const, ...messages]) this.deliver(execution, each);
    return execution;
  }

  /** @returns false if there is no open run */
  signal(workflowId: string, name: string, argument: unknown): boolean {
    const open = this.running(workflowId);
    if (open) this.deliver(open, { kind: 'signal', message: { name, argument: plain(argument) } });
    return open !== undefined;
  }

  /** As senders of webhooks do it: a new run is given the id of the one before it. */
  signalOrStart(start: WorkflowStart<object>, name: string, argument: unknown): void {
    if (this.signal(start.workflowId, name, argument)) return;
    const last = this.latest(start.workflowId);
    const [input] = start.args;
    const earlierRun = last ? { runId: last.runId } : {};
    this.start(
      { ...start, args: [{ ...input, earlierRun }] },
      { kind: 'signal', message: { name, argument: plain(argument) } },
    );
  }

  /** @param start for update-with-start */
  update(workflowId: string, name: string, argument?: unknown, start?: Start): Promise<Reply> {
    const { life } = this;
    this.updates += 1;
    const id = String(this.updates);
    const reply: Reply = { name, argument, askedAt: life.now };
    this.replies.push(reply);
    life.count('commands');
    life.tell(`command ${name} ${argument === undefined ? '' : short(argument)} (${id})`);
    const incoming: Incoming = { kind: 'update', id, message: { name, argument: plain(argument) } };
    return new Promise((resolve) => {
      this.waiting.set(id, { reply, answer: resolve });
      const open = this.running(workflowId);
      if (open) this.deliver(open, incoming);
      else if (start) this.start(start, incoming);
      else this.answer(id, { refused: 'WorkflowNotFound' });
    });
  }

  cancel(workflowId: string): void {
    const open = this.running(workflowId);
    if (open) this.deliver(open, { kind: 'cancel' });
  }

  private answer(id: string, given: Pick<Reply, 'value' | 'refused'>): void {
    const asked = this.waiting.get(id);
    if (!asked) return;
    this.waiting.delete(id);
    Object.assign(asked.reply, given, { repliedAt: this.life.now });
    const { name, refused, value } = asked.reply;
    this.life.tell(
      `  ${name} (${id}) is ${refused === undefined ? `answered ${short(value)}` : `refused: ${refused}`}`,
    );
    if (refused === undefined) this.life.count('acknowledged');
    asked.answer(asked.reply);
  }

  private deliver(execution: Execution, incoming: Incoming): void {
    if (execution.status !== 'RUNNING') return this.turnAway(incoming);
    execution.incoming.push(incoming);
    if (execution.isTaskDue) return;
    execution.isTaskDue = true;
    const { life } = this;
    // A worker that is busy, or away, gets everything that came in meanwhile at once.
    const wait = life.fails(0.2) ? life.span(second, 5 * minute) : life.between(1, 40);
    life.after(wait, () => this.work(execution));
  }

  private turnAway(incoming: Incoming): void {
    if (incoming.kind === 'update') this.answer(incoming.id, { refused: 'WorkflowNotFound' });
  }

  private async work(execution: Execution): Promise<void> {
    const { life } = this;
    execution.isTaskDue = false;
    const incoming = execution.incoming.splice(0);
    if (execution.status !== 'RUNNING') {
      for (const each of incoming) this.turnAway(each);
      return;
    }
    const isFirst = execution.run.tasks.length === 0;
    const isDirectlyAfter = incoming.every(({ kind }) => kind === 'update');
    let joined: Incoming[] = [];
    if (!isFirst && life.happens(isDirectlyAfter ? 0.5 : 0.02)) {
      const { run, left, isSame } = await execution.run.rebuilt(isDirectlyAfter);
      // The task of a run that does not replay fails again and again.
      if (!isSame) return this.fail(execution);
      execution.run = run;
      joined = left;
      life.tell(`  [${execution.type}: a cold worker${left.length > 0 ? ', with the empty task before' : ''}]`);
    }
    const { run } = execution;
    const suggestsNewRun = run.tasks.length >= execution.suggestsNewRunFrom;
    const commands = await run.perform(incoming, life.now, suggestsNewRun, joined);
    life.count('tasks');
    life.tell(
      `  [${execution.type}: ${[...joined, ...incoming].map(inBrief).join(', ')} → ${commands.join(', ') || 'nothing'}]`,
    );
    this.carryOut(execution);
  }

  private fail(execution: Execution): void {
    const { type } = execution;
    execution.status = 'FAILED';
    execution.attempts.abandon();
    this.life.broken(
      `a replay of ${type} gives the same commands, ${divisions.none}`,
      'a cold worker cannot rebuild it',
    );
  }

  private carryOut(execution: Execution): void {
    const { run, attempts } = execution;
    for (const command of run.taken) {
      const { scheduleActivity, requestCancelActivity, startTimer, updateResponse } = command;
      if (scheduleActivity) attempts.schedule(scheduleActivity);
      if (/^(read|identify|find)/.test(scheduleActivity?.activityType ?? '')) this.reads.push(this.life.now);
      if (requestCancelActivity) attempts.cancel(requestCancelActivity.seq ?? 0);
      if (startTimer) this.startTimer(execution, startTimer.seq ?? 0);
      if (!updateResponse) continue;
      const id = run.idOf(updateResponse.protocolInstanceId);
      const { completed, rejected } = updateResponse;
      if (completed) this.answer(id, { value: fromPayload(completed as JsonPayload) });
      if (rejected) this.answer(id, { refused: typeOfFailure(rejected) });
    }
    if (run.end) this.close(execution, run.end);
    else if (run.timers.size === 0 && !attempts.areOpen && execution.incoming.length === 0)
      this.life.broken('a run that goes on waits for an answer or a timer', `nothing wakes ${execution.type}`);
  }

  private startTimer(execution: Execution, seq: number): void {
    const { life } = this;
    const at = execution.run.timers.get(seq);
    if (at === undefined) return;
    life.after(at - life.now + life.between(0, 20), () => {
      if (execution.run.timers.has(seq)) this.deliver(execution, { kind: 'timer', seq });
    });
  }

  private close(execution: Execution, end: End): void {
    const { life } = this;
    const { run, workflowId, type, memo, runId } = execution;
    execution.closedAt = life.now;
    execution.attempts.abandon();
    const names = { completed: 'COMPLETED', continued: 'CONTINUED_AS_NEW', failed: 'FAILED' } as const;
    execution.status = end.kind === 'failed' && end.type === 'cancelled' ? 'CANCELLED' : names[end.kind];
    life.tell(
      `${type} ${end.kind === 'failed' ? `failed: ${end.type} ${end.message ?? ''}` : end.kind} ${end.kind === 'completed' ? short(end.result) : ''}`,
    );
    if (end.kind === 'failed' && / at |Error: /.test(end.type)) life.broken('no workflow task fails', end.type);
    // Who cancels a workflow through Temporal gives up what is under way in it: its callers get `OrderEnded` or its like.
    const isGivenUp = run.tasks.some(({ incoming }) => incoming.some(({ kind }) => kind === 'cancel'));
    for (const [id, { reply }] of this.waiting) {
      if (!run.tasks.some(({ incoming }) => incoming.some((each) => each.kind === 'update' && each.id === id)))
        continue;
      if (isGivenUp) this.answer(id, { refused: 'AcceptedUpdateCompletedWorkflow' });
      else life.broken('every accepted command is answered', `${reply.name} (${id}) was accepted, and ${type} closed`);
    }
    if (end.kind !== 'continued') return;
    this.onNewRun(end.input);
    this.open({ ...{ type, workflowId, input: end.input, attributes: run.pairs, memo }, continuedFrom: runId }, []);
  }

  /** Each recorded run, with its tasks divided otherwise. */
  async replayAll(joinings: readonly Joins[]): Promise<void> {
    for (const { run, type } of this.executions) {
      const recorded = run.tasks.flatMap(({ commands }) => commands);
      const seen = new Set([String(run.joinedBy('recorded'))]);
      for (const joins of joinings) {
        const joined = run.joinedBy(joins);
        if (seen.has(String(joined))) continue;
        seen.add(String(joined));
        const { commands } = await run.replayed(run.tasks, joined);
        const at = commands.findIndex((command, index) => command !== recorded[index]);
        if (at < 0 && commands.length === recorded.length) continue;
        const from = Math.max((at < 0 ? recorded.length : at) - 2, 0);
        const shown = (list: readonly string[]) => list.slice(from, from + 6).join(', ');
        const claim = `a replay of ${type} gives the same commands, ${divisions[joins]}`;
        return this.life.broken(claim, `recorded ${shown(recorded)}; replayed ${shown(commands)}`);
      }
    }
  }

  /** What the activities use of the SDK's client. */
  client(): Client {
    const { life } = this;
    /** A call of the server takes time, and may fail before or after its effect. */
    const call = async <T>(act: () => T): Promise<T> => {
      await life.pause(life.between(2, 60));
      if (life.fails(0.1)) throw new Error('UNAVAILABLE: the server was not reached');
      const result = act();
      await life.pause(life.between(2, 60));
      if (life.fails(0.1)) throw new Error('DEADLINE_EXCEEDED: the answer of the server was lost');
      return result;
    };
    const notFound = (workflowId: string) => new WorkflowNotFoundError('workflow not found', workflowId, undefined);
    const find = (workflowId: string, runId?: string) => {
      const found =
        runId === undefined ? this.latest(workflowId) : this.executions.find((each) => each.runId === runId);
      if (!found) throw notFound(workflowId);
      return found;
    };
    const workflow = {
      options: { namespace: 'lives' },
      workflowService: {
        describeWorkflowExecution: ({ execution }: { execution: { workflowId: string } }) =>
          call(() => ({
            workflowExecutionInfo: { execution: { runId: this.latest(execution.workflowId)?.runId ?? null } },
          })),
      },
      getHandle: (workflowId: string, runId?: string) => ({
        signal: ({ name }: Message, argument: unknown) =>
          call(() => {
            if (!this.signal(workflowId, name, argument)) throw notFound(workflowId);
          }),
        describe: () => call(() => describedAs(find(workflowId, runId), life.now)),
        result: () => call(() => resultOf(find(workflowId, runId))),
        executeUpdate: async (name: string, { args }: { args: unknown[] }) => {
          const reply = await this.update(workflowId, name, args[0]);
          if (reply.refused === 'WorkflowNotFound') throw notFound(workflowId);
          if (reply.refused === undefined) return reply.value;
          const cause = ApplicationFailure.nonRetryable(reply.refused, reply.refused);
          throw new WorkflowUpdateFailedError('the update was refused', cause);
        },
      }),
      signalWithStart: (
        name: string,
        {
          signal,
          signalArgs,
          workflowIdReusePolicy,
          ...start
        }: WorkflowStart<object> & { signal: Message; signalArgs: unknown[]; workflowIdReusePolicy?: string },
      ) =>
        call(() => {
          if (workflowIdReusePolicy === 'REJECT_DUPLICATE' && this.hasEnded(start.workflowId))
            throw new WorkflowExecutionAlreadyStartedError('it has run before', start.workflowId, name);
          const message = { name: signal.name, argument: plain(signalArgs[0]) };
          this.start({ ...start, name, args: plain(start.args) as [object] }, { kind: 'signal', message });
        }),
      list: ({ query }: { query: string }) => this.list(query),
    };
    const withDeadline = <T>(_deadline: number, run: () => Promise<T>) => run();
    return { workflow, withDeadline } as unknown as Client;
  }

  /** Visibility lags. */
  private async *list(query: string): AsyncGenerator<unknown> {
    const { life } = this;
    await life.pause(life.between(5, 200));
    const asOf = life.now - life.between(0, life.isCalm ? 0 : 2 * second);
    for (const each of this.executions.filter(({ startedAt }) => startedAt <= asOf)) {
      const shown = describedAs(each, asOf);
      if (matches(shown, query)) yield shown;
    }
  }
}

const divisions: Readonly<Record<Joins, string>> = {
  recorded: 'tasks as the run did them',
  none: 'tasks as they were',
  commands: 'a command joined with the empty task before it',
  all: 'whatever follows an empty task in moments joined with it',
};

interface Described {
  workflowId: string;
  runId: string;
  type: string;
  status: { name: Status };
  startTime: Date;
  closeTime?: Date;
  memo: Record<string, unknown>;
  typedSearchAttributes: { get: (key: { name: string }) => unknown };
  raw: object;
}

function describedAs(execution: Execution, asOf: number): Described {
  const { workflowId, runId, type, startedAt, closedAt, memo, run } = execution;
  const isClosed = closedAt !== undefined && closedAt <= asOf;
  const { attributes } = run.shown;
  return {
    ...{ workflowId, runId, type, memo, raw: {} },
    status: { name: isClosed ? execution.status : 'RUNNING' },
    startTime: new Date(startedAt),
    ...(isClosed && { closeTime: new Date(closedAt) }),
    typedSearchAttributes: { get: ({ name }) => attributes[name] },
  };
}

function resultOf({ run, status }: Execution): unknown {
  const { end } = run;
  if (end?.kind === 'completed') return end.result;
  if (end?.kind !== 'failed') throw new Error(`no result yet: ${status}`);
  const details = end.details === undefined ? [] : [end.details];
  throw new WorkflowFailedError(
    'failed',
    ApplicationFailure.nonRetryable(end.message, end.type, ...details),
    'NON_RETRYABLE_FAILURE',
  );
}

const statusNames: Readonly<Record<string, Status>> = { Running: 'RUNNING' };

/** As much of the language of lists as the product uses: conditions with AND, OR and brackets. */
function matches(shown: Described, query: string): boolean {
  const valueOf = (name: string): unknown => {
    switch (name) {
      case 'WorkflowId':
        return shown.workflowId;
      case 'WorkflowType':
        return shown.type;
      case 'ExecutionStatus':
        return shown.status.name;
      case 'StartTime':
        return shown.startTime.toISOString();
      case 'CloseTime':
        return shown.closeTime?.toISOString();
      default:
        return shown.typedSearchAttributes.get({ name });
    }
  };
  const text = query.replaceAll(
    /(\w+) (IN \([^)]*\)|IS NULL|(?:=|!=|>=) '[^']*')/g,
    (_match, name: string, condition: string) => {
      const value = valueOf(name);
      if (condition === 'IS NULL') return String(value === undefined);
      const [, operator = '', given = ''] = /^(\S+) '?([^']*)'?/.exec(condition) ?? [];
      if (operator === 'IN') return String(condition.includes(`'${String(value)}'`));
      const wanted = name === 'ExecutionStatus' ? (statusNames[given] ?? given) : given;
      if (operator === '>=') return String(typeof value === 'string' && value >= wanted);
      const isEqual = Array.isArray(value) ? value.includes(wanted) : value === wanted;
      return String((operator === '=') === isEqual && (operator === '=' || value !== undefined));
    },
  );
  return either(text.replaceAll(' ', ''));
}

/** `(true OR false) AND true` */
function either(text: string): boolean {
  let rest = text;
  while (rest.includes('(')) rest = rest.replaceAll(/\(([^()]*)\)/g, (_match, inner: string) => String(either(inner)));
  return rest.split('OR').some((part) => part.split('AND').every((each) => each === 'true'));
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

function inBrief(incoming: Incoming): string {
  switch (incoming.kind) {
    case 'signal':
      return `signal ${incoming.message.name}`;
    case 'update':
      return `update ${incoming.message.name} (${incoming.id})`;
    case 'timer':
      return `timer ${incoming.seq}`;
    case 'activity': {
      const { answer } = incoming;
      const how =
        answer === 'cancelled'
          ? 'called back'
          : 'value' in answer
            ? short(answer.value)
            : (answer.failure.type ?? answer.failure.ended);
      return `${incoming.name}: ${how}`;
    }
    default:
      return incoming.kind;
  }
}

/** The parts of a value that tell a story. */
export function short(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(JSON.stringify(value));
  const interesting = [
    'phase',
    'outcome',
    'standing',
    'status',
    'order',
    'orderId',
    'slotId',
    'decision',
    'undo',
    'policy',
    'by',
    'code',
    'state',
    'action',
    'jobId',
    'rebook',
    'delivered',
    'handedOver',
  ];
  const parts = Object.entries(value).filter(([name]) => interesting.includes(name));
  const text = JSON.stringify(Object.fromEntries(parts));
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
