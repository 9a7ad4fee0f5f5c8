import { expect, test } from 'vitest';
import { Calendar, Narrator } from '../../../sandbox/demo/narrator.js';
import type { Screen } from '../../../sandbox/demo/screen.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

const daySeconds = 600;

/** Keeps the lines as they would be on a terminal without colours. */
function screenOf(lines: string[]): Screen {
  return {
    styled: (_style: unknown, text: string) => text,
    line: (text = '') => lines.push(text),
  } as unknown as Screen;
}

test('the days of a story never go back, even if an event is reported late', () => {
  const lines: string[] = [];
  const narrator = new Narrator(screenOf(lines), new Calendar(daySeconds), { label: 'late', colour: 'red' });
  narrator.begin();
  const dayMs = daySeconds * 1000;
  const began = Date.now();
  narrator.happens('the kit is found', began + 3.5 * dayMs);
  narrator.happens('the kit was ordered', began);
  narrator.happens('the kit arrives', began + 5.5 * dayMs);
  expect(lines.map((line) => /day +(\d+)/.exec(line)?.[1])).toEqual(['3', '3', '5']);
  narrator.begin();
  narrator.happens('another story begins', began + 0.5 * dayMs);
  expect(lines.at(-1)).toContain('day  0');
});

test.each([0.2, 1, 3600])('an order takes the default policy in days of %d s', (daySeconds) => {
  const calendar = new Calendar(daySeconds);
  expect(resolvePolicy('order', calendar.policy({}))).toMatchObject({ registrationDeadline: 90 * daySeconds * 1000 });
});
