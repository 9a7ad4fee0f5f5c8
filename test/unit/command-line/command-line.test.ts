import { Client, Connection } from '@temporalio/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { PassThrough } from 'node:stream';
import type { Deadline } from '../../../client/call-options.js';
import { CommandLine, type GlobalOptions } from '../../../client/command-line/command-line.js';
import { LabOperations } from '../../../client/lab-operations.js';
import { RecordedTerminal } from './recording-terminal.js';
import { processTerminal } from '../../../client/command-line/terminal.js';

const clearLine = '\r\u001B[2K';
/** So a line that is longer than the terminal is wide stays one line. */
const [noWrap, wrap] = ['\u001B[?7l', '\u001B[?7h'];

/** A command line whose connection is made when it is first used, which here is never. */
function onTerminal(isWatched: boolean, options: Partial<GlobalOptions> = {}, hasWorker = true) {
  const terminal = new RecordedTerminal({ isWatched });
  const closed: boolean[] = [];
  const connect = async () => {
    const connection = Connection.lazy();
    const close = async () => {
      closed.push(true);
      await connection.close();
    };
    const lab = new LabOperations(new Client({ connection }), {}, close);
    return Object.assign(lab, { hasWorker: () => Promise.resolve(hasWorker) });
  };
  return { terminal, closed, commandLine: new CommandLine(terminal, connect, () => ({ ...usual, ...options })) };
}

const usual = { output: 'table', timeFormat: 'iso', taskQueue: 'mine' } as const;

describe('progress', () => {
  test('is a line that disappears where the answer begins, and before every note', async () => {
    const { terminal, commandLine } = onTerminal(true);
    await commandLine.run(async ({ progress }) => {
      progress.say('placing');
      commandLine.print({ reference: 'mine-1' }, () => {
        terminal.err('|answer|');
        return 'Placed.';
      });
      progress.say('looking');
      commandLine.note('Look again.');
    });
    expect(terminal.stdout).toBe('Placed.\n');
    const written = terminal.stderr
      .replaceAll(clearLine, '<clear>')
      .replaceAll(noWrap, '[')
      .replaceAll(wrap, ']')
      .replaceAll(/ \d+ s\b/g, '')
      .replaceAll(/(<clear>\[[^\]]*\])\1+/g, '$1'); // written again every second
    expect(written).toBe(
      '<clear>[connecting…]<clear>[waiting for the answer…]<clear>[placing…]|answer|<clear><clear>[looking…]<clear>Look again.\n',
    );
  });

  test('is not written if the output is not a terminal', async () => {
    const { terminal, commandLine } = onTerminal(false);
    await commandLine.run(async ({ progress }) => progress.say('placing'));
    expect(terminal.stderr).toBe('');
  });
});

/** What is on standard error after a minute, and after the command's end. */
async function waitingAMinute(hasWorker: boolean) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { terminal, commandLine } = onTerminal(false, {}, hasWorker);
  let finish = (): void => undefined;
  const running = commandLine.run(() => new Promise((resolve) => (finish = resolve)), 'endless');
  await vi.advanceTimersByTimeAsync(60_000);
  finish();
  await running;
  return terminal.stderr;
}

test('a command that waits for its answer says once if no worker polls the task queue, and nothing if there is one', async () => {
  expect(await waitingAMinute(false)).toMatch(/^No worker polls the task queue mine: start one, .*\n$/);
  expect(await waitingAMinute(true)).toBe('');
});

test('with -o json an answer is one document, one of many is a line, and notes are left out', async () => {
  const { terminal, commandLine } = onTerminal(false, { output: 'json' });
  commandLine.print({ endpoints: [] }, () => 'words', []);
  expect(JSON.parse(terminal.stdout)).toEqual({ endpoints: [] });
  terminal.stdout = '';
  commandLine.printLine({ phase: 'at_lab' }, () => 'words');
  expect(terminal.stdout).toBe('{"phase":"at_lab"}\n');
  commandLine.note('words');
  expect(terminal.stderr).toBe('');
});

test('with -o jsonl a list is a line for each element, any other answer one line', () => {
  const { terminal, commandLine } = onTerminal(false, { output: 'jsonl' });
  const found = [1, 2].map((n) => ({ source: `kit-order/${n}`, since: new Date(n) }));
  commandLine.print({ workflows: found }, () => 'words', found);
  commandLine.print({ workflows: [] }, () => 'words', []);
  commandLine.print({ address: 'http://127.0.0.1:1' }, () => 'words');
  commandLine.note('words');
  const lines = [...found, { address: 'http://127.0.0.1:1' }].map((line) => `${JSON.stringify(line)}\n`);
  expect(terminal.stdout).toBe(lines.join(''));
  expect(terminal.stderr).toBe('');
});

test('with -o jsonl the values beside a list are a line on standard error, also if the list is empty', () => {
  const { terminal, commandLine } = onTerminal(false, { output: 'jsonl' });
  commandLine.print({ events: [], waiting: 12, next: 'event-1' }, () => 'words', []);
  commandLine.print({ orders: [], failed: [], dryRun: true }, () => 'words', []);
  commandLine.print({ keys: [], runs: 3 }, () => 'words', []);
  expect(terminal.stdout).toBe('');
  expect(terminal.stderr).toBe('{"waiting":12,"next":"event-1"}\n{"dryRun":true}\n{"runs":3}\n');
});

test('the connection is closed after the work, also after work that failed', async () => {
  const { closed, commandLine } = onTerminal(false);
  await commandLine.run(() => Promise.resolve());
  const failing = commandLine.run(() => Promise.reject(new Error('it failed')));
  await expect(failing).rejects.toThrow('it failed');
  expect(closed).toHaveLength(2);
});

test('the deadline option replaces the command’s own, and ends watching', async () => {
  const given: unknown[] = [];
  const connect = ({ deadline }: { deadline: Deadline }) => {
    given.push(deadline);
    return Promise.resolve(new LabOperations(new Client({ connection: Connection.lazy() }), { deadline }));
  };
  const limits: unknown[] = [];
  for (const options of [{ timeout: '20s' as const }, {}]) {
    const commandLine = new CommandLine(new RecordedTerminal(), connect, () => ({ ...usual, ...options }));
    await commandLine.run(async ({ watching }) => void limits.push(watching.deadline), 'endless');
  }
  expect(given).toEqual(['20s', 'none']);
  expect(limits).toEqual(['20s', undefined]);
});

test.each([
  ['Ctrl-C', '\u0003', 'Interrupted'],
  ['Ctrl-D', '\u0004', 'NotConfirmed'],
])('%s at a question ends the command, and nothing was sent', async (_keys, typed, name) => {
  onTestFinished(() => void vi.restoreAllMocks());
  const keyboard = new PassThrough();
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(keyboard as never);
  const asked = processTerminal.ask('', { hidden: true });
  keyboard.write(typed);
  const message = expect.stringMatching(/nothing was sent/i) as string;
  await expect(asked).rejects.toMatchObject({ name, message });
});
