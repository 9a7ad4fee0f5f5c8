import { expect, test, vi } from 'vitest';
import { answerWithinMs, linesOf, notChecked, ok, runChecks } from '../../workers/doctor/findings.js';

const healthy = { name: 'healthy', run: () => Promise.resolve(ok('It answers.')) };

test('a check that fails is a fault with its reason, and holds up no other', async () => {
  const run = () => Promise.reject(new Error('14 UNAVAILABLE: connection dropped\nwith more lines'));
  expect(await runChecks([{ name: 'broken', run }, healthy])).toEqual([
    {
      check: 'broken',
      status: 'fault',
      found: 'It could not be checked: 14 UNAVAILABLE: connection dropped.',
      remedy: expect.any(String) as string,
    },
    { check: 'healthy', ...ok('It answers.') },
  ]);
});

test('a check that never answers ends after some seconds', async () => {
  vi.useFakeTimers();
  try {
    const running = runChecks([{ name: 'hanging', run: () => new Promise(() => undefined) }, healthy]);
    await vi.advanceTimersByTimeAsync(answerWithinMs);
    expect(await running).toMatchObject([
      { check: 'hanging', status: 'fault', found: 'There was no answer within 8 seconds.' },
      { check: 'healthy', status: 'ok' },
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test('each finding is one line, without characters that a terminal obeys', () => {
  const found = 'The namespace a\u001B[2J\nb does not exist.';
  const lines = linesOf([
    { check: 'namespace', status: 'fault', found, remedy: 'Create it.' },
    { check: 'release', ...notChecked('the namespace cannot be used') },
  ]);
  expect(lines).toEqual([
    'fault        namespace  The namespace a·[2J·b does not exist. Create it.',
    'not checked  release    Not checked, because the namespace cannot be used.',
  ]);
});
