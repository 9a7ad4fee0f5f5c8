import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Keyboard, Screen } from '../../../sandbox/demo/screen.js';

/** A terminal without a person: what is written to `keys` was typed, the output can be read. */
function terminal({ isTTY = true, shownOnTTY = true, asks = true, withinMs = 60_000 } = {}) {
  const keys = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY: shownOnTTY, hasColors: () => false });
  const screen = new Screen(output as unknown as NodeJS.WriteStream);
  const keyboard = new Keyboard({ input: keys, screen, asks, withinMs });
  onTestFinished(() => keyboard.close());
  // Each read takes all that was written, or one piece of it: that depends on Node's version.
  const shown = () => {
    let text = '';
    for (let piece: Buffer | null; (piece = output.read() as Buffer | null) !== null;) text += piece.toString();
    return text;
  };
  return { keyboard, keys, shown };
}

const unendingly = new AbortController().signal;

describe('a question to the person who watches', () => {
  test('is shown, and answered by what they type in time, exactly as typed', async () => {
    const { keyboard, keys, shown } = terminal();
    const asked = keyboard.ask('the code: ', unendingly);
    expect(shown()).toBe('the code: ');
    keys.write(' 12 3x\n');
    expect(await asked).toBe(' 12 3x');
  });

  test('has no answer when nothing is typed in time; the line is ended', async () => {
    const { keyboard, keys, shown } = terminal({ withinMs: 50 });
    const asked = keyboard.ask('the code: ', unendingly);
    keys.write('not ended by Enter');
    expect(await asked).toBeUndefined();
    expect(shown()).toBe('the code: \n');
  });

  test.each(['\n', '  \r\n'])('has no answer when Enter alone is pressed: %j', async (line) => {
    const { keyboard, keys } = terminal();
    const asked = keyboard.ask('the code: ', unendingly);
    keys.write(line);
    expect(await asked).toBeUndefined();
  });

  test('is not answered by what was typed before it', async () => {
    const { keyboard, keys } = terminal();
    keys.write('too early\n');
    await new Promise((resolve) => setImmediate(resolve));
    const asked = keyboard.ask('the code: ', unendingly);
    keys.write('in time\n');
    expect(await asked).toBe('in time');
  });

  test.each([{ isTTY: false }, { shownOnTTY: false }, { asks: false }])(
    'is not even shown if nobody can answer it: %j',
    async (options) => {
      const { keyboard, keys, shown } = terminal(options);
      keys.write('123456\n');
      expect(await keyboard.ask('the code: ', unendingly)).toBeUndefined();
      expect(shown()).toBe('');
    },
  );

  test('is given up at once when the demo is ended', async () => {
    const { keyboard } = terminal();
    const ending = new AbortController();
    const asked = keyboard.ask('the code: ', ending.signal);
    ending.abort();
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
  });
});
