import { expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../../../client/command-line/program.js';
import { workerCommands } from '../../../workers/commands.js';
import { RecordedTerminal } from './recording-terminal.js';

/** `labops` of the worker's repository and image, with no setting that it needs. */
async function labops(line: string): Promise<{ code: number; stdout: string; stderr: string }> {
  onTestFinished(() => void vi.unstubAllEnvs());
  const unset = ['DATABASE_URL', 'AUDIT_KEYS', 'LABOPS_ENCRYPTION_KEYS', 'LABOPS_ACTOR'];
  for (const name of unset) vi.stubEnv(name, undefined);
  const terminal = new RecordedTerminal();
  const neverConnects = () => Promise.reject(new Error('it connected'));
  const code = await run(line.split(' '), terminal, neverConnects, workerCommands);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}

test.each([
  ['doctor --fast', /unknown option '--fast'/],
  ['replay --open all', /must be a whole number above 0/],
  ['audit', /A command is missing/],
  ['audit shred', /unknown command 'shred'/],
  ['audit import', /missing required argument 'file'/],
  ['audit list --from yesterday', /must be a date that exists, or a time with its zone/],
  ['audit remove --years 0', /must be a whole number above 0/],
  ...['doctor', 'replay', 'migrate', 'audit verify'].map((command): [string, RegExp] => [
    `${command} --address temporal.invalid:7233`,
    /reads the worker's settings, and takes no --address/,
  ]),
  ['audit verify --actor nurse-7', /takes no --actor/],
  ['service', /A command is missing/],
  ['service sites --zip 62704', /required option '--lab <number>' not specified/],
  ['service resend --from yesterday', /must be a date that exists, or a time with its zone/],
  ['service providers --profile lab', /takes no --profile/],
  ['audit list --timeout 5s', /takes no --timeout/],
])('labops %s is wrong usage', async (line, said) => {
  expect(await labops(line)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(said) as string });
});

test.each([
  ['migrate', /^One setting is invalid:\n {2}DATABASE_URL is missing: set it to that of the user who owns/],
  ['audit list --actor nurse-7', /DATABASE_URL is missing.+AUDIT_KEYS is missing/s],
])('labops %s says which settings it lacks, and needs no actor in production', async (line, said) => {
  vi.stubEnv('NODE_ENV', 'production');
  expect(await labops(line)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(said) as string });
});

test('with -o json also their errors are JSON', async () => {
  const { stderr, ...ran } = await labops('migrate -o json');
  const message = expect.stringMatching(/DATABASE_URL is missing/) as string;
  expect(ran).toEqual({ code: 2, stdout: '' });
  const fields = [{ field: 'DATABASE_URL', message: expect.any(String) as string }];
  const known = { name: 'ConfigInvalid', code: 'config_invalid', kind: 'invalid', message, fields };
  expect(JSON.parse(stderr)).toMatchObject({ error: known });
});
