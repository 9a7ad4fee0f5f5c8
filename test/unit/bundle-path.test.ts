import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { requireBuilt, StartFailed } from '../../workers/process.js';
import { requireBundlablePath } from '../../workers/bundle.js';

test.each(['/srv/lab!/workflows', '/srv/a?b/workflows'])('a path that webpack would misread is refused: %s', (path) => {
  expect(() => requireBundlablePath(path)).toThrow(StartFailed);
  expect(() => requireBundlablePath(path)).toThrow(/^[^\n]+: move the installation to another folder\.$/);
});

test.each(['/srv/lab/workflows', '/srv/a#b/100%/[x] y/workflows'])('others are not: %s', (path) => {
  requireBundlablePath(path);
});

test('a file of dist/ that is missing ends the start with a sentence', () => {
  const missing = '/srv/lab/dist/workflow-bundle.js';
  expect(() => requireBuilt(missing)).toThrow(StartFailed);
  expect(() => requireBuilt(missing)).toThrow(
    /^\/srv\/lab\/dist\/workflow-bundle\.js is missing: run `npm run build`[^\n]+\.$/,
  );
  const here = fileURLToPath(import.meta.url);
  expect(requireBuilt(here)).toBe(here);
});
