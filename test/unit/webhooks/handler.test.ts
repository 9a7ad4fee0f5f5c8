import { describe, expect, test } from 'vitest';
import { answers as ofNotifications } from '../../../client/notifications/answers.js';
import { answers, type AnswerName } from '../../../client/webhooks/answers.js';
import { type Answer, httpAnswer } from '../../../client/webhooks/endpoint.js';
import type { HealthDataSink } from '../../../client/webhooks/sinks.js';
import { signWebhook } from '../../../client/testing.js';
import { writePassthrough } from '../../../protocol/order/root-order.js';
import { signed as withSigner, defaultInstallation } from '../../../service/installation.js';
import {
  handlerWithoutTemporal,
  keeping,
  loggingHandler,
  noise,
  orderBody,
  orderEvent,
  outcomeOf,
  secret,
  signed,
} from './sending.js';

const orderId = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';

const placed = { root: orderId, reference: 'reference-1', n: 2 };
const passthrough = withSigner(writePassthrough(placed), defaultInstallation);

const parsingJobEvent = (data: object) => ({ event_type: 'lab_report.parsing_job.updated', data, user_id: 'user-1' });

const appointmentEvent = (data: object, event_type = 'labtest.appointment.updated') => ({
  ...{ event_type, data: { id: 'appointment-1', ...data } },
});

/** A body that nobody may read. */
const unread = { [Symbol.asyncIterator]: () => expect.unreachable('the body was read') };

/** Deep enough to overflow the stack of anything that walks it by recursion. */
const million = 1_000_000;
const deepArray = `${'['.repeat(million)}${']'.repeat(million)}`;
const deepObject = `${'{"":'.repeat(million)}1${'}'.repeat(million)}`;

test('`handle` accepts what `signWebhook` returns, whatever the body is made of', async () => {
  const handler = await handlerWithoutTemporal();
  const event = { event_type: 'of.no.kind', data: {} };
  const text = JSON.stringify(event);
  for (const body of [event, text, Buffer.from(text)]) {
    expect(await handler.handle(signWebhook({ body, secret })), typeof body).toMatchObject({ status: 204 });
  }
});

describe('the refusals, in their order', () => {
  test('a method that is not POST comes before everything else', async () => {
    const refused = await outcomeOf({ method: 'GET', headers: {}, body: noise(100) }, { maxBytes: 1 });
    expect(refused).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  // proves 318
  test('a body above the limit comes before its signature, and the connection will be closed; one of the limit is read', async () => {
    const of = (bytes: number) => outcomeOf({ headers: signed('').headers, body: noise(bytes) }, { maxBytes: 100 });
    expect(await of(101)).toMatchObject({ status: 413, headers: { connection: 'close' } });
    expect(await of(100)).toMatchObject({ status: 401, error: 'signature_mismatch' });
  });

  const { headers: wellFormed } = signed('');
  test.each([
    ['headers_missing', {}],
    ['headers_missing', { ...wellFormed, 'webhook-signature': undefined }],
    ['timestamp_unreadable', { ...wellFormed, 'webhook-timestamp': 'soon' }],
    ['timestamp_stale', { ...wellFormed, 'webhook-timestamp': '1000000000' }],
    ['id_malformed', { ...wellFormed, 'webhook-id': 'msg_1.1767600000.x' }],
    ['id_malformed', { ...wellFormed, 'webhook-id': 'msg_1/replay/1' }],
    ['id_malformed', { ...wellFormed, 'webhook-id': 'm'.repeat(129) }],
  ])(
    '%s is refused with 401 before a byte of the body is read, and the connection is closed',
    async (error, headers) => {
      const answer = await outcomeOf({ headers, body: unread });
      expect(answer).toMatchObject({ status: 401, headers: { connection: 'close' }, error });
    },
  );

  test.each(['msg_2Yh7Jw3vGkD1', '6f0c0a49-2f0a-4b5e-8d6f-000000000001', 'm'.repeat(128)])(
    'the id %s is taken',
    async (id) => {
      expect((await outcomeOf(signWebhook({ body: { event_type: 'other' }, secret, id }))).status).toBe(204);
    },
  );

  test('a message signed 6 minutes ago is refused with 401, by the given clock', async () => {
    const late = await outcomeOf(signed({}), { now: () => Date.now() + 6 * 60_000 });
    expect(late).toMatchObject({ status: 401, error: 'timestamp_stale' });
  });

  test.each<[what: string, error: string, body: string | Buffer]>([
    ['nothing', 'not_json', ''],
    ['text that is not UTF-8', 'not_json', Buffer.from([0x22, 0xff, 0x22])],
    ['two values', 'not_json', '{} {}'],
    ['null', 'not_an_object', 'null'],
    ['a list', 'not_an_object', '[]'],
    ['text', 'not_an_object', '"text"'],
    ['a number', 'not_an_object', '1'],
    ['true', 'not_an_object', 'true'],
    ['a list nested a million deep', 'not_an_object', deepArray],
    ['NaN, as Python writes it', 'not_json', '{"event_type":"daily.data.x.created","data":NaN}'],
    ['a list of events', 'not_an_object', '[{"event_type":"daily.data.x.created"}]'],
  ])(
    'signed bytes that are not a JSON object (%s) are refused with 400 as %s, or go to the sink for such events',
    async (_what, reason, body) => {
      expect(await outcomeOf(signed(body))).toMatchObject({ status: 400, error: reason });
      const { taken, sink: rejected } = keeping();
      const outcome = await outcomeOf(signed(body), { rejected });
      expect(outcome).toMatchObject({ status: 204, counted: ['body_set_aside'] });
      expect(taken).toEqual([[{ reason, body: typeof body === 'string' ? body : '"\ufffd"' }, expect.any(String)]]);
      const failing = { rejected: () => Promise.reject(new Error('down')) };
      expect((await outcomeOf(signed(body), failing)).status).toBe(503);
    },
  );

  test.each(['{"event_type":"other"}', 'no JSON'])(
    'an event of a user who was deleted is counted so: %s',
    async (body) => {
      const outcome = await outcomeOf(signed(body), { rejected: () => Promise.resolve('user_deleted' as const) });
      expect(outcome).toMatchObject({ status: 204, counted: ['health_data_unwanted'] });
    },
  );

  const all = [...Object.entries<Answer>(answers), ...Object.entries<Answer>(ofNotifications)];
  const refusals = all.filter(([, { status }]) => status !== 204);
  test.each(refusals)('%s says what is wrong and what to do, to the service or to the worker', (name, answer) => {
    const { status, headers, body } = httpAnswer(name, answer);
    expect(status).toBe(answer.status);
    const { error, message } = JSON.parse(body ?? '') as { error: string; message: string };
    expect(error).toBe(name);
    expect(message).toBe(`${answer.meaning} ${answer.remedy}`);
    expect(message).toMatch(/^[A-Z].{15,}\. .{15,}\.$/);
    const size = { 'content-length': String(Buffer.byteLength(body ?? '')) };
    expect(headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8', ...size });
  });

  test('no answer is a 4xx once the signature and the JSON are right', () => {
    const names = Object.keys(answers) as (keyof typeof answers)[];
    const afterJson = names.slice(names.indexOf('not_an_object') + 1).map((name) => answers[name]);
    expect(new Set(afterJson.map(({ status }) => status))).toEqual(new Set([204, 500, 503]));
  });
});

describe('reading the body', () => {
  async function* broken() {
    yield noise(1);
    throw await Promise.resolve(new Error('reset'));
  }

  test('reads an endless body no further than the piece that exceeds the limit', async () => {
    let given = 0;
    async function* endless() {
      for (;;) {
        given += 300;
        yield await Promise.resolve(noise(300));
      }
    }
    const request = { headers: signed('').headers, body: endless() };
    expect((await outcomeOf(request, { maxBytes: 1000 })).status).toBe(413);
    expect(given).toBe(1200);
  });

  test('does not lift the limit for a false declared length', async () => {
    const headers = { ...signed('').headers, 'content-length': '1' };
    expect((await outcomeOf({ headers, body: noise(101) }, { maxBytes: 100 })).status).toBe(413);
  });

  test('keeps room for small bodies while others fill the rest with large ones', async () => {
    const mebibyte = 1024 * 1024;
    const handler = await handlerWithoutTemporal({ maxBytes: mebibyte / 8, maxBytesAtOnce: mebibyte });
    const { headers } = signed('');
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    async function* stalling() {
      yield noise(mebibyte / 8);
      await arrived;
    }
    const stalled = Array.from({ length: 34 }, () => handler.handle({ headers, body: stalling() }));
    await expect.poll(() => handler.counts().answers.too_many_bodies).toBeGreaterThan(0);
    expect(await handler.handle({ headers, body: noise(17 * 1024) })).toMatchObject({ status: 503 });
    const { body, ...small } = signed({ event_type: 'of.no.kind', filler: 'x'.repeat(15_000) });
    expect(await handler.handle({ ...small, body: Buffer.from(body) })).toMatchObject({ status: 204 });
    arrive();
    await Promise.all(stalled);
  });

  test('logs what anybody can cause at the first time, the 10th, the 100th and so on', async () => {
    const { lines, handler } = await loggingHandler({ maxBytes: 100, maxBytesAtOnce: 100 });
    const { headers } = signed('');
    const strangers: [string, Parameters<typeof handler.handle>[0]][] = [
      ['method_not_allowed', { method: 'PUT', headers, body: noise(1) }],
      ['headers_missing', { headers: {}, body: noise(1) }],
      ['timestamp_unreadable', { headers: { ...headers, 'webhook-timestamp': 'now' }, body: noise(1) }],
      ['timestamp_stale', { headers: { ...headers, 'webhook-timestamp': '1' }, body: noise(1) }],
      ['id_malformed', { headers: { ...headers, 'webhook-id': 'a b' }, body: noise(1) }],
      ['body_too_large', { headers, body: noise(101) }],
      ['body_broke_off', { headers, body: broken() }],
      ['signature_mismatch', { headers, body: noise(1) }],
    ];
    for (const [answer, request] of strangers) {
      lines.length = 0;
      for (let n = 0; n < 120; n++) {
        await handler.handle(answer === 'body_broke_off' ? { ...request, body: broken() } : request);
      }
      const logged = lines.map(({ fields }) => `${String(fields['answer'])} ${String(fields['times'])}`);
      expect(logged).toEqual([1, 10, 100].map((times) => `${answer} ${times}`));
    }
  });

  test('holds no more than its bound for all requests together: what exceeds it is answered 503, until others have ended', async () => {
    const handler = await handlerWithoutTemporal({ maxBytes: 100, maxBytesAtOnce: 250 });
    const { headers } = signed('');
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    let begun = 0;
    async function* slow() {
      yield noise(90);
      begun += 1; // asked for more: what came before is held
      await arrived;
      yield noise(10);
    }
    const held = [slow(), slow()].map((body) => handler.handle({ headers, body }));
    await expect.poll(() => begun).toBe(2);
    const refused = await handler.handle({ headers, body: noise(71) });
    expect(refused).toMatchObject({ status: 503, headers: { connection: 'close' } });
    expect(refused.body).toContain('too_many_bodies');
    expect((await handler.handle({ headers, body: noise(70) })).status).toBe(401);
    arrive();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([401, 401]);
    expect((await handler.handle({ headers, body: noise(100) })).status).toBe(401);
  });
});

describe('events of each kind', () => {
  test.each([
    ['an unknown type', { event_type: 'tomorrow.event', data: {} }, 'not_handled'],
    ['no type', { something: 1 }, 'not_handled'],
    ['a type that is not a string', { event_type: 7 }, 'unreadable'],
    ['health data', { event_type: 'daily.data.steps.created', data: {} }, 'health_data_counted'],
    ['an order event without an order', orderEvent('', { id: null }), 'unreadable'],
    ['an id that could not stand in a workflow ID', orderEvent('kit/../order'), 'not_addressable'],
    ['an id that is too long', orderEvent('a'.repeat(129)), 'not_addressable'],
    ['a parsing job without an id', parsingJobEvent({}), 'unreadable'],
    ['a parsing job whose id could not stand in one', parsingJobEvent({ id: 'job/../other' }), 'not_addressable'],
    ['an appointment that names no order', appointmentEvent({}), 'unreadable'],
    ['an appointment whose order could not stand in one', appointmentEvent({ order_id: 'a/../b' }), 'not_addressable'],
  ] as const)('%s is dropped with 204, and counted as what it is', async (_what, body, name) => {
    expect(await outcomeOf(signed(body))).toMatchObject({ status: 204, counted: [name] });
  });

  const orders = [{ id: 'not/addressable', origin: 'initial' }];
  const odd = { order_transaction: { id: 't', orders }, parent_id: 'nor/this' };
  test.each<[what: string, body: Record<string, unknown>, workflowId: string]>([
    ['an order event', orderEvent(orderId), `kit-order/${orderId}`],
    ['an order without an envelope', orderBody(orderId), `kit-order/${orderId}`],
    ['an order whose id is a number', orderEvent(orderId, { id: 4711 }), 'kit-order/4711'],
    ['an order with odd fields', orderEvent(orderId, { has_abn: 'no', events: [null, 5] }), `kit-order/${orderId}`],
    ['ids that are not UUIDs', { ...orderEvent('order_17.b'), team_id: 't', user_id: 'u' }, 'kit-order/order_17.b'],
    ['a replacement', orderEvent('order-2', { passthrough }), `kit-order/${orderId}`],
    ['a parsing job', parsingJobEvent({ id: orderId, status: 'started' }), `parsing-job/${orderId}`],
    ['a parsing job under its other name', parsingJobEvent({ job_id: orderId }), `parsing-job/${orderId}`],
    ['an appointment', appointmentEvent({ order_id: orderId }), `appointment/${orderId}`],
    ['an order with relatives that no workflow ID can name', orderEvent(orderId, odd), `kit-order/${orderId}`],
  ])('%s goes to its workflow, and is answered 503 while Temporal is away', async (_what, body, workflowId) => {
    const { status, error, lines } = await outcomeOf(signed(body));
    expect([status, error]).toEqual([503, 'temporal_unavailable']);
    expect(lines).toMatchObject([{ fields: { workflowId } }]);
  });

  // proves 267, 268
  test('the log of a parsing job or an appointment names it and its order, and nothing of a person', async () => {
    const metadata = { patient_first_name: 'Testperson', dob: '1990-01-01' };
    const job = await outcomeOf(signed(parsingJobEvent({ id: orderId, data: { metadata, results: [] } })));
    expect(job.lines).toMatchObject([{ fields: { jobId: orderId } }]);
    const address = { first_line: '1 Invented Street', zip_code: '62701' };
    const visit = { order_id: orderId, address, appointment_notes: 'Invented dog' };
    for (const name of ['created', 'updated', 'update']) {
      const { lines } = await outcomeOf(signed(appointmentEvent(visit, `labtest.appointment.${name}`)));
      expect(lines).toMatchObject([{ fields: { orderId, workflowId: `appointment/${orderId}` } }]);
      expect(JSON.stringify([job.lines, lines])).not.toMatch(/Testperson|1990-01|Invented|\b62701\b/);
    }
  });

  // test/unit/service/webhooks/events.test.ts has the other places.
  test.each([
    ['in health data', `{"event_type":"daily.data.steps.created","data":${deepObject}}`, 204],
    ['in place of an order', `{"event_type":"labtest.order.updated","data":${deepArray}}`, 204],
    ['in an unknown field of an order', `{"id":"${orderId}","events":[],"new_field":${deepArray}}`, 503],
  ])('JSON nested a million levels deep %s crashes nothing', async (_where, body, status) => {
    expect((await outcomeOf(signed(body), { maxBytes: 8 * million })).status).toBe(status);
  });

  test('keys that reach for prototypes are data', async () => {
    const body = `{"__proto__":{"event_type":"labtest.order.updated"},"constructor":{},"event_type":"other"}`;
    expect((await outcomeOf(signed(body))).status).toBe(204);
  });
});

describe('Temporal cannot be reached', () => {
  test('the answer comes by the deadline, even if the client pauses beyond it before it retries', async () => {
    const { status, lines } = await outcomeOf(signed(orderEvent(orderId)), { deadlineMs: 2000 });
    expect(status).toBe(503);
    expect(JSON.stringify(lines)).toContain('No answer within 2000 ms');
  });

  test('the log names order, workflow, message and reason', async () => {
    const request = signed(orderEvent(orderId));
    const { lines } = await outcomeOf(request);
    const fields = {
      ...{ answer: 'temporal_unavailable', status: 503, ms: expect.any(Number) as number },
      ...{ eventType: 'labtest.order.updated', messageId: request.headers['webhook-id'] },
      ...{ orderId, workflowId: `kit-order/${orderId}` },
      error: expect.objectContaining({ message: expect.any(String) as string }) as object,
    };
    const { meaning, remedy } = answers.temporal_unavailable;
    expect(lines).toEqual([{ level: 'warn', message: `${meaning} ${remedy}`, fields }]);
  });
});

describe('health data', () => {
  const event = {
    event_type: 'daily.data.glucose.created',
    user_id: 'user-1',
    client_user_id: 'Testperson Invented',
    data: { data: [{ timestamp: '2026-01-05T10:00:00Z', value: 5.4, unit: 'mmol/L' }] },
  };

  test('is given to the sink whole, with the message id and unchanged, and answered once the sink is done', async () => {
    const taken: Parameters<HealthDataSink>[] = [];
    let done = false;
    const handler = await handlerWithoutTemporal({
      healthData: async (received, messageId, body) => {
        taken.push([received, messageId, body]);
        await new Promise((resolve) => setImmediate(resolve));
        done = true;
      },
    });
    const request = signed(event);
    expect((await handler.handle(request)).status).toBe(204);
    expect(done).toBe(true);
    const received = { kind: 'health_data', eventType: event.event_type, userId: 'user-1', data: event.data };
    expect(taken).toMatchObject([[received, request.headers['webhook-id'], request.body.toString()]]);
  });

  test.each([
    ['set_aside', 'health_data_set_aside'],
    ['user_deleted', 'health_data_unwanted'],
    ['repeated', 'health_data_accepted'],
    [undefined, 'health_data_accepted'],
  ] as const)('health data that the sink reports as %s is answered 204 and counted as %s', async (outcome, answer) => {
    const healthData = () => Promise.resolve(outcome);
    expect(await outcomeOf(signed(event), { healthData })).toMatchObject({ status: 204, counted: [answer] });
  });

  test.each([
    ['fails', () => Promise.reject(Object.assign(new Error('no room'), { detail: 'Testperson Invented, 5.4 mmol/L' }))],
    ['throws at once', () => expect.unreachable('no room')],
    ['never answers', () => new Promise<void>(() => undefined)],
  ])('is answered 503 when the sink %s, and the log quotes none of it', async (_how, healthData) => {
    const { status, lines } = await outcomeOf(signed(event), { healthData, deadlineMs: 100 });
    expect(status).toBe(503);
    expect(lines).toMatchObject([{ level: 'error', fields: { answer: 'health_data_failed' } }]);
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|\b5\.4\b|user-1/);
  });
});

describe('events that are dropped', () => {
  const user = { user_id: 'user-1', client_user_id: 'Testperson' };

  test.each([
    ['not_handled', { event_type: 'an.event.of.next.year', ...user, data: { id: 1 } }, { userId: 'user-1' }],
    ['not_handled', { data: { user_id: 'user-2' } }, { userId: 'user-2' }],
    ['unreadable', { event_type: 'labtest.order.updated', ...user }, { problem: expect.any(String) as string }],
    ['unreadable', { event_type: { odd: true }, ...user }, { userId: 'user-1' }],
    ['not_addressable', { ...orderEvent('not/addressable'), ...user }, { eventType: 'labtest.order.updated' }],
    ['unreadable', { event_type: 'provider.connection.created' }, { problem: expect.any(String) as string }],
  ])('events that are dropped as %s are given to their sink first: %j', async (reason, event, known) => {
    const { taken, sink } = keeping();
    const request = signed(event);
    const { status, counted, lines } = await outcomeOf(request, { rejected: sink });
    expect([status, counted]).toEqual([204, [reason]]);
    const body = request.body.toString();
    expect(taken).toMatchObject([[{ reason, body, ...known }, request.headers['webhook-id']]]);
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|user-1/);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('no room'))],
    ['never answers', () => new Promise<void>(() => undefined)],
  ])('are answered 503 if their sink %s, so the sender retries', async (_how, rejected) => {
    const outcome = await outcomeOf(signed({ event_type: 'other' }), { rejected, deadlineMs: 100 });
    expect(outcome).toMatchObject({ status: 503, counted: ['rejected_failed'] });
  });

  test('do not include those that failed, nor health data that a sink accepts', async () => {
    const handler = await handlerWithoutTemporal({
      rejected: () => expect.unreachable('it was handled'),
      healthData: () => Promise.resolve(),
    });
    expect((await handler.handle(signed(orderEvent(orderId)))).status).toBe(503);
    expect((await handler.handle(signed({ event_type: 'daily.data.steps.created' }))).status).toBe(204);
  });
});

describe('counting and logging', () => {
  test('an event type that is not handled is logged once, at its 10th and at its 100th time', async () => {
    const { lines, handler } = await loggingHandler();
    for (let n = 0; n < 120; n++) await handler.handle(signed({ event_type: 'continuous_query.result_table.changed' }));
    expect(lines.map(({ fields }) => fields['times'])).toEqual([1, 10, 100]);
    expect(handler.counts().passedOver).toEqual({ 'continuous_query.result_table.changed': 120 });
  });

  test('a sender that invents event types does not fill the memory', async () => {
    const handler = await handlerWithoutTemporal();
    for (let n = 0; n < 300; n++) await handler.handle(signed({ event_type: `type.${n}` }));
    const { passedOver } = handler.counts();
    expect(Object.keys(passedOver)).toHaveLength(101);
    expect(passedOver['(others)']).toBe(200);
  });

  test('an event type that does not look like one is neither logged nor counted by its name', async () => {
    const outcome = await outcomeOf(signed({ event_type: 'Testperson Invented\n2026' }));
    expect(JSON.stringify(outcome)).not.toContain('Testperson');
  });

  test('nothing of a patient is logged, whatever becomes of the event', async () => {
    const { lines, handler } = await loggingHandler();
    const person = { client_user_id: 'Testperson Invented', user_id: 'user-1' };
    const bad = { bad: 'Testperson' };
    const events = [orderEvent(orderId), orderEvent(orderId, { status: bad }), orderEvent(orderId, { id: bad })];
    for (const event of [...events, orderEvent('Testperson/Invented')])
      await handler.handle(signed({ ...event, ...person }));
    await handler.handle({ ...signed({ ...orderEvent(orderId), ...person }), headers: {} });
    expect(lines.map(({ fields }) => fields['answer'])).toEqual([
      ...['temporal_unavailable', 'temporal_unavailable', 'unreadable', 'not_addressable', 'headers_missing'],
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|Invented|example\.com|user-1/);
  });
});

describe('making a handler', () => {
  test('accepts either of two secrets while they are rotated', async () => {
    const other = `whsec_${Buffer.from('another-invented-key').toString('base64')}`;
    const message = signed({ event_type: 'other' });
    expect((await outcomeOf(message, { secrets: [other, secret] })).status).toBe(204);
    expect((await outcomeOf(message, { secrets: [other] })).status).toBe(401);
  });

  test.each([
    [{ secrets: [] }, /at least one secret/],
    [{ secrets: undefined as never }, /at least one secret/],
    [{ secrets: [undefined as never] }, /A webhook secret is missing/],
    [{ secrets: ['whsec_'] }, /empty/],
    [{ maxBytes: 0 }, /maxBytes/],
    [{ maxBytes: Number.NaN }, /maxBytes/],
    [{ deadlineMs: -1 }, /deadlineMs/],
  ])('refuses %j at once', async (options, message) => {
    await expect(handlerWithoutTemporal(options)).rejects.toThrow(message);
  });

  test('answers an error of its own with 500 and logs it, and never throws', async () => {
    const { status, lines } = await outcomeOf(signed({}), { now: () => expect.unreachable('the clock is broken') });
    expect(status).toBe(500);
    expect(lines).toMatchObject([{ level: 'error', fields: { answer: 'internal_error' } }]);
  });
});

const ours = '6f0c0a49-2f0a-4b5e-8d6f-00000000000a';
const theirs = '6f0c0a49-2f0a-4b5e-8d6f-00000000000b';

const user = { user_id: 'user-1', data: {} };
const visit = { id: 'appointment-1', order_id: orderId };
const kinds: [event: Record<string, unknown>, AnswerName][] = [
  [orderEvent(orderId), 'temporal_unavailable'],
  [{ event_type: 'lab_report.parsing_job.updated', data: { id: orderId } }, 'temporal_unavailable'],
  [{ event_type: 'labtest.appointment.updated', data: visit }, 'temporal_unavailable'],
  [{ event_type: 'daily.data.steps.created', ...user }, 'health_data_accepted'],
  [{ event_type: 'provider.connection.next_year', ...user }, 'health_data_accepted'],
  [{ event_type: 'tomorrow.event', data: {} }, 'not_handled'],
  [{ event_type: 'labtest.order.updated', data: null }, 'unreadable'],
];

/** What becomes of an event at a handler whose sinks say whether they got it. */
async function sentTo(teamId: string | undefined, body: Record<string, unknown>) {
  const { taken, sink } = keeping();
  const options = { healthData: sink, rejected: sink, ...(teamId !== undefined && { teamId }) };
  return { ...(await outcomeOf(signed(body), options)), kept: taken.length };
}

describe.each(kinds)('%j', (event, usual) => {
  test('from another team is answered 204 and counted, and nothing of it is kept', async () => {
    const { lines, ...outcome } = await sentTo(ours, { ...event, team_id: theirs });
    expect(outcome).toMatchObject({ status: 204, counted: ['foreign_team'], kept: 0 });
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|user-1/);
  });

  test.each([
    ['of the own team', ours, { team_id: ours }],
    ['of the own team in capitals', ours, { team_id: ours.toUpperCase() }],
    ['that names no team', ours, {}],
    ['of any team, if no team is set', undefined, { team_id: theirs }],
  ])('%s goes its usual way', async (_whose, teamId, envelope) => {
    expect((await sentTo(teamId, { ...event, ...envelope })).counted).toEqual([usual]);
  });
});

test("an order without an envelope belongs to the order's own team", async () => {
  expect((await sentTo(ours, { ...orderBody(orderId), team_id: theirs })).counted).toEqual(['foreign_team']);
  expect((await sentTo(ours, { ...orderBody(orderId), team_id: ours })).counted).toEqual(['temporal_unavailable']);
});

test('an event from another team is logged as an error until an event from the own team has come', async () => {
  const { lines, handler } = await loggingHandler({ teamId: ours, healthData: () => Promise.resolve() });
  const send = (team_id: string, type: string) =>
    handler.handle(signed({ event_type: `daily.data.${type}.created`, user_id: 'user-1', data: {}, team_id }));
  await send(theirs, 'steps');
  expect(lines.at(-1)).toMatchObject({ level: 'error', fields: { answer: 'foreign_team' } });
  await send(ours, 'steps');
  for (let times = 0; times < 9; times += 1) await send(theirs, 'steps');
  expect(lines.at(-1)).toMatchObject({ level: 'info', fields: { answer: 'foreign_team', times: 10 } });
});
