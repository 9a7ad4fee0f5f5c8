import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const projectFolder = join(import.meta.dirname, '../..');

/** An item of the specification. It is proved by tests, or has a reason why no test here can prove it. */
interface Item {
  /** The item in short, with the exact names. */
  says: string;
  unprovable?: string;
}

export interface Section {
  section: string;
  /** By number: `1` and on in the order of the specification, `I1` and on where it contradicts itself. */
  items: Readonly<Record<string, Item>>;
}

/** A test that proves an item. */
interface Proof {
  /** From the project's folder. */
  file: string;
  title: string;
}

/** The proofs of each item, by its number. */
export type Proofs = ReadonlyMap<string, readonly Proof[]>;

/** The items of the specification, and the tests of this project that prove them. */
export async function readConformance(): Promise<{ sections: readonly Section[]; proofs: Proofs }> {
  const items = await readFile(join(import.meta.dirname, 'items.json'), 'utf8');
  const proofs = new Map<string, Proof[]>();
  for (const name of (await readdir(join(projectFolder, 'test'), { recursive: true })).toSorted()) {
    if (!name.endsWith('.test.ts')) continue;
    const file = `test/${name.replaceAll('\\', '/')}`;
    for (const { title, proves } of provingTests(await readFile(join(projectFolder, file), 'utf8'))) {
      for (const number of proves) proofs.set(number, [...(proofs.get(number) ?? []), { file, title }]);
    }
  }
  return { sections: JSON.parse(items) as Section[], proofs };
}

/**
 * The tests of a source text that say which items they prove, in a comment above them: `// proves 16, 20-24, I3`.
 *
 * @throws if no test follows such a comment
 */
export function provingTests(text: string): { title: string; proves: string[] }[] {
  return [...text.matchAll(/^ *\/\/ proves ((?:I?\d+(?:-\d+)?(?:, )?)+)$/gm)].map((comment) => {
    const [line, list = ''] = comment;
    const code = text.slice(comment.index + line.length);
    // The title is the first argument of `test(` or, after the rows, of `test.each(…)(`.
    const title = /^\s*test(?:\(|\.each.*?\)\()\s*(?<quote>['"`])(?<title>.*?[^\\])\k<quote>,/s.exec(code)?.groups
      ?.title;
    if (title === undefined) throw new Error(`Put the comment directly above a test: "${line.trim()}".`);
    return { title: title.replaceAll(/\\(.)/g, '$1'), proves: list.split(', ').flatMap(numbersIn) };
  });
}

/** `20-22` is 20, 21 and 22. */
function numbersIn(range: string): string[] {
  const [first = '', last] = range.split('-');
  if (last === undefined) return [first];
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, n) => String(Number(first) + n));
}

/** Everything that is wrong between items and tests, a sentence each. */
export function faultsOf(sections: readonly Section[], proofs: Proofs): string[] {
  const items = new Map(sections.flatMap(({ items: own }) => Object.entries(own)));
  const faults = [...items].flatMap(([number, { unprovable }]) => {
    const proof = proofs.get(number)?.[0];
    if (proof === undefined && unprovable === undefined) return [`Item ${number} has neither a test nor a reason.`];
    if (proof === undefined || unprovable === undefined) return [];
    return [`Item ${number} is called unprovable, but ${proof.file} proves it: "${proof.title}".`];
  });
  const unknown = [...proofs].filter(([number]) => !items.has(number));
  return [...faults, ...unknown.map(([number, [proof]]) => `There is no item ${number}: ${proof?.file}.`)];
}
