import { Client, Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { CommandLine, type GlobalOptions } from '../../../client/command-line/command-line.js';
import { LabOperations } from '../../../client/lab-operations.js';
import { RecordedTerminal } from './a-terminal.js';

const clearLine = '\r\u001B[2K';

/** A command line whose connection is made when it is first used, which here is never. */
function onTerminal(isWatched: boolean, options: Partial<GlobalOptions> = {}) {
  const terminal = new RecordedTerminal({ isWatched });
  const closed: boolean[] = [];
  const connect = () => {
    const connection = Connection.lazy();
    const close = async () => {
      closed.push(true);
      await connection.close();
    };
    return Promise.resolve(new LabOperations(new Client({ connection }), {}, close));
  };
  return {
    terminal,
    closed,
    commandLine: new CommandLine(terminal, connect, () => ({ taskQueue: 'mine', ...options })),
  };
}

describe('progress', () => {
  test('is a line that is gone where the answer begins, and before every note', async () => {
    const { terminal, commandLine } = onTerminal(true);
    await commandLine.run(async ({ progress }) => {
      progress.say('placing');
      commandLine.print({ orderId: 'order-1' }, () => {
        terminal.err('|answer|');
        return 'Placed.';
      });
      progress.say('looking');
      commandLine.note('Look again.');
    });
    expect(terminal.stdout).toBe('Placed.\n');
    const written = terminal.stderr.replaceAll(clearLine, '<clear>');
    expect(written).toBe(
      '<clear>connecting… 0 s<clear>waiting for the answer… 0 s<clear>placing… 0 s|answer|<clear>' +
        '<clear>looking… 0 s<clear>Look again.\n',
    );
  });

  test('is not written where nobody looks', async () => {
    const { terminal, commandLine } = onTerminal(false);
    await commandLine.run(async ({ progress }) => progress.say('placing'));
    expect(terminal.stderr).toBe('');
  });
});

test('with --json an answer is one document, one of many is a line, and notes are left out', async () => {
  const { terminal, commandLine } = onTerminal(false, { json: true });
  commandLine.print({ orders: [] }, () => 'words');
  expect(JSON.parse(terminal.stdout)).toEqual({ orders: [] });
  terminal.stdout = '';
  commandLine.printLine({ phase: 'at_lab' }, () => 'words');
  expect(terminal.stdout).toBe('{"phase":"at_lab"}\n');
  commandLine.note('words');
  expect(terminal.stderr).toBe('');
});

test('the connection is closed after the work, also after work that failed', async () => {
  const { closed, commandLine } = onTerminal(false);
  await commandLine.run(() => Promise.resolve());
  const failing = commandLine.run(() => Promise.reject(new Error('it failed')));
  await expect(failing).rejects.toThrow('it failed');
  expect(closed).toHaveLength(2);
});

test('work without an end is given up after the time that was asked for, before what the command itself would wait', async () => {
  const { commandLine } = onTerminal(false, { timeout: 20 });
  const waiting = commandLine.run(() => new Promise(() => undefined), 'endless');
  await expect(waiting).rejects.toThrow('No answer within 20ms: is a worker polling the task queue mine?');
});
