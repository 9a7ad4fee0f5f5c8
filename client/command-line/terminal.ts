import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Interrupted, NotConfirmed } from './failures.js';

/** The program's input and output. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** True if `err` writes to a terminal. */
  readonly isWatched: boolean;
  /** True if a person can answer questions. */
  readonly canAsk: boolean;
  /** All of standard input. */
  readAll(): Promise<Uint8Array>;
  readFile(path: string): Promise<Uint8Array>;
  /** One line; with `hidden`, the input is not shown. */
  ask(question: string, options?: { hidden?: boolean }): Promise<string>;
  /** Shows an address in the browser, if a person looks and there is one. */
  open(address: string): void;
  /** Calls back for each Ctrl-C, which then does not end the process, until the function that this returns is called. */
  onInterrupt(listener: () => void): () => void;
}

export const processTerminal: Terminal = {
  out: (written) => void process.stdout.write(written),
  err: (written) => void process.stderr.write(written),
  isWatched: process.stderr.isTTY,
  canAsk: process.stdin.isTTY && process.stderr.isTTY,
  readAll: () => buffer(process.stdin),
  onInterrupt: (listener) => {
    process.on('SIGINT', listener);
    return () => process.off('SIGINT', listener);
  },
  readFile: (path) => readFile(path),
  open: (address) => {
    if (!process.stdout.isTTY) return;
    const { [process.platform as string]: opener = 'xdg-open' } = { darwin: 'open', win32: 'explorer' };
    spawn(opener, [address], { stdio: 'ignore', detached: true })
      .on('error', () => undefined)
      .unref();
  },
  ask: async (question, { hidden = false } = {}) => {
    // Readline itself would write the question to the output of the typed text, which is discarded.
    if (hidden) process.stderr.write(question);
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input: process.stdin, output: hidden ? nowhere : process.stderr, terminal: true });
    // Ctrl-C and Ctrl-D at a question end the command; readline would only stop asking.
    const ended = new Promise<never>((_resolve, reject) => {
      lines.once('SIGINT', () => reject(new Interrupted('Nothing was sent')));
      lines.once('close', () => reject(new NotConfirmed('The question was not answered: nothing was sent')));
    });
    try {
      const answer = await Promise.race([lines.question(hidden ? '' : question), ended]);
      if (hidden) process.stderr.write('\n');
      return answer;
    } catch (error) {
      process.stderr.write('\n');
      throw error;
    } finally {
      lines.close();
    }
  },
};

const clearLine = '\r\u001B[2K';
/** A line that is longer than the terminal is wide stays one line, which can be cleared. */
const [noWrap, wrap] = ['\u001B[?7l', '\u001B[?7h'];
const beatMs = 1_000;

/** One line on standard error with the progress and the seconds it takes; only on a terminal. */
export class Progress {
  private readonly terminal: Terminal;
  private begunAt = 0;
  private timer: NodeJS.Timeout | undefined;
  private text = '';

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  say(what: string): void {
    if (this.text === '') this.begunAt = Date.now();
    this.text = what;
    if (!this.terminal.isWatched) return;
    this.show();
    this.timer ??= setInterval(() => this.show(), beatMs).unref();
  }

  /** Shows the line again after something else was written. */
  resume(): void {
    if (this.text !== '') this.say(this.text);
  }

  /** Takes the line away. */
  end(): void {
    this.endWith(clearLine);
  }

  /** Lets the line stay, which says how far the work has come, and shows no other. */
  leave(): void {
    this.endWith('\n');
    this.say = () => undefined;
  }

  private endWith(text: string): void {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.terminal.err(text);
  }

  private show(): void {
    const seconds = Math.round((Date.now() - this.begunAt) / 1000);
    this.terminal.err(`${clearLine}${noWrap}${this.text}… ${seconds} s${wrap}`);
  }
}
