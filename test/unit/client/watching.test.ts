import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { createNotificationHandler, type NotificationHandler } from '../../../client/notifications/index.js';
import { signWebhook } from '../../../client/testing.js';
import { OrderNotFound } from '../../../client/order/errors.js';
import { watchState, type WatchOptions } from '../../../client/watching.js';
import type { OrderState } from '../../../protocol/order/state.js';
import { stateOf } from '../../../workflows/order/view.js';
import { caseOf, happyPath, kitOf, pathTo } from '../order/histories.js';
import { all } from '../../rig/all.js';
import { grpcError } from '../../rig/grpc-answers.js';
import { rejection } from '../service/recording-server.js';

const stateAfter = (status: string): OrderState => stateOf(caseOf([kitOf('order-1', pathTo(status))]));
const ordered = stateAfter('ordered');
const shipped = stateAfter('transit_customer');
const ended = stateAfter('completed');

const tiny = { minInterval: '100ms', maxInterval: '150ms' } as const;
const instant = { minInterval: '100ms', maxInterval: '300ms' } as const;
/** Nobody waits that long: only an abort or a notification ends it. */
const patient = { minInterval: '1h', maxInterval: '1h' } as const;

/** An order that returns its states one after the other, the last one forever. Remembers when it was queried. */
function answers(...given: readonly (OrderState | Error)[]) {
  const askedAt: number[] = [];
  const ask = async (): Promise<OrderState> => {
    const answer = given[Math.min(askedAt.length, given.length - 1)];
    askedAt.push(performance.now());
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no answer');
    return answer;
  };
  return { ask, askedAt };
}

/** The states that are reported; of this workflow, if the state shows which it is. */
const watched = (
  ask: () => Promise<OrderState>,
  options: WatchOptions = tiny,
  source?: string,
): Promise<OrderState[]> => all(watchState({ state: ask }, options, () => source));

describe('a watched order', () => {
  test('is reported once for each change, the present state first, and ends with its outcome, which is queried once', async () => {
    const { ask, askedAt } = answers(ordered, { ...ordered }, shipped, shipped, ordered, ended);
    expect(await watched(ask)).toEqual([ordered, shipped, ordered, ended]);
    expect(askedAt).toHaveLength(6);
  });

  test('is the same state whatever the order of its keys', async () => {
    const reversed = Object.fromEntries(Object.entries(ordered).toReversed()) as unknown as OrderState;
    expect(await watched(answers(ordered, reversed, ended).ask)).toEqual([ordered, ended]);
  });

  test('is not queried any more once nobody listens', async () => {
    const { ask, askedAt } = answers(...happyPath.map(stateAfter));
    for await (const state of watchState({ state: ask }, tiny)) if (state.phase === 'in_transit_to_customer') break;
    expect(askedAt).toHaveLength(happyPath.indexOf('transit_customer') + 1);
  });
});

test.each([
  ['UNKNOWN', grpcError(2)],
  ['DEADLINE_EXCEEDED: no worker in time', grpcError(4)],
  ['RESOURCE_EXHAUSTED', grpcError(8)],
  ['FAILED_PRECONDITION: no worker polls', grpcError(9, 'no poller seen for task queue recently')],
  ['ABORTED', grpcError(10)],
  ['a connection that broke', grpcError(13, 'Received RST_STREAM with code 2')],
  ['UNAVAILABLE', grpcError(14)],
  ['UNAVAILABLE, as gRPC itself rejects', grpcError(14).cause ?? new Error()],
])('a passing error is waited out, and nothing that was reported before it is repeated: %s', async (_name, error) => {
  expect(await watched(answers(error, error, ordered, error, ordered, ended).ask)).toEqual([ordered, ended]);
});

test.each([
  ['INVALID_ARGUMENT', grpcError(3)],
  ['NOT_FOUND', grpcError(5)],
  ['PERMISSION_DENIED', grpcError(7)],
  ['UNAUTHENTICATED', grpcError(16)],
  ['INTERNAL', grpcError(13)],
  ['an error of the client that no call caused', new ServiceError('Failed to query Workflow')],
  ['a word of the product', new OrderNotFound('kit-order/order-1 does not exist')],
  ['a fault of ours', new TypeError('a fault')],
])('every other error is thrown unchanged: %s', async (_name, error) => {
  const { ask, askedAt } = answers(ordered, error);
  expect(await rejection(watched(ask))).toBe(error);
  expect(askedAt).toHaveLength(2);
});

describe('the pause between two queries', () => {
  /** The least time between two queries; timers may fire a little early by the finer clock. */
  const expectPauses = (askedAt: number[], least: readonly number[]) => {
    const pauses = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? 0) + 2);
    expect(pauses).toHaveLength(least.length);
    for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(least[index] ?? 0);
  };

  const away = grpcError(14);
  test.each([
    ['nothing changes', [ordered, ordered, ordered, ordered, ended], [100, 200, 300, 300]],
    ['errors pass, from the first query on', [away, away, ordered, away, ended], [200, 300, 100, 200]],
  ])('doubles while %s', async (_what, given, pauses) => {
    const { ask, askedAt } = answers(...given);
    await watched(ask, instant);
    expectPauses(askedAt, pauses);
  });

  test('grows no longer than the longest pause', async () => {
    // Doubled 15 times it would be most of an hour.
    const { ask, askedAt } = answers(...Array.from({ length: 16 }, () => ordered), ended);
    await watched(ask, { minInterval: '100ms', maxInterval: '100ms' });
    expect(askedAt).toHaveLength(17);
  });

  test('is the first one again after every change', async () => {
    // Doubled over all queries it would be minutes in the end.
    const changes = Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? ordered : shipped));
    const { ask, askedAt } = answers(...changes.flatMap((state) => [state, state]), ended);
    expect(await watched(ask, { minInterval: '100ms', maxInterval: '365d' })).toHaveLength(7);
    expect(askedAt).toHaveLength(13);
  });

  test.each([1, 1000, '1000', '1', '99ms', '0s', 'soon'])('is not %j: it would poll without end', async (pause) => {
    const { ask } = answers(ordered, ended);
    const refusal = /^An interval must be a duration with its unit.+at least 100ms/;
    for (const option of ['minInterval', 'maxInterval'])
      await expect(watched(ask, { [option]: pause as never })).rejects.toThrow(refusal);
  });
});

describe('an abort', () => {
  const reason = new Error('the page was closed');

  test('ends the pause at once, with the signal’s reason', async () => {
    const abort = new AbortController();
    const states = watchState({ state: answers(ordered).ask }, { ...patient, signal: abort.signal });
    expect(await states.next()).toEqual({ done: false, value: ordered });
    const next = rejection(states.next());
    abort.abort(reason);
    expect(await next).toBe(reason);
    expect(await states.next()).toEqual({ done: true, value: undefined });
  });

  test('ends the pause after a passing error, too', async () => {
    const abort = new AbortController();
    const { ask, askedAt } = answers(grpcError(14));
    const next = rejection(watchState({ state: ask }, { ...patient, signal: abort.signal }).next());
    await expect.poll(() => askedAt.length).toBe(1);
    abort.abort(reason);
    expect(await next).toBe(reason);
  });

  test.each([AbortSignal.abort(reason), AbortSignal.abort()])('before the first query asks nothing', async (signal) => {
    const { ask, askedAt } = answers(ordered);
    expect(await rejection(watched(ask, { signal }))).toBe(signal.reason);
    expect(askedAt).toEqual([]);
  });
});

describe('a watch with notifications', () => {
  const secret = `whsec_${Buffer.from('an-invented-notify-key--32-bytes').toString('base64')}`;
  const source = 'kit-order/order-1';
  const receiver = () => createNotificationHandler({ secrets: [secret], on: {} });

  async function notify(handler: NotificationHandler, from: string): Promise<void> {
    const id = randomUUID();
    const event = { specversion: '1.0', id, source: from, type: 'labops.order.phase_changed', subject: 'order-1' };
    const body = { ...event, time: '2026-01-05T10:00:00Z', data: {} };
    const { status } = await handler.handle(signWebhook({ id, body, secret }));
    expect(status).toBe(204);
  }

  test('asks again when a notification of its workflow arrives, and not for one of another', async () => {
    const notifications = receiver();
    const { ask, askedAt } = answers(ordered, ordered, ended);
    const watching = watchState({ state: ask }, { ...patient, notifications }, () => source);
    expect((await watching.next()).value).toEqual(ordered);
    const next = watching.next();
    await expect.poll(() => askedAt.length).toBe(2);
    await notify(notifications, 'kit-order/another');
    await turn();
    expect(askedAt).toHaveLength(2);
    await notify(notifications, source);
    expect((await next).value).toEqual(ended);
    expect((await watching.next()).done).toBe(true);
  });

  test('misses no notification that arrives before it listens, or while it asks', async () => {
    const notifications = receiver();
    const given = [ordered, shipped, ended];
    const ask = async () => {
      const state = given.shift() ?? ended;
      await notify(notifications, source);
      return state;
    };
    expect(await watched(ask, { ...patient, notifications }, source)).toEqual([ordered, shipped, ended]);
  });

  test('asks again as usual after a question without an answer, and does not ask without end if the interval is months', async () => {
    const notifications = receiver();
    const { ask, askedAt } = answers(ordered, ordered, grpcError(14), ended);
    const options = { minInterval: '100ms', maxInterval: '90d', notifications } as const;
    const watching = watchState({ state: ask }, options, () => source);
    expect((await watching.next()).value).toEqual(ordered);
    const next = watching.next();
    await expect.poll(() => askedAt.length).toBe(2);
    await notify(notifications, source);
    expect((await next).value).toEqual(ended);
    expect(askedAt).toHaveLength(4);
  });

  test('polls as usual until the state shows which workflow it is', async () => {
    const { ask } = answers(ordered, shipped, ended);
    expect(await watched(ask, { ...tiny, notifications: receiver() })).toEqual([ordered, shipped, ended]);
  });
});
