import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeFinding, findBreaches, type SourceFile } from '../rig/boundaries.js';
import { projectFolder } from '../rig/processes.js';

const generated = new Set(['node_modules', 'dist', 'build', 'coverage']);

async function sources(folder: string): Promise<SourceFile[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry): Promise<SourceFile[]> => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return generated.has(entry.name) || entry.name.startsWith('.') ? [] : sources(path);
      if (!/\.[cm]?[jt]sx?$/.test(entry.name)) return [];
      return [{ path: relative(projectFolder, path).split(sep).join('/'), text: await readFile(path, 'utf8') }];
    }),
  );
  return found.flat();
}

/** The findings of the checker in one or more small files. */
function breaches(files: Record<string, string>): string[] {
  return findBreaches(Object.entries(files).map(([path, text]) => ({ path, text }))).map(describeFinding);
}

test('every file keeps to the folder table', async () => {
  const files = await sources(projectFolder);
  expect(files.length).toBeGreaterThan(20);
  expect(findBreaches(files).map(describeFinding)).toEqual([]);
});

describe('the checker finds, with file, line and rule,', () => {
  test.each<[what: string, files: Record<string, string>, ...found: string[]]>([
    [
      'a package that a folder may not import',
      { 'service/http.ts': "import { z } from 'zod';\n\nimport pino from 'pino';\n" },
      'service/http.ts:3: service/ may not import the package pino',
    ],
    [
      'the line, even after characters of more than one byte',
      { 'service/a.ts': "// ä → 🧪\nconst s = '🧪🧪';\nimport 'pino';" },
      'service/a.ts:3: service/ may not import the package pino',
    ],
    [
      "Node's modules in a workflow, with and without their prefix, even types",
      {
        'workflows/a.ts': "import { join } from 'node:path';\nimport fs from 'fs';\nimport type { S } from 'node:fs';",
      },
      "workflows/a.ts:1: workflows/ may not import Node's modules (node:path)",
      "workflows/a.ts:2: workflows/ may not import Node's modules (fs)",
      "workflows/a.ts:3: workflows/ may not import Node's modules (node:fs)",
    ],
    [
      'types that a workflow may not know',
      { 'workflows/a.ts': "import type { A } from '../client/a.js';\nlet a: import('../workers/b.js').B;" },
      'workflows/a.ts:1: workflows/ may not import the types of client/a.ts',
      'workflows/a.ts:2: workflows/ may not import the types of workers/b.ts',
      'workflows/a.ts:2: no `let` at the top of a workflow module',
    ],
    [
      'a type of a workflow in an activity, because workflows import the types of activities',
      { 'activities/a.ts': "import type { A } from '../workflows/order/run.js';" },
      'activities/a.ts:1: activities/ may not import the types of workflows/order/run.ts',
    ],
    [
      'workflow code outside the worker',
      { 'client/a.ts': "import { run } from '../workflows/order/run.js';" },
      'client/a.ts:1: client/ may not import workflows/order/run.ts',
    ],
    [
      'a product file that imports a test or the sandbox, even a type',
      { 'workers/a.ts': "import type { A } from '../test/rig/a.js';\nimport type { B } from '../sandbox/b.js';" },
      'workers/a.ts:1: workers/ may not import the types of test/rig/a.ts',
      'workers/a.ts:2: workers/ may not import the types of sandbox/b.ts',
    ],
    ['an unknown folder', { 'utils/a.ts': "import 'zod';" }, 'utils/a.ts:1: utils/ is not in the folder table'],
  ])('%s', (_what, files, ...found) => {
    expect(breaches(files)).toEqual(found);
  });

  test('a folder that a folder may not import, however it is written', () => {
    const rule = 'service/ may not import workers/settings/config.ts';
    const named = [
      'import { config } from ',
      'import ',
      'import {} from ',
      'import { type A, b } from ',
      'export { c } from ',
    ];
    const written = named.map((words) => `${words}'../workers/settings/config.js';`);
    for (const text of [...written, "const config = await import('../workers/settings/config.js');"]) {
      const found = breaches({ 'service/a.ts': text, 'workers/settings/config.ts': '' });
      expect(found, text).toEqual([`service/a.ts:1: ${rule}`]);
    }
  });

  test('export *, even under a name', () => {
    const text = "export * from './b.js';\nexport * as b from './b.js';";
    expect(breaches({ 'service/a.ts': text })).toHaveLength(2);
  });

  test('state at the top of a workflow module', () => {
    const why = 'of a workflow module';
    const state: Record<string, string> = {
      'let n = 0;': `no \`let\` at the top ${why}`,
      'export var n = 0;': `no \`var\` at the top ${why}`,
      'const seen = new Map<string, string>();': `no Map or Set at the top ${why}: use a record or an array`,
      'export const seen = new Set() as ReadonlySet<string>;': `no Map or Set at the top ${why}: use a record or an array`,
      'const list: string[] = []; function f() { list.push("a"); }': `\`list\` at the top ${why} is changed below`,
      'const list = [[0]]; function f() { list[0].push(1); }': `\`list\` at the top ${why} is changed below`,
      'const counts = {}; function f(k) { counts[k].n++; }': `\`counts\` at the top ${why} is changed below`,
      'const byId = {} as R; function f() { byId.a = 1; delete byId.b; }': `\`byId\` at the top ${why} is changed below`,
      'const all = {}; function f() { Object.assign(all, { a: 1 }); }': `\`all\` at the top ${why} is changed below`,
    };
    for (const [text, rule] of Object.entries(state))
      expect(breaches({ 'workflows/a.ts': text, 'workers/a.ts': text }), text).toEqual([`workflows/a.ts:1: ${rule}`]);
  });

  test('a clock or chance in the fold, and only there', () => {
    const text = 'export const f = () => [Date.now(), new Date(), new Date(0), Math.random(), crypto.randomUUID()];';
    expect(breaches({ 'workflows/order/chain.ts': text })).toHaveLength(4);
    expect(breaches({ 'workflows/order/run.ts': text })).toEqual([]);
  });
});
