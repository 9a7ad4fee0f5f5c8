import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path/posix';
import { expect, test } from 'vitest';
import { projectFolder } from '../../rig/processes.js';
import { everyNode, isTypeOnly, parse, specifierOf } from '../../rig/syntax.js';

/** The files that a file imports at run time, and theirs, each with the way to it. */
async function reachedFrom(first: string): Promise<Map<string, string[]>> {
  const reached = new Map<string, string[]>([[first, [first]]]);
  for (const [path, way] of reached) {
    const text = await readFile(join(projectFolder, path), 'utf8');
    for (const node of everyNode(parse(text))) {
      const specifier = specifierOf(node);
      if (specifier?.startsWith('.') !== true || isTypeOnly(node)) continue;
      const target = join(dirname(path), specifier).replace(/\.js$/, '.ts');
      if (!reached.has(target)) reached.set(target, [...way, target]);
    }
  }
  return reached;
}

const hasDefaults = /^protocol\/([\w-]+\/policy|policy-(settings|resolution|values))\.ts$/;

test('no workflow imports the defaults of a policy: the next release may change them', async () => {
  const reached = await reachedFrom('workflows/index.ts');
  expect(reached.size).toBeGreaterThan(80);
  expect([...reached].filter(([path]) => hasDefaults.test(path)).map(([, way]) => way.join(' → '))).toEqual([]);
});

test('activities and the client do import them', async () => {
  for (const first of ['activities/activities.ts', 'client/index.ts']) {
    const reached = [...(await reachedFrom(first)).keys()].filter((path) => hasDefaults.test(path));
    expect(reached).toHaveLength(9);
  }
});
