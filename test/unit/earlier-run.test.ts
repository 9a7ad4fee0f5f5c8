import { expect, test } from 'vitest';
import { readEarlierRun, type EarlierRun } from '../../protocol/earlier-run.js';

const runId = '0c9a0000-0000-4000-8000-0000000000a1';

test.each<[unknown, EarlierRun | undefined]>([
  [{ runId }, { runId }],
  [{}, {}],
  [undefined, undefined],
  [null, undefined],
  [runId, undefined],
  [{ runId: 7 }, undefined],
  [{ runId: 'unknown' }, undefined],
  [{ run_id: 'run-1' }, undefined],
])('an input with the earlier run %j is read as %j: only an empty one says that there was none', (given, read) => {
  expect(readEarlierRun(given)).toEqual(read);
});
