import { expect, test } from 'vitest';
import { deliverConnection } from '../../../client/webhooks/health-data.js';
import type { Notification } from '../../../protocol/notifications/delivery.js';
import { keeping, outcomeOf, signed } from './sending.js';

const userId = '6f0c0a49-2f0a-4b5e-8d6f-000000000001';
const source = { name: 'Invented Watch', slug: 'invented_watch' };

const event = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  event_type: 'provider.connection.created',
  user_id: userId,
  client_user_id: 'Testperson Invented',
  data: { user_id: userId, source },
  ...changes,
});

const broken = { provider: 'invented_watch', message: 'Testperson Invented', error_type: 'unknown' };

test.each([
  ['was made with a source', `link-provider/${userId}/invented_watch`, event()],
  ['names a provider', `link-provider/${userId}/invented_watch`, event({ data: { provider: 'Invented-Watch' } })],
  ['names its user in the data alone', `link-provider/${userId}/invented_watch`, event({ user_id: undefined })],
  ['has no data', `link-provider/${userId}/any`, event({ data: null })],
  ['has no source', `link-provider/${userId}/any`, event({ data: { user_id: userId } })],
  ['has an odd slug', `link-provider/${userId}/any`, event({ data: { source: { slug: 'Testperson/Invented' } } })],
  ['has a long slug', `link-provider/${userId}/any`, event({ data: { source: 's'.repeat(129) } })],
  [
    'broke',
    `deliver-notifications/link-provider/${userId}/invented_watch`,
    event({ event_type: 'provider.connection.error', data: broken }),
  ],
])(
  'a connection that %s goes to %s, and comes again, unquoted, while Temporal is away',
  async (_what, workflowId, body) => {
    const { status, lines } = await outcomeOf(signed(body));
    expect(status).toBe(503);
    expect(lines).toMatchObject([{ fields: { answer: 'temporal_unavailable', workflowId } }]);
    expect(JSON.stringify(lines)).not.toContain('Testperson');
  },
);

test('a connection reaches the sink at once even while Temporal is away, and comes again, whole', async () => {
  const { taken, sink: healthData } = keeping();
  const outcome = await outcomeOf(signed(event()), { healthData });
  expect(outcome).toMatchObject({ status: 503, counted: ['temporal_unavailable'] });
  expect(taken).toHaveLength(1);
});

test.each([
  ['no user', event({ user_id: undefined, data: { source } })],
  ['a user that is not an id', event({ user_id: 'Testperson Invented' })],
  ['a user that is a path', event({ user_id: '../..' })],
  ['no provider, when it broke,', event({ event_type: 'provider.connection.error', data: {} })],
])('a connection with %s has no link and is dropped, but reaches the sink: both are counted', async (_what, body) => {
  const { status, counted, lines } = await outcomeOf(signed(body));
  expect([status, counted]).toEqual([204, ['unreadable']]);
  expect(lines).toMatchObject([{ level: 'warn', fields: { problem: 'names no user, or no provider by its slug' } }]);
  expect(JSON.stringify(lines)).not.toContain('Testperson');

  const { taken, sink: healthData } = keeping();
  const both = await outcomeOf(signed(body), { healthData });
  expect(both).toMatchObject({ status: 204, counted: ['unreadable', 'health_data_accepted'], passedOver: {} });
  expect(taken).toHaveLength(1);
});

test('news of a connection of next year wake nobody: they need no Temporal', async () => {
  const event_type = 'provider.connection.next_year';
  const outcome = await outcomeOf(signed(event({ event_type })));
  expect(outcome).toMatchObject({ status: 204, counted: ['health_data_counted'], passedOver: { [event_type]: 1 } });
});

/** The notifications that the webhook of a broken connection becomes. */
async function notificationsOf(sourceSlug: string, messageId: string, data: object = {}): Promise<Notification[]> {
  const sent: Notification[] = [];
  const signalWithStart = async (_name: string, { signalArgs }: { signalArgs: [{ notifications: Notification[] }] }) =>
    void sent.push(...signalArgs[0].notifications);
  const withDeadline = (_until: number, call: () => Promise<unknown>) => call();
  const temporal = { workflow: { signalWithStart }, withDeadline };
  const to = { temporal, taskQueue: 'q', deadlineMs: 1_000 } as unknown as Parameters<typeof deliverConnection>[2];
  const broken = { kind: 'connection', eventType: 'provider.connection.error', userId, sourceSlug, data };
  const message = { id: messageId } as Parameters<typeof deliverConnection>[1];
  await deliverConnection(broken as Parameters<typeof deliverConnection>[0], message, to);
  return sent;
}

test('a broken connection whose event an operator replays is notified under the same id', async () => {
  const id = `${userId}/invented_watch/msg-1/connection_error`;
  for (const message of ['msg-1', 'msg-1/replay/7'])
    expect(await notificationsOf('invented_watch', message)).toMatchObject([{ id }]);
});

test('the notification of a broken connection names the provider as the service does, who knows no other name for it', async () => {
  const sent = await notificationsOf('Invented-Watch', 'msg-1');
  const source = `link-provider/${userId}/invented_watch`;
  expect(sent).toMatchObject([{ source, data: { provider: 'Invented-Watch' } }]);
});

test('the notification of a broken connection has the error and its time, and none of its sentences', async () => {
  const error_details = { errored_at: '2026-01-02T03:04:05Z', message: 'of testperson@example.com' };
  const data = { error_type: 'token_refresh_failed', message: 'of testperson@example.com', error_details };
  const [sent] = await notificationsOf('invented_watch', 'msg-1', data);
  expect(sent).toMatchObject({
    ...{ type: 'link.connection_error', at: '2026-01-02T03:04:05.000Z', dropIfOff: true },
    data: { userId, provider: 'invented_watch', errorType: 'token_refresh_failed' },
  });
  expect(JSON.stringify(sent)).not.toContain('testperson');
});

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
  ['user_deleted', 'health_data_unwanted'],
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
