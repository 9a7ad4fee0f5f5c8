import { describe, expect, test } from 'vitest';
import { deliverConnection } from '../../../client/webhooks/connection-events.js';
import type { Notification } from '../../../protocol/notifications.js';
import { handlerWithoutTemporal, loggingHandler, signed } from './sending.js';

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
      const { lines, handler } = await loggingHandler();
      expect((await handler.handle(signed(body))).status).toBe(503);
      expect(lines).toMatchObject([
        { fields: { answer: 'temporal_unavailable', workflowId: `link-provider/${userId}/invented_watch` } },
      ]);
      expect(JSON.stringify(lines)).not.toContain('Testperson');
    },
  );

  test.each([
    ['no data', event({ data: null })],
    ['no source', event({ data: { user_id: userId } })],
    ['a slug that is invalid', event({ data: { source: { slug: 'Testperson/Invented' } } })],
    ['a slug that is too long', event({ data: { source: 's'.repeat(129) } })],
  ])('a connection that was made with %s goes to the link that takes any provider', async (_what, body) => {
    const { lines, handler } = await loggingHandler();
    expect((await handler.handle(signed(body))).status).toBe(503);
    expect(lines).toMatchObject([{ fields: { workflowId: `link-provider/${userId}/any` } }]);
    expect(JSON.stringify(lines)).not.toContain('Testperson');
  });

  test('reaches the sink at once even while Temporal is away, and comes again, whole', async () => {
    const taken: unknown[] = [];
    const healthData = (received: unknown) => Promise.resolve(void taken.push(received));
    const handler = await handlerWithoutTemporal({ healthData });
    expect((await handler.handle(signed(event()))).status).toBe(503);
    expect(taken).toHaveLength(1);
    expect(handler.counts().answers).toMatchObject({ temporal_unavailable: 1 });
  });
});

describe('a connection whose link cannot be found', () => {
  const unaddressable: [string, Record<string, unknown>][] = [
    ['no user', event({ user_id: undefined, data: { source } })],
    ['a user that is not an id', event({ user_id: 'Testperson Invented' })],
    ['a user that is a path', event({ user_id: '../..' })],
  ];

  test.each(unaddressable)(
    'a connection whose link cannot be found for %s is dropped with 204, counted, and logged without its content',
    async (_what, body) => {
      const { lines, handler } = await loggingHandler();
      expect((await handler.handle(signed(body))).status).toBe(204);
      expect(handler.counts().answers).toMatchObject({ unreadable: 1 });
      expect(lines).toMatchObject([
        { level: 'warn', fields: { problem: 'names no user, or no provider by its slug' } },
      ]);
      expect(JSON.stringify(lines)).not.toContain('Testperson');
    },
  );

  test.each(unaddressable)(
    'a connection whose link cannot be found for %s reaches the sink all the same',
    async (_what, body) => {
      const taken: unknown[] = [];
      const healthData = (received: unknown) => Promise.resolve(void taken.push(received));
      const handler = await handlerWithoutTemporal({ healthData });
      expect((await handler.handle(signed(body))).status).toBe(204);
      expect(taken).toHaveLength(1);
      expect(handler.counts(), 'both are counted').toMatchObject({
        answers: { unreadable: 1, health_data_accepted: 1 },
        passedOver: {},
      });
    },
  );
});

test('a connection that broke is answered 503 without Temporal, so it comes again, and the log quotes no text of it', async () => {
  const { lines, handler } = await loggingHandler();
  const data = { provider: 'invented_watch', message: 'Testperson Invented', error_type: 'unknown' };
  const broken = event({ event_type: 'provider.connection.error', data });
  expect((await handler.handle(signed(broken))).status).toBe(503);
  const workflowId = `deliver-notifications/link-provider/${userId}/invented_watch`;
  expect(lines).toMatchObject([{ fields: { answer: 'temporal_unavailable', workflowId } }]);
  expect(JSON.stringify(lines)).not.toContain('Testperson');
});

test.each(['provider.connection.next_year'])('%s wakes nobody: it needs no Temporal', async (eventType) => {
  const handler = await handlerWithoutTemporal();
  expect((await handler.handle(signed(event({ event_type: eventType })))).status).toBe(204);
  expect(handler.counts()).toMatchObject({
    answers: { health_data_counted: 1 },
    passedOver: { [eventType]: 1 },
  });
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
