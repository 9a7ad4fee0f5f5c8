import type { Terminal } from '../../../client/command-line/terminal.js';

/** A terminal that keeps what was written, and answers what was asked. */
export class RecordedTerminal implements Terminal {
  stdout = '';
  stderr = '';
  readonly isWatched: boolean;
  readonly canAsk: boolean;
  readonly asked: { question: string; hidden: boolean }[] = [];
  private readonly files: Readonly<Record<string, string>>;
  private readonly answers: string[];

  constructor({
    isWatched = false,
    files = {},
    answers,
  }: { isWatched?: boolean; files?: Record<string, string>; answers?: string[] } = {}) {
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

  readAll(): Promise<string> {
    return this.readFile('-');
  }

  readFile(path: string): Promise<string> {
    const text = this.files[path];
    return text === undefined
      ? Promise.reject(Object.assign(new Error('no such file'), { code: 'ENOENT' }))
      : Promise.resolve(text);
  }

  ask(question: string, { hidden = false } = {}): Promise<string> {
    this.asked.push({ question, hidden });
    return Promise.resolve(this.answers.shift() ?? '');
  }
}
