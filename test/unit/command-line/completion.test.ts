import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { run } from '../../../client/command-line/program.js';
import { workerCommands } from '../../../workers/commands.js';
import { RecordedTerminal } from './recording-terminal.js';

async function completion(shell: string): Promise<string> {
  const terminal = new RecordedTerminal();
  const connect = () => Promise.reject(new Error('it connected'));
  expect(await run(['completion', shell], terminal, connect, workerCommands)).toBe(0);
  return terminal.stdout;
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
