import type { Notification } from '../../protocol/notifications/delivery.js';
import { Run, type ActivityCall, type Answer, type Message, type Reply } from '../../proof/lives/run.js';

type Opening = ConstructorParameters<typeof Run>[0];

/** Values, or functions of the moment (milliseconds since the epoch), the argument and the call; with a `failure` the activity fails. */
export type Answers = Record<string, unknown>;

export const unavailable = { failure: { type: 'ServiceUnavailable', isFinal: false } };

/** It has not answered yet: `settle` after another answer was given. */
export const silent = Symbol('silent');

/** One answer after the other, the last of them again and again. */
export function inTurn(...answers: unknown[]): () => unknown {
  return () => (answers.length > 1 ? answers.shift() : answers[0]);
}

const hour = 3_600_000;

/** What goes on longer does not end: a test must say so and not hang. */
const mostTurns = 500;

/** One run of a workflow without a server, in skipped time: what it asks the service, what it announces, and how it ends. */
export class Life {
  readonly announced: Notification[] = [];
  /** `24h appointment.choice_reminder 1`: each announcement in brief, and the end, with the hours since the start. */
  readonly events: string[] = [];
  /** `24h readAppointment`. */
  readonly calls: string[] = [];
  private readonly calledWith: { name: string; seconds: number; argument: unknown }[] = [];
  readonly run: Run;
  answers: Answers;
  private readonly opening: Opening;
  private readonly startedAt: number;

  /** @param startedAt what hours are counted from: by default the start */
  constructor(opening: Omit<Opening, 'workflow'> & { workflow: unknown }, answers: Answers, startedAt = opening.now) {
    this.opening = opening as Opening;
    this.run = new Run(this.opening);
    this.startedAt = startedAt;
    this.answers = answers;
  }

  async start(input: unknown, ...signals: Message[]): Promise<this> {
    await this.run.start(input, signals);
    return this.settle();
  }

  async signal(name: string, argument?: unknown): Promise<this> {
    await this.run.signal({ name, argument });
    return this.settle();
  }

  /** @returns what it comes to, or the type of its refusal; nothing while it has no answer */
  async update(name: string, argument?: unknown): Promise<Reply | undefined> {
    const { length } = this.run.replies;
    await this.run.update({ name, argument });
    await this.settle();
    return this.run.replies.slice(length).at(-1);
  }

  /** An operator cancels the run through Temporal. */
  async cancel(): Promise<this> {
    await this.run.cancel();
    return this.settle();
  }

  /** The run that goes on for it, once it has continued as a new one. */
  async next(answers: Answers = this.answers): Promise<Life> {
    const { input } = this.run.end as { input?: unknown };
    return new Life({ ...this.opening, now: this.run.now, continuedFrom: 'earlier' }, answers).start(input);
  }

  /** From now on the outside answers so, or takes every notification if `notify` is undefined; lets time pass until so many hours after the start, if they are given. */
  async given(answers: Answers, hours?: number): Promise<this> {
    Object.assign(this.answers, answers);
    return hours === undefined ? this.settle() : this.until(hours);
  }

  /** Lets time pass until so many hours after the start. */
  async until(hours: number): Promise<this> {
    const { run } = this;
    const at = this.startedAt + hours * hour;
    for (let turn = 0; !run.end && (run.nextTimer() ?? Infinity) <= at; turn += 1) {
      if (turn > mostTurns) throw new Error('it wakes without end');
      await run.fireNextTimer();
      await this.settle();
    }
    run.now = Math.max(run.now, at);
    return this;
  }

  /** Answers what the run asks. */
  async settle(): Promise<this> {
    const { run } = this;
    for (let turn = 0; !run.end; turn += 1) {
      if (turn > mostTurns) throw new Error('it calls without end');
      const next = run.calls.find(({ call }) => this.answers[call.name] !== silent || isPaused(call));
      if (!next) break;
      const { seq, call } = next;
      await run.answer(seq, call.name, isPaused(call) ? { failure: { ended: 'called_back' } } : this.answerTo(call));
    }
    if (run.end) this.events.push(this.timed(run.end.kind === 'failed' ? `failed: ${run.end.type}` : run.end.kind));
    return this;
  }

  /** When an activity was called, in seconds since the start. */
  secondsOf(activity: string): number[] {
    return this.calledWith.filter(({ name }) => name === activity).map(({ seconds }) => seconds);
  }

  /** What these activities were called with, each time. */
  argumentsOf(...activities: string[]): unknown[] {
    return this.calledWith.filter(({ name }) => activities.includes(name)).map(({ argument }) => argument);
  }

  private answerTo(call: ActivityCall): Answer {
    const { name, argument } = call;
    if (name === 'notify' && this.answers[name] === undefined) {
      const { notifications } = argument as { notifications: Notification[] };
      this.announced.push(...notifications);
      this.events.push(...notifications.map((each) => this.timed(inBrief(each))));
      return { value: { delivered: notifications.map(({ id }) => id), refused: [], handedOver: false } };
    }
    this.calls.push(this.timed(name));
    this.calledWith.push({ name, seconds: (this.run.now - this.startedAt) / 1000, argument });
    const given = this.answers[name];
    const answer =
      typeof given === 'function'
        ? (given as (now: number, argument: unknown, call: ActivityCall) => unknown)(this.run.now, argument, call)
        : given;
    return isFailure(answer) ? answer : { value: answer ?? null };
  }

  private timed(what: string): string {
    return `${Math.round(((this.run.now - this.startedAt) / hour) * 1000) / 1000}h ${what}`;
  }
}

/** A delivery that is called back between two attempts ends at once. */
function isPaused({ name, isCalledBack }: ActivityCall): boolean {
  return name === 'notify' && isCalledBack === true;
}

function isFailure(answer: unknown): answer is Extract<Answer, { failure: unknown }> {
  return typeof answer === 'object' && answer !== null && 'failure' in answer;
}

/** The type, and what is announced in short texts and numbers. */
function inBrief({ type, data }: Notification): string {
  const { reason, phase, outcome, reminder } = data;
  const what = [phase, outcome, reason, reminder].filter(
    (each) => typeof each === 'string' || typeof each === 'number',
  );
  return [type, ...what].join(' ');
}
