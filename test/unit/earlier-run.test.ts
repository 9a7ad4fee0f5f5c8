import { expect, test } from 'vitest';
import { readEarlierRun, type EarlierRun } from '../../protocol/earlier-run.js';

test.each<[unknown, EarlierRun | undefined]>([
  [{ runId: 'run-1' }, { runId: 'run-1' }],
  [{}, {}],
  [undefined, undefined],
  [null, undefined],
  ['run-1', undefined],
  [{ runId: 7 }, undefined],
  [{ run_id: 'run-1' }, undefined],
])('an input with the earlier run %j is read as %j: only an empty one says that there was none', (given, read) => {
  expect(readEarlierRun(given)).toEqual(read);
});
