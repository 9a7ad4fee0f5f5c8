import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';
import { errors } from '../../../client/index.js';
import {
  type CloudEvent,
  createNotificationHandler,
  type NotificationHandlerOptions,
  type NotificationOf,
} from '../../../client/notifications/index.js';
import { signWebhook } from '../../../client/testing.js';
import { probeBody } from '../../../client/notifications/answers.js';
import type { OrderPhase } from '../../../protocol/order/state.js';
import { remembering, secret } from '../webhooks/sending.js';

const otherSecret = `whsec_${Buffer.from('an-invented-key-with-32-bytes-02').toString('base64')}`;

const phaseChanged: NotificationOf<'labops.order.phase_changed'> = {
  specversion: '1.0',
  id: 'order-1/4056.x/phase_changed',
  source: 'kit-order/order-1',
  type: 'labops.order.phase_changed',
  subject: 'order-1',
  time: '2026-11-02T09:00:00.000Z',
  datacontenttype: 'application/json',
  data: { order_id: 'order-1', root_order_id: 'order-1', phase: 'at_lab', status: 'sample_with_lab.testkit.x' },
};

/** The event as the worker would send it. */
function sent(event: object = phaseChanged, id: string = (event as CloudEvent).id, by = secret) {
  return { method: 'POST', ...signWebhook({ body: { ...event }, secret: by, id }) };
}

function handlerWith(options: Partial<NotificationHandlerOptions> = {}) {
  return createNotificationHandler({ secrets: [secret], on: {}, logger: false, ...options });
}

type Request = Parameters<ReturnType<typeof handlerWith>['handle']>[0];

async function answerTo(request: Request, options?: Partial<NotificationHandlerOptions>) {
  const { status, body } = await handlerWith(options).handle(request);
  const { error } = JSON.parse(body ?? '{"error":null}') as { error: string | null };
  return { status, error };
}

describe('an event', () => {
  const away = new Error('The database is away');

  test('goes to the function for its type, as the worker sent it, and is answered once that is done', async () => {
    let finish: () => void = () => undefined;
    const done = new Promise<void>((resolve) => (finish = resolve));
    const received: unknown[] = [];
    const take = async (event: unknown) => (received.push(event), done);
    const onOther = () => expect.unreachable('it has a function of its own');
    const handler = handlerWith({ on: { 'labops.order.phase_changed': take }, onOther });
    let answered = false;
    const answer = handler.handle(sent()).finally(() => (answered = true));
    await expect.poll(() => received).toEqual([phaseChanged]);
    expect(answered).toBe(false);
    finish();
    expect(await answer).toEqual({ status: 204, headers: {} });
    expect(handler.counts().answers).toMatchObject({ handled: 1, not_handled: 0 });
  });

  test('an event of any other type goes to `onOther`, also one of a newer worker', async () => {
    const newer = { ...phaseChanged, type: 'labops.order.invented', id: 'order-1/invented' };
    const other: string[] = [];
    const handler = handlerWith({ onOther: ({ type }) => other.push(type) });
    for (const event of [phaseChanged, newer]) expect((await handler.handle(sent(event))).status).toBe(204);
    expect(other).toEqual(['labops.order.phase_changed', 'labops.order.invented']);
    expect(handler.counts().answers).toMatchObject({ handled: 2 });
  });

  test('an event that nobody handles is answered 204 and counted, known type or not', async () => {
    const handler = handlerWith();
    for (const type of ['labops.order.result', 'labops.order.invented', 'constructor', '__proto__']) {
      expect((await handler.handle(sent({ ...phaseChanged, type }))).status, type).toBe(204);
    }
    expect(handler.counts().answers).toMatchObject({ not_handled: 1, unknown_type: 3, handled: 0 });
    expect(handler.counts().passedOver).toMatchObject({ 'labops.order.result': 1, 'labops.order.invented': 1 });
  });

  test.each([
    ['rejects', () => Promise.reject(away)],
    [
      'throws',
      () => {
        throw away;
      },
    ],
  ])('an event whose function %s is answered 500, and the log shows why', async (_how, failing) => {
    const { lines, logger } = remembering();
    const request = sent();
    expect(await answerTo(request, { onOther: failing, logger })).toEqual({ status: 500, error: 'handler_failed' });
    const error = { type: 'Error', message: 'The database is away', stack: expect.any(String) as string };
    const { type: eventType, id: messageId } = phaseChanged;
    const fields = { answer: 'handler_failed', eventType, messageId, error };
    expect(lines).toMatchObject([{ level: 'error', fields }]);
  });

  test('a handler without a logger writes each problem to the console, in one line without a stack', async () => {
    const written = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => written.mockRestore());
    const usual = { secrets: [secret], on: {}, onOther: () => Promise.reject(away) };
    const handler = createNotificationHandler(usual);
    for (const by of [otherSecret, secret]) await handler.handle(sent(phaseChanged, phaseChanged.id, by));
    await createNotificationHandler({ ...usual, onOther: () => undefined }).handle(sent());
    await createNotificationHandler({ ...usual, logger: false }).handle(sent());
    const [unsigned, failed, ...others] = written.mock.calls.flat().map(String);
    expect(unsigned).toMatch(/^lab-operations: No signature .*"signature_mismatch"/);
    expect(failed).toMatch(/"message":"The database is away","stack":"[^\\]*handler\.test\.ts:\d+/);
    expect(others).toEqual([]);
  });

  test('an event that was handled before is answered 204 without a call', async () => {
    const ids: string[] = [];
    const alreadyHandled = (id: string) => {
      ids.push(id);
      return Promise.resolve(ids.length > 1);
    };
    let calls = 0;
    const handler = handlerWith({ alreadyHandled, onOther: () => calls++ });
    for (let n = 0; n < 2; n++) expect((await handler.handle(sent())).status).toBe(204);
    expect(calls).toBe(1);
    expect(ids).toEqual([phaseChanged.id, phaseChanged.id]);
    expect(handler.counts().answers).toMatchObject({ handled: 1, repeated: 1 });
  });

  test('is answered 500 while nobody can say whether it was handled before', async () => {
    const alreadyHandled = () => Promise.reject(away);
    const onOther = () => expect.unreachable('it may be a repeat');
    expect(await answerTo(sent(), { alreadyHandled, onOther })).toEqual({ status: 500, error: 'handler_failed' });
  });
});

describe('the refusals', () => {
  const onOther = () => expect.unreachable('a refused request was handled');

  test.each([
    ['no headers', { ...sent(), headers: {} }, 401, 'headers_missing'],
    ['another secret', sent(phaseChanged, phaseChanged.id, otherSecret), 401, 'signature_mismatch'],
    ['a large body', sent({ ...phaseChanged, more: 'x'.repeat(300_000) }), 413, 'body_too_large'],
    ['text', signWebhook({ body: 'text', secret }), 400, 'not_json'],
    ['a list', signWebhook({ body: '[]', secret }), 400, 'not_an_object'],
    ['another id than that of the headers', sent(phaseChanged, 'order-1/4056'), 400, 'not_an_event'],
    ['no type', sent({ ...phaseChanged, type: undefined }), 400, 'not_an_event'],
    ['a time that is not text', sent({ ...phaseChanged, time: 5 }), 400, 'not_an_event'],
    ['data that is a list', sent({ ...phaseChanged, data: [] }), 400, 'not_an_event'],
    ['another version of CloudEvents', sent({ ...phaseChanged, specversion: '0.3' }), 400, 'not_an_event'],
  ])('%s', async (_what, request: Request, status, error) => {
    expect(await answerTo(request, { onOther })).toEqual({ status, error });
  });

  test('the request by which doctor looks if signatures are checked is logged as information, but only if its signature fits', async () => {
    const { lines, logger } = remembering();
    const handler = handlerWith({ onOther, logger });
    for (const by of [secret, otherSecret]) await handler.handle(signWebhook({ body: probeBody, secret: by }));
    expect(lines).toMatchObject([
      { level: 'info', fields: { answer: 'probe', status: 400 } },
      { level: 'warn', fields: { answer: 'signature_mismatch', status: 401 } },
    ]);
  });

  test('an id whose end was moved into the timestamp fits the signature, and is refused all the same', async () => {
    const id = 'order-1/1.1767600000';
    const { headers, body } = signWebhook({ body: { ...phaseChanged, id }, secret, id, now: 5_000 });
    const moved = { ...headers, 'webhook-id': 'order-1/1', 'webhook-timestamp': '1767600000' };
    const request = { headers: moved, body: Buffer.concat([Buffer.from('5.'), body]) };
    const now = () => 1_767_600_000_000;
    expect(await answerTo(request, { onOther, now })).toEqual({ status: 400, error: 'not_json' });
  });

  test('a body above `maxBytes`, and secrets that cannot be worked with at once', async () => {
    expect(await answerTo(sent(), { onOther, maxBytes: 10 })).toEqual({ status: 413, error: 'body_too_large' });
    expect(() => handlerWith({ secrets: [] })).toThrow(/createNotificationHandler needs .* \(NOTIFY_SECRET\)/);
    expect(() => handlerWith({ secrets: ['whsec_'] })).toThrow(errors.WebhookSecretInvalid);
  });
});

test('the types of the data are those of the wire', () => {
  type PhaseChanged = NotificationOf<'labops.order.phase_changed'>['data'];
  expectTypeOf<PhaseChanged['phase']>().toEqualTypeOf<OrderPhase>();
  expectTypeOf<PhaseChanged['root_order_id']>().toEqualTypeOf<string>();
  expectTypeOf<PhaseChanged['reference']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<PhaseChanged>().not.toHaveProperty('rootOrderId');
  expectTypeOf<PhaseChanged>().not.toHaveProperty('portal_url');
  type Reminder = NotificationOf<'labops.order.registration_reminder'>['data'];
  expectTypeOf<Reminder['portal_url']>().toEqualTypeOf<string | null | undefined>();
  // @ts-expect-error a type that the worker does not send does not compile
  createNotificationHandler({ secrets: [secret], on: { 'labops.order.invented': () => undefined } });
});
