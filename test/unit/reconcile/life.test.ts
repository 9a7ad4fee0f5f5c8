import { expect, test } from 'vitest';
import type { PageToReconcile } from '../../../activities/reconcile/reconcile.js';
import { noPageCounts } from '../../../protocol/reconcile.js';
import { reconcileOrders } from '../../../workflows/reconcile.js';
import { Life, type Answers } from '../life.js';

const now = Date.parse('2026-03-10T12:00:00.000Z');
const opening = { workflow: reconcileOrders, type: 'reconcileOrders', workflowId: 'reconcile-orders/lab', now };
const range = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-02T00:00:00.000Z' };
const matchReviews = { reconcileMatchReviews: { started: 0 } };

/** A page with these counts. */
const page = (counts: object, more: object = {}) => ({ counts: { ...noPageCounts, ...counts }, outside: 0, ...more });

/** A run, and the pages that it asks for. */
async function pass(answer: (asked: PageToReconcile) => unknown, input: object = range, answers: Answers = {}) {
  const asked: unknown[] = [];
  const reconcilePage = (_now: number, given: PageToReconcile) => {
    asked.push([given.critical ?? 'updated', given.page]);
    return answer(given);
  };
  const life = new Life(opening, { reconcilePage, ...matchReviews, ...answers });
  return { life, asked, start: async () => life.start(input) };
}

test('a pass over many pages counts them together, however many runs it takes, and shows how far it has come', async () => {
  const answer = ({ page: number = 3 }: PageToReconcile) =>
    page({ listed: 50, notified: 49, passedOver: 1 }, number > 1 ? { nextPage: number - 1 } : {});
  const first = await pass(answer);
  first.life.run.suggestNewRun();
  await first.start();
  expect(await first.life.run.query('progress')).toMatchObject({ listed: 50, pagesToGo: 2 });
  const { input } = first.life.run.end as unknown as { input: object };
  const next = await pass(answer, input);
  await next.start();
  expect([...first.asked, ...next.asked]).toEqual([undefined, 2, 1].map((number) => ['updated', number]));
  const result = { watermark: range.to, listed: 150, notified: 147, passedOver: 3 };
  expect(next.life.run.end).toMatchObject({ kind: 'completed', result });
});

test('critical results are asked for by both filters: one may know no other word than critical, the other may be ignored', async () => {
  const { life, asked, start } = await pass(({ critical }) => {
    if (critical === 'is_critical') return page({ critical: 2 });
    return page({ critical: critical ? 1 : 0 });
  }, {});
  await start();
  expect(asked.map((each) => (each as string[])[0])).toEqual(['updated', 'interpretation', 'is_critical']);
  expect(life.run.end).toMatchObject({ result: { critical: 2 } });
});

test('a service that ignores the filter by time is logged once; one that ignores a filter for critical results is asked with the other', async () => {
  const saying = 'warn: the service lists orders that were not updated in the range: it ignores the filter';
  const { life, asked, start } = await pass(({ critical }) => {
    if (critical === 'is_critical') return page({ critical: 1 });
    return page(critical ? {} : { listed: 1 }, { outside: 60 });
  }, {});
  await start();
  expect(asked.map((each) => (each as string[])[0])).toEqual(['updated', 'interpretation', 'is_critical']);
  expect(life.run.logged.filter((line) => line === saying)).toHaveLength(1);
  expect(life.run.end).toMatchObject({ result: { listed: 1, critical: 1 } });
});

test('a pass over a given range looks for no critical results, and fails with the service’s refusal', async () => {
  const given = await pass(() => page({}));
  await given.start();
  expect(given.asked).toEqual([['updated', undefined]]);
  const refused = await pass(() => ({ failure: { type: 'ServiceRefused', details: { fields: [], status: 400 } } }));
  await refused.start();
  expect(refused.life.run.end).toMatchObject({ kind: 'failed', type: 'ServiceRefused' });
});
