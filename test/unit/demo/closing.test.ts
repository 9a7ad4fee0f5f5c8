import { expect, test } from 'vitest';
import { Closing } from '../../../sandbox/demo/closing.js';

test('an end that comes while a program starts ends it, too, after what was started later, and nothing more is started', async () => {
  const closing = new Closing();
  const ended: string[] = [];
  let isUp = (_name: string): void => undefined;
  void closing.use(
    () => new Promise<string>((resolve) => (isUp = resolve)),
    async (starting) => void ended.push(await starting),
  );
  closing.use(
    () => 'later',
    async (name) => void ended.push(name),
  );
  const closed = closing.close();
  expect(() =>
    closing.use(
      () => expect.fail('it was started'),
      async () => undefined,
    ),
  ).toThrow(/being ended/);
  isUp('first');
  await closed;
  expect(ended).toEqual(['later', 'first']);
});
