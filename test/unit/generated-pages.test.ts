import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errors } from '../../client/index.js';
import { generatedPages } from '../../tools/pages.js';
import * as workflows from '../../workflows/index.js';
import { settings } from '../../workers/settings/settings.js';
import { projectFolder } from '../rig/processes.js';

const generated = generatedPages(projectFolder);

async function headingsOf(page: string): Promise<string[]> {
  const text = (await generated).get(page) ?? '';
  return [...text.matchAll(/^### `?(\w+)`?$/gm)].map(([, name = '']) => name);
}

test('every generated page is as its sources have it, and so are the schemas of every workflow and the reports of the public types', async () => {
  const pages = [...(await generated)];
  const workflowSchemas = Object.keys(workflows).map((name) => `client/schemas/${name}.json`);
  const entries = ['', '-health-data', '-notifications', '-testing', '-webhooks'];
  const reports = entries.map((entry) => `client/api-report${entry}.md`);
  const others = [
    'docs/errors.md',
    'docs/settings.md',
    'docs/lifecycle.md',
    'docs/commands.md',
    'docs/attention.md',
    'docs/metrics.md',
    'docs/notifications.md',
    'docs/policies.md',
    'deploy/chart/values.schema.json',
    ...reports,
    'client/schemas/labops.json',
    'client/schemas/notifications.json',
  ];
  expect(pages.map(([path]) => path).toSorted()).toEqual([...workflowSchemas, ...others].toSorted());
  for (const [path, text] of pages) {
    const written = await readFile(join(projectFolder, path), 'utf8').catch(() => '');
    expect(written === text, `${path} is stale: run \`npm run docs\` and read what changed`).toBe(true);
  }
});

test('every error that a backend can import stands once in docs/errors.md, with its meaning, and no other one does', async () => {
  const exported = Object.entries(errors).filter(
    ([, value]) => typeof value === 'function' && value.prototype instanceof Error,
  );
  expect((await headingsOf('docs/errors.md')).toSorted()).toEqual(exported.map(([name]) => name).toSorted());
  const text = (await generated).get('docs/errors.md') ?? '';
  expect(text.match(/^### .*\n\n(?=_What to do|#)/gm) ?? []).toEqual([]);
});

test('every setting that a process reads stands once in docs/settings.md', async () => {
  expect((await headingsOf('docs/settings.md')).toSorted()).toEqual(Object.keys(settings).toSorted());
});
