import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fuzzAnswers } from '../../proof/fuzz/answers.js';
import { fuzzInputs } from '../../proof/fuzz/inputs.js';
import { Random } from '../../proof/fuzz/random.js';
import { Tally } from '../../proof/fuzz/tally.js';
import { catchingHandler, fuzzWebhooks, takeWebhook } from '../../proof/fuzz/webhooks.js';
import { fuzzWebhooksOverHttp } from '../../proof/fuzz/raw-http.js';
import { fuzzWorkflows } from '../../proof/fuzz/workflows.js';
import { readNotificationsLeft } from '../../workflows/notifications/delivery.js';
import { projectFolder } from '../rig/processes.js';

/** The short form of `npm run fuzz`; docs/internals/proof.md, "Bad input". */
const seed = 20_260_105;

test.each([
  ['webhooks', fuzzWebhooks, 1_000],
  ['webhooks over HTTP', fuzzWebhooksOverHttp, 250],
  ['answers of the service', fuzzAnswers, 800],
  ['inputs and settings', fuzzInputs, 1_000],
  ['inputs, signals and commands of workflows', fuzzWorkflows, 300],
])('no claim breaks by bad %s', async (part, fuzz, count) => {
  const tally = new Tally(part);
  await fuzz(new Random(seed), count, tally);
  expect(tally.findings).toEqual([]);
  expect(tally.cases).toBe(count);
});

test('a seed repeats its cases', async () => {
  const outcomes = async (from: number) => {
    const tally = new Tally('webhooks');
    await fuzzWebhooks(new Random(from), 50, tally);
    return [...tally.outcomes];
  };
  const once = await outcomes(7);
  expect(await outcomes(7)).toEqual(once);
  expect(await outcomes(8)).not.toEqual(once);
});

const corpus = join(projectFolder, 'proof/fuzz/corpus');

test.each(readdirSync(join(corpus, 'webhooks')))('the webhook %s is answered without 5xx', async (file) => {
  const tally = new Tally('corpus');
  await takeWebhook(readFileSync(join(corpus, 'webhooks', file)), catchingHandler(true), tally);
  expect(tally.findings).toEqual([]);
});

test('what is not a list of notifications is read as none, and the notifications beside it are kept', () => {
  const cases = JSON.parse(readFileSync(join(corpus, 'notifications-left.json'), 'utf8')) as {
    given: unknown;
    ids: string[];
  }[];
  for (const { given, ids } of cases) {
    const { notifications, refused } = readNotificationsLeft(given);
    const read = [...notifications, ...refused.map(({ notification }) => notification)].map(({ id }) => id);
    expect(read, JSON.stringify(given)).toEqual(ids);
  }
});
