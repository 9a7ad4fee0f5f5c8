import type { Command } from 'commander';
import ms from 'ms';
import type { LabOperations } from '../lab-operations.js';
import type { Duration } from '../../workflows/policy-settings.js';
import { NoAnswer, NotConfirmed, UsageError } from './exit-codes.js';
import { Progress } from './progress.js';
import type { Terminal } from './terminal.js';

/** Adds the commands of one area to the program: a file per area. */
export type Area = (program: Command, commandLine: CommandLine) => void;

/** What every command understands. */
export interface GlobalOptions {
  json?: boolean;
  verbose?: boolean;
  taskQueue: string;
  /** Milliseconds. */
  timeout?: number;
}

/** What a command works with while it is connected. */
export interface Call {
  lab: LabOperations;
  progress: Progress;
}

/**
 * A service that is down is reported after three minutes; longer than that, nobody is there who could. Of `endless`
 * commands the waiting itself is what they are for.
 */
export type Patience = Duration | 'endless';

const usualPatience: Patience = '5m';

/** One start of the program: how commands reach Temporal, ask and answer. */
export class CommandLine {
  readonly terminal: Terminal;
  private readonly progress: Progress;
  private readonly connect: (taskQueue: string) => Promise<LabOperations>;
  private readonly readOptions: () => GlobalOptions;

  constructor(
    terminal: Terminal,
    connect: (taskQueue: string) => Promise<LabOperations>,
    readOptions: () => GlobalOptions,
  ) {
    this.terminal = terminal;
    this.progress = new Progress(terminal);
    this.connect = connect;
    this.readOptions = readOptions;
  }

  get json(): boolean {
    return this.readOptions().json === true;
  }

  /** Connects, does the work within its time, and closes the connection. */
  async run(work: (call: Call) => Promise<void>, patience: Patience = usualPatience): Promise<void> {
    const { taskQueue, timeout } = this.readOptions();
    const { progress } = this;
    try {
      progress.say('connecting');
      const lab = await this.connect(taskQueue);
      progress.say('waiting for the answer');
      // What has not ended in time still uses the connection: then the end of the process closes it.
      await within(timeout ?? patience, taskQueue, closing(lab, work({ lab, progress })));
    } finally {
      progress.end();
    }
  }

  /** The command's one answer: a JSON document, or words. */
  print(answer: object, inWords: () => string): void {
    this.answer(this.json ? JSON.stringify(answer, undefined, 2) : inWords());
  }

  /** One of many answers: a line each. */
  printLine(answer: object, inWords: () => string): void {
    this.answer(this.json ? JSON.stringify(answer) : inWords());
  }

  /** On a terminal the line of progress stands where the answer is to begin. */
  private answer(text: string): void {
    this.progress.end();
    this.terminal.out(`${text}\n`);
  }

  /** What a person should know beside the answer. */
  note(text: string): void {
    this.progress.end();
    if (!this.json) this.terminal.err(`${text}\n`);
  }

  /** Asks before something that cannot be taken back; a program says so beforehand, with `--yes`. */
  async confirm(question: string, yes: boolean): Promise<void> {
    if (yes) return;
    if (this.json || !this.terminal.canAsk) throw new UsageError('This asks for a confirmation: give --yes');
    const answer = await this.terminal.ask(`${question} Type yes to go on: `);
    if (answer.trim().toLowerCase() !== 'yes') throw new NotConfirmed('It was not confirmed: nothing was sent');
  }
}

async function closing(lab: LabOperations, work: Promise<void>): Promise<void> {
  try {
    await work;
  } finally {
    await lab.close();
  }
}

async function within(patience: Patience, taskQueue: string, work: Promise<void>): Promise<void> {
  if (patience === 'endless') return work;
  const span = typeof patience === 'number' ? patience : ms(patience);
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_resolve, reject) => {
    const question = `is a worker polling the task queue ${taskQueue}?`;
    timer = setTimeout(() => reject(new NoAnswer(`No answer within ${ms(span)}: ${question}`)), span);
  });
  try {
    await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}
