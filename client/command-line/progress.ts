import type { Terminal } from './terminal.js';

const clearLine = '\r\u001B[2K';
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
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.terminal.err(clearLine);
  }

  private show(): void {
    const seconds = Math.round((Date.now() - this.begunAt) / 1000);
    this.terminal.err(`${clearLine}${this.text}… ${seconds} s`);
  }
}
