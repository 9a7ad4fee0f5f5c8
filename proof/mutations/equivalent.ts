import { readFileSync } from 'node:fs';

/** Changes that make no difference, so no test can notice them: each class with its reason, as equivalent.txt has it. */
export interface Equivalent {
  reason: string;
  /** Files, each by the end of its path; none is any. */
  files: readonly string[];
  mutator: string;
  /** The line before `⟦`, what is changed, and the line after `⟧`. */
  at: RegExp;
  /** What it becomes; absent is anything. */
  to?: RegExp;
}

export const equivalents: readonly Equivalent[] = readFileSync(new URL('equivalent.txt', import.meta.url), 'utf8')
  .split(/\n\n/)
  .map(classOf);

/** A class is its reason, `in` and its files, and at last the mutator with two patterns, of which the second may be missing. */
function classOf(text: string): Equivalent {
  const [reason = '', ...lines] = text.trimEnd().split(/:?\n {2}/);
  const [, mutator = '', at = '', to] = /^(\w+) \/(.+?)\/(?: ⇒ \/(.+)\/)?$/.exec(lines.pop() ?? '') ?? [];
  const files = lines.flatMap((line) => line.split(' ').slice(1));
  return { reason, files, mutator, at: new RegExp(at), ...(to !== undefined && { to: new RegExp(to) }) };
}

/** A change as it stands in its file. */
export interface Change {
  fileName: string;
  mutatorName: string;
  replacement?: string;
  location: { start: Position; end: Position };
}

/** From 1. */
interface Position {
  line: number;
  column: number;
}

/** The first class that a change belongs to. @param text the file */
export function equivalentOf(change: Change, text: string): Equivalent | undefined {
  const { fileName, mutatorName, replacement = '' } = change;
  const context = contextOf(change, text);
  return equivalents.find(
    ({ files, mutator, at, to }) =>
      mutator === mutatorName &&
      (files.length === 0 || files.some((file) => fileName.endsWith(file))) &&
      at.test(context) &&
      (to?.test(replacement) ?? true),
  );
}

/** The lines of a change, with what is changed between ⟦ and ⟧. */
export function contextOf({ location: { start, end } }: Change, text: string): string {
  const lines = text.split('\n').slice(start.line - 1, end.line);
  const last = lines.pop() ?? '';
  const marked = `${last.slice(0, end.column - 1)}⟧${last.slice(end.column - 1)}`;
  const [first, ...rest] = [...lines, marked];
  return [`${first.slice(0, start.column - 1)}⟦${first.slice(start.column - 1)}`, ...rest].join('\n');
}
