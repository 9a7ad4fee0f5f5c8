import { expect, test } from 'vitest';
import { requireBundlablePath } from '../../workers/bundle.js';
import { StartFailed } from '../../workers/process.js';

test.each(['/srv/lab!/workflows', '/srv/a?b/workflows'])(
  'a path that webpack would misread is refused in one sentence: %s',
  (path) => {
    expect(() => requireBundlablePath(path)).toThrow(StartFailed);
    expect(() => requireBundlablePath(path)).toThrow(/^[^\n]+: move the installation to another folder\.$/);
  },
);

test.each(['/srv/lab/workflows', '/srv/a#b/100%/[x] y/workflows'])('others are not: %s', (path) => {
  requireBundlablePath(path);
});
