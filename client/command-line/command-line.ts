import { type Command, Option } from 'commander';
import type { ConnectOptions, LabOperations } from '../lab-operations.js';
import type { Duration } from '../../protocol/time.js';
import type { Deadline } from '../call-options.js';
import type { WatchOptions } from '../watching.js';
import type { Answer } from './answers.js';
import { Interrupted, NotConfirmed, UsageError } from './failures.js';
import { inTimes, timeFormats } from './output.js';
import { Progress, type Terminal } from './terminal.js';

/** Adds the commands of one area to the program: a file per area. */
export type Area = (program: Command, commandLine: CommandLine) => void;

const formats = ['table', 'json', 'jsonl'] as const;

/** How a command answers. */
export function outputOption(): Option {
  return new Option(
    '-o, --output <format>',
    'text, one JSON document, or JSON with a line for each element; errors too',
  )
    .choices(formats)
    .default('table');
}

/** How an answer that is text shows times, in the words of `temporal`. */
export function timeFormatOption(): Option {
  return new Option('--time-format <format>', 'how text shows times: in UTC, or as from now')
    .choices(timeFormats)
    .default('iso');
}

/** Options of every command. */
export interface GlobalOptions {
  output: (typeof formats)[number];
  timeFormat: (typeof timeFormats)[number];
  verbose?: boolean;
  taskQueue: string;
  address?: string;
  profile?: string;
  namespace?: string;
  identity?: string;
  actor?: string;
  timeout?: Duration;
}

/** The context of a command while it is connected. */
interface Call {
  lab: LabOperations;
  progress: Progress;
  /** For watching, which only `--timeout` limits. */
  watching: WatchOptions;
}

/**
 * A service that is down is reported after three minutes; nobody waits longer than that. `endless` commands are meant
 * to wait.
 */
export type Patience = Duration | 'endless';

/** Connects to Temporal; no call of the result takes longer than the deadline. */
export type Connect = (options: ConnectOptions & { deadline: Deadline }) => Promise<LabOperations>;

const defaultPatience: Patience = '5m';

/** When a command that has no answer yet first asks whether there is a worker, and how often after that. */
const firstCheckMs = 10_000;
const nextCheckMs = 30_000;

/** One start of the program: how commands reach Temporal, ask and answer. */
export class CommandLine {
  readonly terminal: Terminal;
  private readonly progress: Progress;
  private readonly connect: Connect;
  private readonly readOptions: () => GlobalOptions;

  constructor(terminal: Terminal, connect: Connect, readOptions: () => GlobalOptions) {
    this.terminal = terminal;
    this.progress = new Progress(terminal);
    this.connect = connect;
    this.readOptions = readOptions;
  }

  get taskQueue(): string {
    return this.readOptions().taskQueue;
  }

  get json(): boolean {
    return this.readOptions().output !== 'table';
  }

  /** Connects, does the work, each call of it within its time, and closes the connection. */
  async run(work: (call: Call) => Promise<void>, patience: Patience = defaultPatience): Promise<void> {
    const { output: _output, timeFormat: _timeFormat, verbose: _verbose, timeout, ...options } = this.readOptions();
    const { progress } = this;
    try {
      progress.say('connecting');
      const deadline = timeout ?? (patience === 'endless' ? 'none' : patience);
      const lab = await this.connect({ ...options, deadline, refusalIsFinal: true });
      progress.say('waiting for the answer');
      const watching = timeout === undefined ? {} : { deadline: timeout };
      await closing(lab, this.noticing(lab, work({ lab, progress, watching })));
    } finally {
      progress.end();
    }
  }

  /**
   * Runs work that changes something, and continues without the command line: Ctrl-C ends the command with a line that says so.
   * @param goesOn that line: what may still happen, and which command ends or shows it
   */
  async send(goesOn: string, work: (call: Call) => Promise<void>, patience?: Patience): Promise<void> {
    let interrupted: Interrupted | undefined;
    let sentence = 'Nothing was sent';
    let stop = (): void => undefined;
    const interruption = new Promise<never>((_resolve, reject) => {
      stop = this.terminal.onInterrupt(() => {
        this.progress.leave();
        reject((interrupted = new Interrupted(sentence)));
      });
    });
    // After an interrupt it keeps listening: npm passes Ctrl-C on, too, which must not end the process before the line is written.
    const stopUnlessInterrupted = (): void => void (interrupted ?? stop());
    const sending = this.run(async (call) => {
      if (interrupted) throw interrupted;
      sentence = goesOn;
      // What is interrupted after its answer has nothing to add.
      await work(call).finally(stopUnlessInterrupted);
    }, patience);
    await Promise.race([sending.finally(stopUnlessInterrupted), interruption]);
  }

  /** Prints each state that differs from the one before, one per line, until what is watched has ended. */
  async watch<State extends object>(
    find: (lab: LabOperations) => Promise<{ watch(options: WatchOptions): AsyncIterable<State> }>,
    lineOf: (state: State) => string,
  ): Promise<void> {
    await this.run(async ({ lab, watching }) => {
      const watched = await find(lab);
      for await (const state of watched.watch(watching)) this.printLine(state, () => lineOf(state));
    }, 'endless');
  }

  /** Some commands wait as long as it takes; without a worker that is forever, and nothing else would say so. */
  private async noticing(lab: LabOperations, work: Promise<void>): Promise<void> {
    const ended = new AbortController();
    const { signal } = ended;
    let timer: NodeJS.Timeout;
    const check = async (): Promise<void> => {
      const isServed = await lab.hasWorker({ signal }).catch(() => 'unknown');
      if (signal.aborted) return;
      if (isServed === false) this.noteMissingWorker();
      else timer = setTimeout(() => void check(), nextCheckMs);
    };
    timer = setTimeout(() => void check(), firstCheckMs);
    try {
      await work;
    } finally {
      clearTimeout(timer);
      ended.abort();
    }
  }

  private noteMissingWorker(): void {
    const { taskQueue } = this.readOptions();
    this.note(`No worker polls the task queue ${taskQueue}: start one, or correct --task-queue. Still waiting.`);
    this.progress.resume();
  }

  /**
   * Prints the command's one answer.
   * @param elements of the list that the answer is, or has: `jsonl` prints only these, and the answer's other values on standard error
   */
  print(answer: Answer, inWords: () => string, elements?: readonly object[]): void {
    const { output } = this.readOptions();
    if (output !== 'jsonl') {
      this.answer(output === 'json' ? JSON.stringify(answer, undefined, 2) : this.textOf(inWords));
      return;
    }
    for (const element of elements ?? [answer]) this.printLine(element, inWords);
    // Such as the token of the next page.
    const beside = elements ? Object.entries(answer).filter(([, value]) => typeof value !== 'object') : [];
    if (beside.length > 0) this.aside(JSON.stringify(Object.fromEntries(beside)));
  }

  /** Prints one of many answers as a line. */
  printLine(answer: object, inWords: () => string): void {
    this.answer(this.json ? JSON.stringify(answer) : this.textOf(inWords));
  }

  private textOf(inWords: () => string): string {
    return inTimes(this.readOptions().timeFormat, inWords);
  }

  /** On a terminal the progress line must be cleared before the answer. */
  private answer(text: string): void {
    this.progress.end();
    this.terminal.out(`${text}\n`);
  }

  /** A message for a person in addition to the answer. */
  note(text: string): void {
    if (!this.json) this.aside(text);
  }

  private aside(text: string): void {
    this.progress.end();
    this.terminal.err(`${text}\n`);
  }

  /** Asks before an irreversible command; a program confirms beforehand, with `--yes`. */
  async confirm(question: string, yes: boolean): Promise<void> {
    if (yes) return;
    if (this.json || !this.terminal.canAsk) throw new UsageError('This needs a confirmation: use --yes');
    const answer = await this.terminal.ask(`${question} Type yes to continue: `);
    if (answer.trim().toLowerCase() !== 'yes') throw new NotConfirmed('Not confirmed: nothing was sent');
  }
}

async function closing(lab: LabOperations, work: Promise<void>): Promise<void> {
  try {
    await work;
  } finally {
    await lab.close();
  }
}
