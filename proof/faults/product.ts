import { setTimeout as pause } from 'node:timers/promises';
import { errors, type CallOptions } from '../../client/index.js';

/** The answer that the product got to a command: `done`, or the name of the refusal. */
export interface Answer {
  command: string;
  answer: string;
  /** How often it was sent. */
  sent: number;
}

/** What may succeed later without a person. */
const passing = [
  errors.NoWorker,
  errors.ServiceDown,
  errors.TemporalUnreachable,
  errors.TimedOut,
  errors.WorkerFailing,
];

const againAfterMs = 500;
const deadline = '20s';

/** A product that repeats every call until it is answered, and keeps the answers. */
export class Caller {
  readonly answers: Answer[] = [];
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** A command that must be carried out. */
  async command<T>(name: string, call: (options: CallOptions) => Promise<T>): Promise<T> {
    const { value, sent } = await this.#untilAnswered(call);
    this.answers.push({ command: name, answer: 'done', sent });
    return value;
  }

  /** A command that must be refused. */
  async refused(name: string, call: (options: CallOptions) => Promise<unknown>): Promise<void> {
    let sent = 0;
    try {
      ({ sent } = await this.#untilAnswered(call));
    } catch (error) {
      if (!(error instanceof errors.LabOperationsError) || error.kind === 'unavailable') throw error;
      this.answers.push({ command: name, answer: error.name, sent });
      return;
    }
    this.answers.push({ command: name, answer: 'done', sent });
  }

  /** A read or a wait. */
  async read<T>(call: (options: CallOptions) => Promise<T>): Promise<T> {
    return (await this.#untilAnswered(call)).value;
  }

  /** Reads until the answer fits. */
  async until<T>(call: (options: CallOptions) => Promise<T>, fits: (value: T) => boolean): Promise<T> {
    for (;;) {
      const value = await this.read(call);
      if (fits(value)) return value;
      await this.pause(againAfterMs);
    }
  }

  async pause(milliseconds: number): Promise<void> {
    await pause(milliseconds, undefined, { signal: this.#signal });
  }

  async #untilAnswered<T>(call: (options: CallOptions) => Promise<T>): Promise<{ value: T; sent: number }> {
    for (let sent = 1; ; sent += 1) {
      try {
        return { value: await call({ deadline, signal: this.#signal }), sent };
      } catch (error) {
        this.#signal.throwIfAborted();
        if (!passing.some((kind) => error instanceof kind)) throw error;
        await this.pause(againAfterMs);
      }
    }
  }
}
