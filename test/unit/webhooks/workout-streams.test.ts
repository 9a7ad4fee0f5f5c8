import { expect, test } from 'vitest';
import { handlerWithoutTemporal, remembering, signed } from './sending.js';

const userId = '6f0c0a49-2f0a-4b5e-8d6f-000000000001';
const workoutId = '6f0c0a49-2f0a-4b5e-8d6f-000000000002';

const notice = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  event_type: 'daily.data.workout_stream.created',
  user_id: userId,
  client_user_id: 'Testperson Invented',
  data: {
    workout_id: workoutId,
    message: 'Testperson: workout 6f0c0a49-2f0a-4b5e-8d6f-00000000ffff can be read',
    provider_id: '17',
    sport: { id: 1, name: 'Invented Run', slug: 'invented_run' },
    ...changes,
  },
});

// proves 264, 296, 301
test('a notice whose stream is due is answered 503 while Temporal is away, once the sink has it', async () => {
  const { lines, logger } = remembering();
  const taken: unknown[] = [];
  const healthData = (event: unknown) => {
    taken.push(event);
    return Promise.resolve('stream_due');
  };
  const handler = await handlerWithoutTemporal({ logger, healthData });
  expect((await handler.handle(signed(notice()))).status).toBe(503);
  expect(taken).toHaveLength(1);
  // By `workout_id`, and not by the id inside the message.
  expect(lines).toMatchObject([
    { fields: { answer: 'temporal_unavailable', workflowId: `workout-stream/${workoutId}` } },
  ]);
  expect(JSON.stringify(lines)).not.toContain('Testperson');
});

test.each([
  ['stored', 'health_data_accepted'],
  ['repeated', 'health_data_accepted'],
  ['user_deleted', 'health_data_unwanted'],
  ['set_aside', 'health_data_set_aside'],
  [undefined, 'health_data_accepted'],
])('a notice that the sink answers with %s starts nothing', async (outcome, answer) => {
  const handler = await handlerWithoutTemporal({ healthData: () => Promise.resolve(outcome) });
  expect((await handler.handle(signed(notice()))).status).toBe(204);
  expect(handler.counts().answers).toMatchObject({ [answer]: 1 });
});

test.each([
  ['without a sink', notice(), undefined, 'health_data_counted'],
  ['that names no workout', notice({ workout_id: null }), 'stream_due', 'health_data_accepted'],
  ['that names an odd one', notice({ workout_id: '../etc' }), 'stream_due', 'health_data_accepted'],
])('a notice %s starts nothing', async (_what, body, outcome, answer) => {
  const sink = outcome === undefined ? {} : { healthData: () => Promise.resolve(outcome) };
  const handler = await handlerWithoutTemporal(sink);
  expect((await handler.handle(signed(body))).status).toBe(204);
  expect(handler.counts().answers).toMatchObject({ [answer]: 1 });
});

test('a summary is never taken for a notice', async () => {
  const handler = await handlerWithoutTemporal({ healthData: () => Promise.resolve('stream_due') });
  const summary = { ...notice(), event_type: 'daily.data.workouts.created' };
  expect((await handler.handle(signed(summary))).status).toBe(204);
});
