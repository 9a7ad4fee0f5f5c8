import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../rig/processes.js';

test('what is published is a file: without ./ npm takes a path of two names for a repository of GitHub', async () => {
  const workflow = await readFile(join(projectFolder, '.github/workflows/publish.yml'), 'utf8');
  const published = [...workflow.matchAll(/npm publish (\S+)/g)].map(([, path]) => path);
  expect(published).toEqual([expect.stringMatching(/^\.\/.+\.tgz$/)]);
});
