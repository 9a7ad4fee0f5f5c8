import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { projectFolder } from '../rig/processes.js';

const programs = ['worker', 'ingress', 'codec-server', 'single-process', 'doctor', 'replay'];
const stores = ['health-data-store', 'schema-state'];

/** As on platforms that run containers under a user id of their own: no HOME, and no entry for the user. */
const nobody = `
  const os = require('node:os');
  os.homedir = os.userInfo = () => { throw new Error('ENOENT: no such user'); };
  require('node:module').syncBuiltinESMExports();
`;

test('every program is loaded by a user without a home directory and a name', async () => {
  const files = [...programs.map((name) => `workers/${name}.ts`), ...stores.map((name) => `store/${name}.ts`)];
  const loads = files.map((file) => `await import('./${file}');`).join(' ');
  const { HOME: _none, ...env } = process.env;
  const args = ['--import', 'tsx', '--import', `data:text/javascript,${encodeURIComponent(imported(nobody))}`];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...args, '--input-type=module', '--eval', `${loads} console.log('loaded')`],
    { cwd: projectFolder, env },
  );
  expect(stdout).toContain('loaded\n');
});

/** The data: module cannot require by itself. */
function imported(code: string): string {
  return `import { createRequire } from 'node:module'; const require = createRequire('${projectFolder}/');${code}`;
}
