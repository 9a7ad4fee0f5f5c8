import { styleText } from 'node:util';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable } from 'node:stream';

export type Style = Parameters<typeof styleText>[0];

/** Prints plain lines, with colours on a terminal unless NO_COLOR is set. */
export class Screen {
  readonly #stream: NodeJS.WriteStream;
  readonly #colours: boolean;

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#stream = stream;
    // Absent when the stream is a pipe or a file. It heeds NO_COLOR and TERM, which styleText of Node 20 does not.
    this.#colours = stream.isTTY && stream.hasColors();
  }

  styled(style: Style, text: string): string {
    return this.#colours ? styleText(style, text) : text;
  }

  /** True if a person may be watching. */
  get isTerminal(): boolean {
    return this.#stream.isTTY;
  }

  /** A line that somebody else ends. */
  begin(text: string): void {
    this.#stream.write(text);
  }

  line(text = ''): void {
    this.#stream.write(`${text}\n`);
  }

  heading(text: string): void {
    const rule = '─'.repeat(Math.max(4, 96 - text.length));
    this.line(`\n${this.styled(['bold', 'cyan'], `── ${text} `)}${this.styled('gray', rule)}\n`);
  }
}

/** How long the person who watches has to answer. */
const answerWithinMs = 15_000;

interface KeyboardOptions {
  input: Readable & { isTTY?: boolean };
  screen: Screen;
  /** False if nobody may be asked. */
  asks: boolean;
  /** Default `answerWithinMs`. */
  withinMs?: number;
}

/**
 * Lets the person who watches answer a question of a story. Without a terminal on both sides nobody is asked, and every
 * answer is undefined at once.
 *
 * The terminal is left in its own mode, line by line: Ctrl-C stays the signal that it always is.
 */
export class Keyboard {
  readonly withinMs: number;
  readonly #screen: Screen;
  /** Reads from the start, so a line that was typed before the question does not answer it. */
  readonly #lines: Interface | undefined;

  constructor({ input, screen, asks, withinMs = answerWithinMs }: KeyboardOptions) {
    this.withinMs = withinMs;
    this.#screen = screen;
    if (asks && input.isTTY === true && screen.isTerminal) this.#lines = createInterface({ input, terminal: false });
  }

  /**
   * Returns the typed line; undefined if nobody is there, or typed nothing in time.
   *
   * @param question ends where the answer begins
   * @param signal ends the waiting: rejects with its AbortError
   */
  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (!this.#lines) return undefined;
    this.#screen.begin(question);
    const inTime = AbortSignal.timeout(this.withinMs);
    try {
      const [line] = (await once(this.#lines, 'line', { signal: AbortSignal.any([signal, inTime]) })) as [string];
      return line.trim() === '' ? undefined : line;
    } catch (error) {
      // The line that nobody ended.
      this.#screen.line();
      if (signal.aborted || !inTime.aborted) throw error;
      return undefined;
    }
  }

  close(): void {
    this.#lines?.close();
  }
}
