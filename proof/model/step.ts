import type { Workflow } from '@temporalio/common';
import type { PolicyQuestion } from '../../activities/policy.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { carriedIn, type Choose, type Model, type Move, type State, type Step } from './model.js';
import { Run, type ActivityCall, type Answer, type End, type Message } from './run.js';

/** The pause of a model that names none. */
const minute = 60_000;

/** Longer than any order of things that ends: what goes beyond it would go on forever. */
const mostTurns = 200;

export async function play<World>(
  model: Model<World>,
  before: State<World>,
  move: Move<World>,
  signals: readonly Message[],
  choose: Choose,
): Promise<Step<World>> {
  const world = structuredClone(move.world ?? before.world);
  const path = [...before.path, move.name];
  const isOutside = move.name !== 'start' && !move.signal && !move.update && !move.deadline && !move.cancel;
  if (isOutside) return { before, move, after: { ...before, world, path }, calls: [], announced: [] };
  const played = new Play(model, before, move, world, choose);
  const end = await played.play(move, signals);
  const announced = played.announced();
  const after: State<World> = {
    // A run after an end starts from nothing, and learns of the end by what the activities read.
    input: end.kind === 'continued' ? withoutOutbox(end.input) : model.beginnings[0]?.input,
    ...(end.kind === 'completed' && { result: end.result ?? null }),
    ...(end.kind === 'failed' && { result: { failed: end.type } }),
    world,
    ends: before.ends + (end.kind === 'continued' ? 0 : 1),
    now: played.run.now,
    announced: [...new Set([...before.announced, ...announced])].toSorted(),
    ...(played.wakesAt !== undefined && end.kind === 'continued' && { wakesAt: played.wakesAt }),
    path: [...path.slice(0, -1), `${move.name}${played.said()}`],
  };
  const reply = played.run.replies.at(-1);
  return { before, move, after, calls: played.calls, announced, ...(reply && { reply }) };
}

/** One step, as it is played on a run that begins where the last one went on as new. */
class Play<World> {
  readonly run: Run;
  readonly calls: { call: ActivityCall; answer: Answer }[] = [];
  /** When the run that goes on will wake. */
  wakesAt: number | undefined;

  private readonly model: Model<World>;
  private readonly before: State<World>;
  private readonly world: World;
  private readonly choose: Choose;

  constructor(model: Model<World>, before: State<World>, move: Move<World>, world: World, choose: Choose) {
    const { workflow, workflowId, pause = minute } = model;
    this.model = model;
    this.before = before;
    this.world = world;
    this.choose = choose;
    const now = move.name === 'start' ? before.now : Math.min(before.now + pause, before.wakesAt ?? Infinity);
    this.run = new Run({ workflow: workflow as Workflow, type: workflow.name, workflowId, now });
  }

  async play(move: Move<World>, signals: readonly Message[]): Promise<End> {
    const { run, before } = this;
    const isFirst = move.name === 'start' || before.result !== undefined;
    await run.start(before.input, isFirst && move.signal ? [...signals, move.signal] : signals);
    await this.settle();
    if (!isFirst) await this.deliver(move);
    else if (move.update) await this.deliver({ name: move.name, update: move.update });
    if (move.followUp) await this.deliver({ name: move.name, update: move.followUp });
    if (run.end) return run.end;
    this.wakesAt = run.nextTimer();
    run.suggestNewRun();
    // A signal of an unknown name changes nothing, and wakes a main loop for the new run. A pause between attempts ends early, which only lets the workflow go on in a new run.
    for (let turn = 0; !run.end && turn < 5; turn += 1) {
      await run.signal({ name: 'nobody knows it' });
      await this.settle();
      if (!run.end) await run.fireNextTimer({ isEarly: true });
      await this.settle();
    }
    return run.end ?? { kind: 'failed', type: 'it waits, and no timer wakes it' };
  }

  private async deliver({ signal, update, deadline, cancel }: Move<World>): Promise<void> {
    const { run } = this;
    if (deadline) await run.fireNextTimer();
    if (signal) await run.signal(signal);
    if (update) await run.update(update);
    if (cancel) await run.cancel();
    await this.settle();
    for (let turn = 0; !run.end && !run.hasReplied && turn < mostTurns; turn += 1) {
      await run.fireNextTimer();
      await this.settle();
    }
  }

  /** Answers activities until the run waits for something else. */
  private async settle(): Promise<void> {
    const { run, before } = this;
    for (let turn = 0; turn < mostTurns; turn += 1) {
      const [next] = run.calls;
      if (!next || run.end) return;
      const { seq, call } = next;
      const answer =
        commonAnswer(call) ??
        this.model.answer(this.world, call, this.choose, { now: run.now, previous: before.result });
      this.calls.push({ call, answer });
      await run.answer(seq, call.name, answer);
    }
    run.end = { kind: 'failed', type: 'it calls activities without end' };
  }

  /** What was delivered in this step, and what waits to be. */
  announced(): string[] {
    const { end } = this.run;
    const waiting = end?.kind === 'continued' ? outboxOf(end.input) : [];
    return [...new Set([...this.calls.flatMap(({ call }) => notificationsOf(call)), ...waiting])];
  }

  said(): string {
    const failed = this.calls.flatMap(({ call, answer }) =>
      'failure' in answer ? `${call.name} ${answer.failure.type}` : [],
    );
    return failed.length === 0 ? '' : ` (${failed.join(', ')})`;
  }
}

/** Announcements reach their receiver, and policies are resolved: what they do when they fail is not the model's. */
function commonAnswer({ name, argument }: ActivityCall): Answer | undefined {
  if (name === 'notify') {
    const { notifications } = argument as { notifications: { id: string }[] };
    return { value: { delivered: notifications.map(({ id }) => id), refused: [], handedOver: false } };
  }
  if (name === 'resolvePolicy') {
    const { of, policy, base } = argument as PolicyQuestion;
    return { value: resolvePolicy(of, policy, base) };
  }
  return name === 'handOverNotifications' ? { value: null } : undefined;
}

export function notificationsOf({ name, argument }: ActivityCall): string[] {
  if (name !== 'notify' && name !== 'handOverNotifications') return [];
  return (argument as { notifications: { id: string }[] }).notifications.map(({ id }) => id);
}

function outboxOf(input: unknown): string[] {
  const { outbox } = carriedIn<{ outbox?: { id: string }[] }>(input);
  return (outbox ?? []).map(({ id }) => id);
}

/** As if everything that was announced had been delivered between the two runs. */
function withoutOutbox(input: unknown): unknown {
  Object.assign(carriedIn(input), { outbox: [] });
  return input;
}
