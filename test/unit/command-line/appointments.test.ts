import { expect, test } from 'vitest';
import type { Deadline } from '../../../client/call-options.js';
import type { Connect } from '../../../client/command-line/command-line.js';
import { run } from '../../../client/command-line/program.js';
import type { LabOperations } from '../../../client/lab-operations.js';
import { RecordedTerminal } from './recording-terminal.js';

/** Lab operations whose appointment answers as the test says. */
const answering = (handle: object): Connect => {
  const appointments = { get: () => Promise.resolve(handle) };
  return () => Promise.resolve({ appointments, close: () => Promise.resolve() } as unknown as LabOperations);
};

test('a choice may take as long as a booking, while a start takes the usual time', async () => {
  const deadlines: Deadline[] = [];
  const connect: Connect = ({ deadline }) => {
    deadlines.push(deadline);
    return Promise.reject(new Error('enough is known'));
  };
  const terminal = new RecordedTerminal();
  expect(await run(['appointments', 'choose', 'order-1', '--slot', 'invented'], terminal, connect)).toBe(1);
  expect(await run(['appointments', 'start', 'order-1'], terminal, connect)).toBe(1);
  expect(deadlines).toEqual(['10m', '5m']);
});

test('a lack of slots is a sentence for people, and an empty list for programs', async () => {
  const connect = answering({ slots: () => Promise.resolve({ slots: [], timezone: 'America/Phoenix' }) });
  const [people, programs] = [new RecordedTerminal(), new RecordedTerminal()];
  expect(await run(['appointments', 'slots', 'order-1'], people, connect)).toBe(0);
  expect(people.stdout).toBe('No slots in these days.\n');
  expect(await run(['appointments', 'slots', 'order-1', '--json'], programs, connect)).toBe(0);
  expect(JSON.parse(programs.stdout)).toEqual({ slots: [], timezone: 'America/Phoenix' });
});
