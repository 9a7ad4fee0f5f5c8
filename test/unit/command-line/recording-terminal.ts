import type { Connect } from '../../../client/command-line/command-line.js';
import { run } from '../../../client/command-line/program.js';
import type { Terminal } from '../../../client/command-line/terminal.js';

/** A terminal that keeps what was written, and answers what was asked. */
export class RecordedTerminal implements Terminal {
  stdout = '';
  stderr = '';
  /** How many addresses were shown in a browser. */
  opened = 0;
  readonly isWatched: boolean;
  readonly canAsk: boolean;
  readonly asked: { question: string; hidden: boolean }[] = [];
  /** Those that listen for Ctrl-C now. */
  readonly interrupted = new Set<() => void>();
  private readonly files: Readonly<Record<string, string | Uint8Array>>;
  private readonly answers: string[];

  constructor({
    isWatched = false,
    files = {},
    answers,
  }: { isWatched?: boolean; files?: Record<string, string | Uint8Array>; answers?: string[] } = {}) {
    this.isWatched = isWatched;
    this.canAsk = answers !== undefined;
    this.files = files;
    this.answers = answers ?? [];
  }

  out(text: string): void {
    this.stdout += text;
  }

  err(text: string): void {
    this.stderr += text;
  }

  readAll(): Promise<Uint8Array> {
    return this.readFile('-');
  }

  readFile(path: string): Promise<Uint8Array> {
    const content = this.files[path];
    return content === undefined
      ? Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }))
      : Promise.resolve(Buffer.from(content));
  }

  onInterrupt(listener: () => void): () => void {
    this.interrupted.add(listener);
    return () => this.interrupted.delete(listener);
  }

  open(): void {
    this.opened += 1;
  }

  interrupt(): void {
    for (const listener of this.interrupted) listener();
  }

  ask(question: string, { hidden = false } = {}): Promise<string> {
    this.asked.push({ question, hidden });
    return Promise.resolve(this.answers.shift() ?? '');
  }
}

/** Wrong usage is refused before anything is connected. */
export const neverConnects: Connect = () => Promise.reject(new Error('it connected'));

/** @param more commands that are not the package's own */
export async function labops(
  line: string,
  terminal = new RecordedTerminal(),
  connect = neverConnects,
  more?: Parameters<typeof run>[3],
) {
  const words = line.split(' ').filter((word) => word !== '');
  const code = await run(words, terminal, connect, more);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}
