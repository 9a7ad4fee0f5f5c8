import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { numberedTestsOf } from './titles.js';

/** An item of the specification. It has tests that name its number, or a reason why no test here can prove it. */
export interface Item {
  /** In short, with the exact names. */
  says: string;
  unprovable?: string;
}

export interface Section {
  section: string;
  /** By number: `1` and on in the order of the specification, `I1` and on where it contradicts itself or its field. */
  items: Readonly<Record<string, Item>>;
}

export interface Proof {
  /** From the project's folder. */
  file: string;
  title: string;
}

/** What each number is proved by. */
export type Proofs = ReadonlyMap<string, readonly Proof[]>;

/** The tests of a folder that name items, by number, in the order of the files' names. */
export async function proofsIn(projectFolder: string): Promise<Proofs> {
  const proofs = new Map<string, Proof[]>();
  const names = await readdir(join(projectFolder, 'test'), { recursive: true });
  for (const name of names.filter((each) => each.endsWith('.test.ts')).toSorted()) {
    const path = join(projectFolder, 'test', name);
    const file = relative(projectFolder, path).split(sep).join('/');
    for (const { title, items } of numbered(file, await readFile(path, 'utf8'))) {
      for (const item of items) proofs.set(item, [...(proofs.get(item) ?? []), { file, title }]);
    }
  }
  return proofs;
}

function numbered(file: string, text: string) {
  try {
    return numberedTestsOf(text);
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** What is wrong between the items and the tests, a sentence each; nothing where all is well. */
export function faultsOf(sections: readonly Section[], proofs: Proofs): string[] {
  const items = new Map(sections.flatMap((section) => Object.entries(section.items)));
  const faults = [...items].flatMap(([number, { unprovable }]) => {
    const proved = proofs.get(number)?.[0];
    if (proved === undefined && unprovable === undefined) return [`item ${number} has neither a test nor a reason`];
    if (proved === undefined || unprovable === undefined) return [];
    return [`item ${number} is called unprovable, and ${proved.file} proves it: "${proved.title}"`];
  });
  const strangers = [...proofs].flatMap(([number, [proof]]) => {
    return items.has(number) || !proof ? [] : [`there is no item ${number}: ${proof.file}, "${proof.title}"`];
  });
  return [...faults, ...strangers];
}

export interface Counts {
  items: number;
  proved: number;
  unprovable: number;
}

export function countsOf(sections: readonly Section[], proofs: Proofs): Counts {
  const items = sections.flatMap((section) => Object.entries(section.items));
  return {
    items: items.length,
    proved: items.filter(([number]) => proofs.has(number)).length,
    unprovable: items.filter(([, { unprovable }]) => unprovable !== undefined).length,
  };
}
