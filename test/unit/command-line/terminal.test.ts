import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { processTerminal } from '../../../client/command-line/terminal.js';

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
