import { AsyncLocalStorage } from 'node:async_hooks';
import { chanceOf } from '../faults/chance.js';

/*
 * One life: everything that its seed decides, its own time, what is to come, and what has happened. Between two events no time passes;
 * whatever takes time says so by `after`.
 */

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** A Friday. */
const beginning = Date.parse('2024-03-01T10:00:00.000Z');

/** More events than any life needs that comes to rest. */
const mostEvents = 20_000;

export interface Violation {
  claim: string;
  what: string;
}

interface Event {
  at: number;
  order: number;
  run: () => unknown;
}

export class Life {
  now = beginning;
  readonly seed: number;
  readonly story: string[] = [];
  readonly violations: Violation[] = [];
  /** Nothing more goes wrong, and nobody does anything more. */
  isCalm = false;
  /** How often something goes wrong in this life, from 0 to 1. */
  readonly roughness: number;
  /** What was counted, for the totals. */
  readonly counts: Record<string, number> = {};
  private readonly chance: ReturnType<typeof chanceOf>;
  private queue: Event[] = [];
  private added = 0;
  private handled = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.chance = chanceOf(seed);
    this.roughness = this.oneOf([0.02, 0.1, 0.3, 0.5]);
  }

  between(least: number, most: number): number {
    return least >= most ? least : this.chance.between(Math.round(least), Math.round(most));
  }

  oneOf<Item>(items: readonly Item[]): Item {
    return this.chance.oneOf(items);
  }

  /** @param probability from 0 to 1 */
  happens(probability: number): boolean {
    return this.chance.between(1, 1_000_000) <= probability * 1_000_000;
  }

  /** True if something goes wrong here. */
  fails(weight = 1): boolean {
    return !this.isCalm && this.happens(this.roughness * weight);
  }

  /** A span in milliseconds; each order of magnitude is as likely as the others. */
  span(least: number, most: number): number {
    const [from, to] = [Math.log(Math.max(least, 1)), Math.log(Math.max(most, 1))];
    return Math.round(Math.exp(from + ((to - from) * this.chance.between(0, 1_000)) / 1_000));
  }

  after(milliseconds: number, run: Event['run']): void {
    this.added += 1;
    this.queue.push({ at: this.now + Math.max(milliseconds, 0), order: this.added, run });
  }

  /** Takes time. Within an attempt it never ends once the attempt's process is gone. */
  async pause(milliseconds: number): Promise<void> {
    await this.open<void>((resolve) => this.after(milliseconds, () => resolve()));
  }

  /** What something outside resolves or rejects, unless the process that waits for it is gone. */
  open<T>(begin: (resolve: (value: T) => void, reject: (reason: Error) => void) => void): Promise<T> {
    const inside = processes.getStore();
    if (inside?.isGone) return Promise.reject(new ProcessGone());
    return new Promise<T>((resolve, reject) => {
      inside?.ends.add(reject);
      const last = () => inside?.ends.delete(reject);
      begin(
        (value) => {
          last();
          resolve(value);
        },
        (reason) => {
          last();
          reject(reason);
        },
      );
    });
  }

  tell(what: string): void {
    this.story.push(`${moment(this.now - beginning)} ${what}`);
  }

  count(what: string, many = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + many;
  }

  broken(claim: string, what: string): void {
    if (this.violations.some((known) => known.claim === claim)) return;
    this.tell(`BROKEN: ${claim}: ${what}`);
    this.violations.push({ claim, what });
  }

  /** Lets everything happen until then, or until nothing is to come. */
  async until(time: number): Promise<void> {
    while (this.queue.length > 0) {
      const next = this.queue.reduce((first, each) =>
        each.at < first.at || (each.at === first.at && each.order < first.order) ? each : first,
      );
      if (next.at > time) break;
      this.queue = this.queue.filter((each) => each !== next);
      this.now = Math.max(this.now, next.at);
      this.handled += 1;
      if (this.handled > mostEvents) return this.broken('no life loops', `more than ${mostEvents} events`);
      await next.run();
      await settled();
    }
    this.now = Math.max(this.now, time);
  }

  /** Plays with `Date` as the clock of this life. */
  async play(run: () => Promise<void>): Promise<void> {
    const usual = globalThis.Date;
    const clock = () => this.now;
    // Failures are a life's daily bread, and nobody reads where each was made.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    globalThis.Date = class extends usual {
      constructor(...given: unknown[]) {
        if (given.length === 0) super(clock());
        else super(...(given as [number]));
      }

      static override now(): number {
        return clock();
      }
    } as DateConstructor;
    try {
      await run();
    } finally {
      globalThis.Date = usual;
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/** The worker's process in which an attempt runs: what it waits for never comes once it is gone. */
export interface Process {
  isGone: boolean;
  ends: Set<(reason: Error) => void>;
}

export const processes = new AsyncLocalStorage<Process>();

export class ProcessGone extends Error {}

/** A macrotask comes after all microtasks: by then everything has gone as far as it can without time. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** `2d 03:04:05.678` since the beginning. */
function moment(since: number): string {
  const days = Math.floor(since / day);
  return `${days > 0 ? `${days}d ` : ''}${new Date(since % day).toISOString().slice(11, 23)}`;
}

/** `12 s`, for stories. */
export function long(milliseconds: number): string {
  if (milliseconds < minute) return `${milliseconds / second} s`;
  if (milliseconds < hour) return `${(milliseconds / minute).toFixed(1)} min`;
  return milliseconds < day ? `${(milliseconds / hour).toFixed(1)} h` : `${(milliseconds / day).toFixed(1)} d`;
}
