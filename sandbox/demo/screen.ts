import { styleText } from 'node:util';

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
