import { setTimeout as pause } from 'node:timers/promises';
import { errors, type CallOptions, type LabOperations, type LabService } from '../../client/index.js';
import type { SandboxControl } from '../../sandbox/control.js';
import type { HealthData } from './health-data.js';
import type { Stage } from './stage.js';

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

/** What one subject's story is played on. */
export interface Scene {
  /** The product's reference, unique on the stage. */
  reference: string;
  /** Distinguishes subjects of one run, from 0 on. */
  index: number;
  caller: Caller;
  operations: LabOperations;
  control: SandboxControl;
  service: LabService;
  reportRoot: string;
  /** What is stored about users; undefined without a database. */
  health: HealthData | undefined;
  /** A new user, whom only this subject has. */
  newUser: () => Promise<string>;
  /** How long a deletion can be undone: longer than a product may have to repeat its request, as in production. */
  graceMs: number;
  /** The time between two steps of the world. */
  pause: () => Promise<void>;
  /** The users of this subject so far. */
  users: string[];
}

/** What the product wants of one subject. */
export interface Story {
  /** Checked in the run without faults, too, so a wrong one cannot serve as the oracle. */
  outcome: string;
  /** Resolves to the result of its workflow. */
  play: (scene: Scene) => Promise<object>;
}

export function sceneOf(
  { operations, control, service, reportRoot, health }: Stage,
  caller: Caller,
  { pauseMs, ...given }: Pick<Scene, 'reference' | 'index' | 'graceMs'> & { pauseMs: number },
): Scene {
  const users: string[] = [];
  return {
    ...given,
    ...{ caller, operations, control, service, reportRoot, health, users },
    newUser: async () => {
      const { user } = await control.createUser();
      users.push(user.user_id);
      return user.user_id;
    },
    pause: async () => caller.pause(pauseMs),
  };
}
