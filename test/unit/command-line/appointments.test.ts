import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { run, type Connect } from '../../../client/command-line/program.js';
import type { LabOperations } from '../../../client/lab-operations.js';
import { RecordedTerminal } from './a-terminal.js';

/** Lab operations whose appointment answers as told. */
const answering = (handle: object): Connect => {
  const appointments = { get: () => Promise.resolve(handle) };
  return () => Promise.resolve({ appointments, close: () => Promise.resolve() } as unknown as LabOperations);
};

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('a choice is waited for longer than a booking may take, after which it says itself that nobody answered', async () => {
  const terminal = new RecordedTerminal();
  const connect = answering({ choose: () => new Promise(() => undefined) });
  const status = run(['appointments', 'choose', 'order-1', '--slot', 'invented'], terminal, connect);
  await vi.advanceTimersByTimeAsync(8 * 60_000);
  expect(terminal.stderr).toBe('');
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(await status).toBe(1);
  expect(terminal.stderr).toMatch(/^NoAnswer: No answer within 10m: /);
});

test('that there are no slots is said in words, and is an empty list for programs', async () => {
  const connect = answering({ slots: () => Promise.resolve({ slots: [], timezone: 'America/Phoenix' }) });
  const [people, programs] = [new RecordedTerminal(), new RecordedTerminal()];
  expect(await run(['appointments', 'slots', 'order-1'], people, connect)).toBe(0);
  expect(people.stdout).toBe('No slots in these 14 days.\n');
  expect(await run(['appointments', 'slots', 'order-1', '--json'], programs, connect)).toBe(0);
  expect(JSON.parse(programs.stdout)).toEqual({ slots: [], timezone: 'America/Phoenix' });
});
