import { setTimeout as pause } from 'node:timers/promises';
import type { Duration } from '../protocol/time.js';
import { canonicalJson } from '../protocol/json.js';
import { longestTimer, millisecondsIn, millisecondsOf, type CallOptions, type Deadline } from './call-options.js';
import { NoWorker, TimedOut, WorkerFailing } from './errors.js';
import { code, hasCode, isPassing } from './temporal-errors.js';

/* A workflow is watched by asking it. A call that waits, such as `result()`, ends at its deadline in one-call.ts. */

/** How often a watched workflow is asked. Each question is a query: a billable action that wakes the workflow. */
export interface WatchOptions {
  /** The first pause, and the one after every change, at least 100 milliseconds. Default 1 second. */
  minInterval?: Duration;
  /** The longest pause, reached by doubling while nothing changes. Default 1 minute; with `notifications` 15 minutes. */
  maxInterval?: Duration;
  /**
   * The notification handler that this process mounts at the worker's NOTIFY_URL. A notification of what is watched then
   * causes a read of the state at once, and it is otherwise polled only every `maxInterval`, for changes that are not
   * notified and for notifications that another process of the backend received.
   */
  notifications?: NotificationSource;
  /**
   * The limit of watching; the iterator then rejects with TimedOut. Default `'none'`: until the watched workflow ends.
   */
  deadline?: Deadline;
  /** Ends the watching: the iterator rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** A source of received notifications, such as the notification handler. */
export interface NotificationSource {
  /** Calls the listener after each notification of this workflow, until the returned function is called. */
  listen(workflowId: string, listener: () => void): () => void;
}

/**
 * Every state that differs from the one before, until one has an outcome.
 *
 * @param sourceOf the ID of the workflow that sends the notifications, if a state shows it
 */
export async function* watchState<State extends { outcome?: unknown }>(
  watched: { state(options: CallOptions): Promise<State> },
  options: WatchOptions,
  sourceOf: (state: State) => string | undefined = () => undefined,
): AsyncGenerator<State, void, undefined> {
  const news = new News(options.notifications);
  try {
    yield* statesOf(watched, options, { news, sourceOf });
  } finally {
    news.close();
  }
}

/** A page of a long run takes seconds: to ask more often shows nothing new. */
const betweenReports = { minInterval: '2s', maxInterval: '10s' } as const;

/**
 * Waits for a run's end, and reports its progress meanwhile.
 *
 * @param ask reads the progress; if it fails, the reports end and not the run, whose result has the error
 */
export async function reporting<Result, Progress extends object>(
  result: Promise<Result>,
  ask: () => Promise<Progress>,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Result> {
  const ended = new AbortController();
  const either = AbortSignal.any([ended.signal, signal]);
  const report = async (): Promise<void> => {
    const state = (): Promise<Progress & { outcome?: undefined }> => ask();
    for await (const progress of watchState({ state }, { ...betweenReports, signal: either })) {
      if (either.aborted) return;
      onProgress(progress);
    }
  };
  const reported = report().catch(() => undefined);
  try {
    return await result;
  } finally {
    ended.abort();
    // The SDK repeats a question that was refused. If its connection were closed meanwhile, that would throw where nobody can catch it.
    await reported;
  }
}

async function* statesOf<State extends { outcome?: unknown }>(
  watched: { state(options: CallOptions): Promise<State> },
  { minInterval = '1s', maxInterval, deadline = 'none', signal }: WatchOptions,
  { news, sourceOf }: { news: News; sourceOf: (state: State) => string | undefined },
): AsyncGenerator<State, void, undefined> {
  const endsAt = Date.now() + millisecondsOf(deadline);
  const shortest = milliseconds(minInterval);
  const longest = milliseconds(maxInterval ?? '1m');
  const longestWithNews = milliseconds(maxInterval ?? '15m');
  let interval = shortest;
  let seen = '';
  for (;;) {
    signal?.throwIfAborted();
    const left = endsAt - Date.now();
    if (left <= 0) throw new TimedOut('The deadline for watching has passed; what you watched continues.');
    const asking = { ...(left < longestQuestionMs && { deadline: `${left}ms` as const }), ...(signal && { signal }) };
    const state = await watched.state(asking).catch(rethrowUnlessTransient);
    const serialized = canonicalJson(state ?? null);
    const isNews = state !== undefined && serialized !== seen;
    interval = isNews ? shortest : Math.min(interval * 2, longest);
    if (isNews) {
      seen = serialized;
      yield state;
      if (state.outcome !== undefined) return;
    }
    const source = state && sourceOf(state);
    // What was notified before the listening began would be missed.
    if (source !== undefined && news.listenTo(source)) continue;
    // A question that got no answer is asked again as usual: what was notified may be what it did not see.
    const wait = state !== undefined && news.isComing ? longestWithNews : interval;
    await news.within(Math.min(wait, Math.max(0, endsAt - Date.now()), longestTimer), signal);
  }
}

/** The notifications of what is watched. */
class News {
  private readonly from: NotificationSource | undefined;
  private stop: (() => void) | undefined;
  private hasCome = false;
  private wake: (() => void) | undefined;

  constructor(from: NotificationSource | undefined) {
    this.from = from;
  }

  get isComing(): boolean {
    return this.stop !== undefined;
  }

  /** Returns true if the listening begins now. */
  listenTo(source: string): boolean {
    if (this.from === undefined || this.stop !== undefined) return false;
    this.stop = this.from.listen(source, () => {
      this.hasCome = true;
      this.wake?.();
    });
    return true;
  }

  /** Settles when there is news, at the latest after so many milliseconds. */
  async within(longestMs: number, signal: AbortSignal | undefined): Promise<void> {
    const woken = new AbortController();
    this.wake = () => woken.abort();
    if (this.hasCome) this.wake();
    this.hasCome = false;
    const ends = signal ? AbortSignal.any([signal, woken.signal]) : woken.signal;
    await pause(longestMs, undefined, { signal: ends }).catch((error: unknown) => {
      signal?.throwIfAborted();
      if (!woken.signal.aborted) throw error;
    });
    this.hasCome = false;
  }

  close(): void {
    this.stop?.();
  }
}

/** A question that takes longer ends by its own default. */
const longestQuestionMs = 30_000;

/** A worker that is away, a Temporal that is busy or does not answer: a watch that lasts weeks asks again. */
function rethrowUnlessTransient(error: unknown): undefined {
  if (error instanceof TimedOut || error instanceof NoWorker || error instanceof WorkerFailing) return undefined;
  if (isPassing(error) || hasCode(error, code.failedPrecondition)) return undefined;
  throw error;
}

/** A shorter pause would poll without end, and each query is billed. */
const shortestPauseMs = 100;

function milliseconds(duration: Duration): number {
  return millisecondsIn(duration, 'An interval must be', shortestPauseMs);
}
