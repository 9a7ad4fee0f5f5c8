import { z } from 'zod';

export const dayMs = 86_400_000;

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs };
const expectedForm = 'milliseconds, or a number with ms, s, m, h, d or w ("2d")';

/** A span of time: milliseconds, or a number with a unit out of ms, s, m, h, d, w (`'90m'`, `'2d'`). */
export type Duration = number | string;

/** Milliseconds of a span. Throws a RangeError that names the text when it cannot be read. */
function durationMs(duration: Duration): number {
  const result = parsed(duration);
  if (Number.isFinite(result) && result >= 0) return result;
  throw new RangeError(`"${duration}" is not a duration: expected ${expectedForm}`);
}

function parsed(duration: Duration): number {
  if (typeof duration === 'number') return duration;
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(duration) ?? [];
  return Number(amount) * (units[unit] ?? Number.NaN);
}

/** A duration in a control request: milliseconds, or "2d". */
export const durationSchema = z
  .union([z.number().nonnegative(), z.string()])
  .refine((value) => Number.isFinite(parsed(value)), { error: `expected ${expectedForm}` });

/** Timestamps as the service writes them: ISO 8601 with microseconds and an explicit zone. */
export function timestamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, -1)}000+00:00`;
}

/** The calendar date (UTC) of a time. */
export function calendarDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/**
 * Reads a date or a timestamp, a missing zone as UTC. NaN when it is neither. The "+" of a zone that was not escaped in
 * a query arrives as a space and is taken for what was meant.
 */
export function parseTimestamp(text: string): number {
  const meant = text.replace(/ (\d{2}:\d{2})$/, '+$1');
  if (!/^\d{4}-\d{2}-\d{2}(T.+)?$/.test(meant)) return Number.NaN;
  const zoned = !meant.includes('T') || /(Z|[+-]\d{2}:?\d{2})$/.test(meant);
  return Date.parse(zoned ? meant : `${meant}Z`);
}

/**
 * The stand-in's own time. `now()` is the wall clock plus an offset that tests may set or advance; a delay is shortened
 * by the length of a day, so weeks of a story pass in seconds while timestamps stay close to the wall clock that a
 * product under test lives in.
 */

const realDaySeconds = 86_400;
/** setTimeout takes 31 bits: a longer wait is cut into pieces. */
const longestTimerMs = 2 ** 30;

interface Task {
  /** In the time of `now()`. */
  due: number;
  readonly sequence: number;
  /** True if the length of a day shortens it. */
  readonly isCompressed: boolean;
  readonly run: () => void;
}

export class Clock {
  #offsetMs = 0;
  #daySeconds: number;
  #sequence = 0;
  #tasks: Task[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param daySeconds how many real seconds a day of delays lasts; 86400 is real time. */
  constructor(daySeconds: number = realDaySeconds) {
    this.#daySeconds = daySeconds;
  }

  /** Milliseconds since 1970: wall clock plus offset. Not compressed. */
  now(): number {
    return Date.now() + this.#offsetMs;
  }

  get daySeconds(): number {
    return this.#daySeconds;
  }

  /** Also shortens or stretches the waits under way, so a running story changes its pace at once. */
  set daySeconds(seconds: number) {
    const now = this.now();
    const ratio = seconds / this.#daySeconds;
    for (const task of this.#tasks) if (task.isCompressed) task.due = Math.round(now + (task.due - now) * ratio);
    this.#tasks.sort((one, other) => one.due - other.due || one.sequence - other.sequence);
    this.#daySeconds = seconds;
    this.#arm();
  }

  /** A delay with the present length of a day, in milliseconds. */
  compressed(delay: Duration): number {
    return (durationMs(delay) * this.#daySeconds) / realDaySeconds;
  }

  /** Runs `run` once the (compressed) delay has passed. Returns what takes it back. */
  schedule(delay: Duration, run: () => void): () => void {
    return this.#add(this.compressed(delay), true, run);
  }

  /** The same for what a person is given time for: it takes as long as it says, however short a day is. */
  scheduleUncompressed(delay: Duration, run: () => void): () => void {
    return this.#add(durationMs(delay), false, run);
  }

  #add(milliseconds: number, isCompressed: boolean, run: () => void): () => void {
    const due = Math.round(this.now() + milliseconds);
    const task: Task = { due, sequence: this.#sequence++, isCompressed, run };
    const later = this.#tasks.findIndex((other) => other.due > task.due);
    this.#tasks.splice(later === -1 ? this.#tasks.length : later, 0, task);
    this.#arm();
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== task);
      this.#arm();
    };
  }

  /**
   * Sets the time. Going forward runs every task that falls due on the way, in order and each at its own time, so
   * events carry the timestamps they would have had. Going back runs nothing.
   */
  setTo(time: number): void {
    this.#runUntil(time);
    this.#offsetMs = Math.round(time) - Date.now();
    this.#arm();
  }

  /** Goes forward by a span of this clock's own time (not compressed). */
  advance(span: Duration): void {
    this.setTo(this.now() + durationMs(span));
  }

  /** Drops every task and its timer. */
  clear(): void {
    this.#tasks = [];
    this.#arm();
  }

  #runUntil(time: number): void {
    for (let next = this.#tasks[0]; next !== undefined && next.due <= time; next = this.#tasks[0]) {
      if (next.due > this.now()) this.#offsetMs = next.due - Date.now();
      this.#tasks.shift();
      next.run();
    }
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const next = this.#tasks[0];
    if (next === undefined) return;
    const wait = Math.min(Math.max(next.due - this.now(), 0), longestTimerMs);
    this.#timer = setTimeout(() => {
      this.#runUntil(this.now());
      this.#arm();
    }, wait);
  }
}
