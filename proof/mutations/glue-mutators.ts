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
export const glueMutations: readonly string[] = glueMutators.map(({ name }) => name);

/** Adds them to Stryker's own, which has no option for it. */
export async function addGlueMutators(): Promise<void> {
  const instrumenter = import.meta.resolve('@stryker-mutator/instrumenter');
  const list = new URL('./mutators/mutate.js', instrumenter);
  const { allMutators } = (await import(list.href)) as { allMutators: Mutator[] };
  allMutators.push(...glueMutators);
}
