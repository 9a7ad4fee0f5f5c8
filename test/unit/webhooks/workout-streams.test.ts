import { expect, test } from 'vitest';
import { outcomeOf, signed } from './sending.js';

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

/** What becomes of this message if the sink for health data answers so. */
const noticed = (body: object, answer?: string) =>
  outcomeOf(signed({ ...body }), { healthData: () => Promise.resolve(answer) });

// proves 264, 296, 301
test('a notice whose stream is due is answered 503 while Temporal is away', async () => {
  const { status, lines } = await noticed(notice(), 'stream_due');
  expect(status).toBe(503);
  // By `workout_id`, and not by the id inside the message.
  const workflowId = `workout-stream/${workoutId}`;
  expect(lines).toMatchObject([{ fields: { answer: 'temporal_unavailable', workflowId } }]);
  expect(JSON.stringify(lines)).not.toContain('Testperson');
});

test.each([
  ['stored', 'health_data_accepted'],
  ['repeated', 'health_data_accepted'],
  ['user_deleted', 'health_data_unwanted'],
  ['set_aside', 'health_data_set_aside'],
  [undefined, 'health_data_accepted'],
])('a notice that the sink answers with %s starts nothing', async (outcome, answer) => {
  expect(await noticed(notice(), outcome)).toMatchObject({ status: 204, counted: [answer] });
});

test.each([
  ['names no workout', notice({ workout_id: null })],
  ['names an odd one', notice({ workout_id: '../etc' })],
  ['is a summary', { ...notice(), event_type: 'daily.data.workouts.created' }],
])('a message that %s starts nothing, though the sink has a stream due', async (_what, body) => {
  expect(await noticed(body, 'stream_due')).toMatchObject({ status: 204, counted: ['health_data_accepted'] });
});

test('a notice without a sink is counted and starts nothing', async () => {
  expect(await outcomeOf(signed(notice()))).toMatchObject({ status: 204, counted: ['health_data_counted'] });
});
