import { expect, onTestFinished, test, vi } from 'vitest';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { workerCommands } from '../../../workers/commands.js';
import { labops } from './recording-terminal.js';

/** `labops` of the worker's repository and image, with no setting that it needs. */
function labopsOfWorker(line: string) {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of ['DATABASE_URL', 'AUDIT_KEYS', 'LABOPS_ENCRYPTION_KEYS', 'LABOPS_ACTOR'])
    vi.stubEnv(name, undefined);
  return labops(line, undefined, undefined, workerCommands);
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
  expect(await labopsOfWorker(line)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(said) as string });
});

test.each([
  ['migrate', /^One setting is invalid:\n {2}DATABASE_URL is missing: set it to that of the user who owns/],
  ['audit list --actor nurse-7', /DATABASE_URL is missing.+AUDIT_KEYS is missing/s],
])('labops %s says which settings it lacks, and needs no actor in production', async (line, said) => {
  vi.stubEnv('NODE_ENV', 'production');
  expect(await labopsOfWorker(line)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(said) as string });
});

test('with -o json also their errors are JSON', async () => {
  const { stderr, ...ran } = await labopsOfWorker('migrate -o json');
  const message = expect.stringMatching(/DATABASE_URL is missing/) as string;
  expect(ran).toEqual({ code: 2, stdout: '' });
  const fields = [{ field: 'DATABASE_URL', message: expect.any(String) as string }];
  const known = { name: 'ConfigInvalid', code: 'config_invalid', kind: 'invalid', message, fields };
  expect(JSON.parse(stderr)).toMatchObject({ error: known });
});

async function completion(shell: string): Promise<string> {
  const { code, stdout } = await labops(`completion ${shell}`, undefined, undefined, workerCommands);
  expect(code).toBe(0);
  return stdout;
}

/** What bash itself offers for the last word. */
async function offered(line: string): Promise<string[]> {
  const words = line.split(' ').map((word) => `'${word}'`);
  const script = `${await completion('bash')}
COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _labops; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  return stdout.split('\n').filter((word) => word !== '');
}

test.each([
  ['labops o', ['orders']],
  ['labops orders sh', ['show']],
  ['labops orders list --ph', ['--phase']],
  ['labops orders list --limit 5 --name', ['--namespace']],
  ['labops -o ', ['table', 'json', 'jsonl']],
  ['labops orders list --output j', ['json', 'jsonl']],
  ['labops -o json orders resolve-problem order-1 --decision ', ['wait', 'replace', 'abandon']],
  ['labops webhooks list --environment s', ['sandbox']],
  ['labops completion f', ['fish']],
  ['labops orders place --file ', []],
  ['labops orders list --phase aw', ['awaiting_registration']],
  ['labops orders list --attention cri', ['critical_result']],
  ['labops orders list --user ', []],
  ['labops --timeout ', []],
  ['labops doctor --', ['--output']],
  ['labops service sites --r', ['--radius']],
])('bash completes `%s`', async (line, words) => expect(await offered(line)).toEqual(words));

test('fish gets every command with its description, each quoted', async () => {
  const script = await completion('fish');
  expect(script).toContain(
    String.raw`complete -c labops -n '__fish_seen_subcommand_from orders; and __fish_seen_subcommand_from resolve-problem' -l decision -x -a 'wait replace abandon'`,
  );
  expect(script).toContain(String.raw`-a show -d 'show the state of a user\'s latest deletion'`);
});
