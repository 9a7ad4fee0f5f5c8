import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as client from '../../client/index.js';
import { generatedPages } from '../../tools/pages.js';
import { codecServerSettings, ingressSettings, singleProcessSettings, workerSettings } from '../../workers/settings.js';
import { projectFolder } from '../rig/processes.js';

async function headingsOf(page: string): Promise<string[]> {
  const text = (await generatedPages(projectFolder)).get(page) ?? '';
  return [...text.matchAll(/^### `?(\w+)`?$/gm)].map(([, name = '']) => name);
}

test('every generated page is as its sources have it', async () => {
  const pages = await generatedPages(projectFolder);
  expect(pages.size).toBe(2);
  for (const [path, text] of pages) {
    expect(await readFile(join(projectFolder, path), 'utf8'), `${path} is stale: run \`npm run docs\``).toBe(text);
  }
});

test('every error that a backend can import stands once in docs/errors.md, with its meaning, and no other one does', async () => {
  const exported = Object.entries(client).filter(
    ([, value]) => typeof value === 'function' && value.prototype instanceof Error,
  );
  expect((await headingsOf('docs/errors.md')).toSorted()).toEqual(exported.map(([name]) => name).toSorted());
  const text = (await generatedPages(projectFolder)).get('docs/errors.md') ?? '';
  expect(text.match(/^### .*\n\n(?=_What to do|#)/gm) ?? []).toEqual([]);
});

test('every setting that a process reads stands once in docs/settings.md', async () => {
  const settings = { ...workerSettings, ...ingressSettings, ...codecServerSettings, ...singleProcessSettings };
  expect((await headingsOf('docs/settings.md')).toSorted()).toEqual(Object.keys(settings).toSorted());
});
