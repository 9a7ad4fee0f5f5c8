import { Instrumenter } from '@stryker-mutator/instrumenter';
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Group } from './groups.js';

/** A change that can be switched on, or that is ignored. */
export interface Mutant {
  id: string;
  /** Relative to the project. */
  fileName: string;
  mutatorName: string;
  replacement: string;
  location: { start: Position; end: Position };
  isIgnored: boolean;
}

/** From 1. */
interface Position {
  line: number;
  column: number;
}

type Logger = ConstructorParameters<typeof Instrumenter>[0];

const silent = { debug() {}, info() {}, warn() {}, isDebugEnabled: () => false } as unknown as Logger;

/** Writes every change of the files into their texts, where Stryker's switches turn on one at a time. */
export async function instrument(
  groups: readonly Group[],
): Promise<{ texts: Record<string, string>; mutants: Mutant[] }> {
  await addGlueMutators();
  const names = [...new Set(groups.flatMap(({ files }) => files))];
  const glue = new Set(groups.filter(({ isGlue }) => isGlue).flatMap(({ files }) => files));
  const files = names.map((name) => ({ name: resolve(name), mutate: true, content: readFileSync(name, 'utf8') }));
  const { files: written, mutants } = await new Instrumenter(silent).instrument(files, {
    plugins: null,
    ignorers: [],
    excludedMutations: ['StringLiteral', 'ArrayDeclaration', 'ObjectLiteral'],
  });
  return {
    texts: Object.fromEntries(written.map(({ name, content }) => [name, content])),
    mutants: mutants.map(({ id, fileName, mutatorName, replacement, location: { start, end }, status }) => {
      const name = relative('.', fileName);
      const isIgnored = status === 'Ignored' || (glueMutations.includes(mutatorName) && !glue.has(name));
      const location = { start: fromOne(start), end: fromOne(end) };
      return { id, fileName: name, mutatorName, replacement, location, isIgnored };
    }),
  };
}

function fromOne({ line, column }: Position): Position {
  return { line: line + 1, column: column + 1 };
}

/*
 * Changes that Stryker does not make, and of which glue code needs most: a step that is not done, and one that is not waited for.
 */

interface Mutator {
  name: string;
  mutate(path: { node: Node; parent: Node }): Iterable<Node>;
}

/** As Babel parses it. */
interface Node {
  type: string;
  argument?: Node;
  name?: string;
}

/** Leaves out a statement: `show(deletion)`, `await begin(run)`, `run.answered = true`, `delete run.doubt`. */
const leavesOutStep: Mutator = {
  name: 'Step',
  *mutate({ parent }) {
    if (parent.type === 'ExpressionStatement') yield { type: 'Identifier', name: 'undefined' };
  },
};

const leavesOutAwait: Mutator = {
  name: 'Await',
  *mutate({ node }) {
    if (node.type === 'AwaitExpression' && node.argument) yield node.argument;
  },
};

const glueMutators = [leavesOutStep, leavesOutAwait];
const glueMutations: readonly string[] = glueMutators.map(({ name }) => name);

/** Adds them to Stryker's own, which has no option for it. */
async function addGlueMutators(): Promise<void> {
  const instrumenter = import.meta.resolve('@stryker-mutator/instrumenter');
  const list = new URL('./mutators/mutate.js', instrumenter);
  const { allMutators } = (await import(list.href)) as { allMutators: Mutator[] };
  allMutators.push(...glueMutators);
}
