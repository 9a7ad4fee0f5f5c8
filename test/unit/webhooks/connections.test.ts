import { describe, expect, test } from 'vitest';
import { deliverConnection } from '../../../client/webhooks/health-data.js';
import type { Notification } from '../../../protocol/notifications/delivery.js';
import { outcomeOf, signed } from './sending.js';

const userId = '6f0c0a49-2f0a-4b5e-8d6f-000000000001';
const source = { name: 'Invented Watch', slug: 'invented_watch' };

const event = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  event_type: 'provider.connection.created',
  user_id: userId,
  client_user_id: 'Testperson Invented',
  data: { user_id: userId, source },
  ...changes,
});

describe('a connection that was made', () => {
  test.each([
    ['a source with its slug', event()],
    ['a provider in place of the source', event({ data: { provider: 'Invented-Watch' } })],
    ['a user inside the data alone', event({ user_id: undefined })],
  ])(
    'a connection that was made with %s goes to the link of user and provider, or is answered 503 without Temporal',
    async (_what, body) => {
      const { status, lines } = await outcomeOf(signed(body));
      expect(status).toBe(503);
      const workflowId = `link-provider/${userId}/invented_watch`;
      expect(lines).toMatchObject([{ fields: { answer: 'temporal_unavailable', workflowId } }]);
      expect(JSON.stringify(lines)).not.toContain('Testperson');
    },
  );

  test.each([
    ['no data', event({ data: null })],
    ['no source', event({ data: { user_id: userId } })],
    ['a slug that is invalid', event({ data: { source: { slug: 'Testperson/Invented' } } })],
    ['a slug that is too long', event({ data: { source: 's'.repeat(129) } })],
  ])('a connection that was made with %s goes to the link that takes any provider', async (_what, body) => {
    const { status, lines } = await outcomeOf(signed(body));
    expect(status).toBe(503);
    expect(lines).toMatchObject([{ fields: { workflowId: `link-provider/${userId}/any` } }]);
    expect(JSON.stringify(lines)).not.toContain('Testperson');
  });

  test('reaches the sink at once even while Temporal is away, and comes again, whole', async () => {
    const taken: unknown[] = [];
    const healthData = (received: unknown) => Promise.resolve(void taken.push(received));
    const outcome = await outcomeOf(signed(event()), { healthData });
    expect(outcome).toMatchObject({ status: 503, counted: ['temporal_unavailable'] });
    expect(taken).toHaveLength(1);
  });
});

test.each([
  ['no user', event({ user_id: undefined, data: { source } })],
  ['a user that is not an id', event({ user_id: 'Testperson Invented' })],
  ['a user that is a path', event({ user_id: '../..' })],
])(
  'a connection whose link cannot be found for %s is dropped, but reaches the sink: both are counted',
  async (_, body) => {
    const { status, counted, lines } = await outcomeOf(signed(body));
    expect([status, counted]).toEqual([204, ['unreadable']]);
    expect(lines).toMatchObject([{ level: 'warn', fields: { problem: 'names no user, or no provider by its slug' } }]);
    expect(JSON.stringify(lines)).not.toContain('Testperson');

    const taken: unknown[] = [];
    const healthData = (received: unknown) => Promise.resolve(void taken.push(received));
    const both = await outcomeOf(signed(body), { healthData });
    expect(both).toMatchObject({ status: 204, counted: ['unreadable', 'health_data_accepted'], passedOver: {} });
    expect(taken).toHaveLength(1);
  },
);

test('a connection that broke is answered 503 without Temporal, so it comes again, and the log quotes no text of it', async () => {
  const data = { provider: 'invented_watch', message: 'Testperson Invented', error_type: 'unknown' };
  const broken = event({ event_type: 'provider.connection.error', data });
  const { status, lines } = await outcomeOf(signed(broken));
  expect(status).toBe(503);
  const workflowId = `deliver-notifications/link-provider/${userId}/invented_watch`;
  expect(lines).toMatchObject([{ fields: { answer: 'temporal_unavailable', workflowId } }]);
  expect(JSON.stringify(lines)).not.toContain('Testperson');
});

test('news of a connection of next year wake nobody: they need no Temporal', async () => {
  const event_type = 'provider.connection.next_year';
  const outcome = await outcomeOf(signed(event({ event_type })));
  expect(outcome).toMatchObject({ status: 204, counted: ['health_data_counted'], passedOver: { [event_type]: 1 } });
});

/** The notifications that the webhook of a broken connection becomes. */
async function notificationsOf(sourceSlug: string, messageId: string): Promise<Notification[]> {
  const sent: Notification[] = [];
  const signalWithStart = async (_name: string, { signalArgs }: { signalArgs: [{ notifications: Notification[] }] }) =>
    void sent.push(...signalArgs[0].notifications);
  const temporal = {
    workflow: { signalWithStart },
    withDeadline: (_until: number, call: () => Promise<unknown>) => call(),
  };
  const to = { temporal, taskQueue: 'q', deadlineMs: 1_000 } as unknown as Parameters<typeof deliverConnection>[2];
  const broken = { kind: 'connection', eventType: 'provider.connection.error', userId, sourceSlug, data: {} };
  const message = { id: messageId } as Parameters<typeof deliverConnection>[1];
  await deliverConnection(broken as Parameters<typeof deliverConnection>[0], message, to);
  return sent;
}

test('a broken connection whose event an operator replays is notified under the same id', async () => {
  const sent = [
    ...(await notificationsOf('invented_watch', 'msg-1')),
    ...(await notificationsOf('invented_watch', 'msg-1/replay/7')),
  ];
  const id = `${userId}/invented_watch/msg-1/connection_error`;
  expect(sent).toMatchObject([{ id }, { id }]);
});

test('the notification of a broken connection names the provider as the service does, who knows no other name for it', async () => {
  const sent = await notificationsOf('Invented-Watch', 'msg-1');
  const source = `link-provider/${userId}/invented_watch`;
  expect(sent).toMatchObject([{ source, data: { provider: 'Invented-Watch' } }]);
});
