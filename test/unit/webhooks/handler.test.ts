import { describe, expect, test } from 'vitest';
import { answers } from '../../../client/webhooks/answers.js';
import type { HealthDataSink } from '../../../client/webhooks/route.js';
import { handlerWithoutTemporal, noise, orderBody, orderEvent, remembering, secret, signed } from './sending.js';

const orderId = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';

function parsingJobEvent(data: object) {
  return { event_type: 'lab_report.parsing_job.updated', data, user_id: 'user-1' };
}

/** Deep enough to overflow the stack of anything that walks it by recursion. */
const million = 1_000_000;
const deepArray = `${'['.repeat(million)}${']'.repeat(million)}`;
const deepObject = `${'{"":'.repeat(million)}1${'}'.repeat(million)}`;

async function answerTo(request: Parameters<Awaited<ReturnType<typeof handlerWithoutTemporal>>['handle']>[0]) {
  const handler = await handlerWithoutTemporal();
  const answer = await handler.handle(request);
  const { error } = JSON.parse(answer.body ?? '{"error":null}') as { error: string | null };
  return { status: answer.status, error };
}

describe('the refusals, in their order', () => {
  test('a method that is not POST comes before everything else', async () => {
    const handler = await handlerWithoutTemporal({ maxBytes: 1 });
    const answer = await handler.handle({ method: 'GET', headers: {}, body: noise(100) });
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });

  test('a body above the limit comes before its signature, and the connection is to be closed [318]', async () => {
    const handler = await handlerWithoutTemporal({ maxBytes: 100 });
    const answer = await handler.handle({ headers: {}, body: noise(101) });
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
  });

  test('a body of exactly the limit is read [318]', async () => {
    const handler = await handlerWithoutTemporal({ maxBytes: 100 });
    expect((await handler.handle({ headers: {}, body: noise(100) })).status).toBe(401);
  });

  test('missing headers are refused with 401', async () => {
    const { body } = signed({});
    expect(await answerTo({ headers: {}, body })).toEqual({ status: 401, error: 'headers_missing' });
  });

  test('a timestamp that is no number is refused with 401', async () => {
    const { headers, body } = signed({});
    const request = { headers: { ...headers, 'webhook-timestamp': 'soon' }, body };
    expect(await answerTo(request)).toEqual({ status: 401, error: 'timestamp_unreadable' });
  });

  test('a message signed 6 minutes ago is refused with 401, by the clock that was given', async () => {
    const handler = await handlerWithoutTemporal({ now: () => Date.now() + 6 * 60_000 });
    const answer = await handler.handle(signed({}));
    expect(answer.status).toBe(401);
    expect(answer.body).toContain('timestamp_stale');
  });

  test('a body that was changed by one byte is refused with 401', async () => {
    const request = signed(orderEvent(orderId));
    const changed = Buffer.from(request.body);
    changed.write(' ', changed.length - 1);
    expect(await answerTo({ ...request, body: changed })).toEqual({ status: 401, error: 'signature_mismatch' });
  });

  test('what is no JSON is refused with 401 as long as it is not signed, and with 400 when it is', async () => {
    expect((await answerTo({ headers: {}, body: Buffer.from('{') })).status).toBe(401);
    expect(await answerTo(signed('{'))).toEqual({ status: 400, error: 'not_json' });
  });

  test.each([
    ['nothing', ''],
    ['text that is no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['two values', '{} {}'],
  ])('signed bytes that are no JSON (%s) are refused with 400', async (_what, body) => {
    expect(await answerTo(signed(body))).toEqual({ status: 400, error: 'not_json' });
  });

  test.each([
    ['null', 'null'],
    ['a list', '[]'],
    ['text', '"text"'],
    ['a number', '1'],
    ['true', 'true'],
    ['a list nested a million deep', deepArray],
  ])('JSON that is no object (%s) is refused with 400', async (_what, body) => {
    expect(await answerTo(signed(body))).toEqual({ status: 400, error: 'not_an_object' });
  });

  test.each([
    ['NaN, as Python writes it', '{"event_type":"daily.data.x.created","data":NaN}', 'not_json'],
    ['a list of events', '[{"event_type":"daily.data.x.created"}]', 'not_an_object'],
    ['text that is no UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'not_json'],
  ])('a signed body that is no JSON object (%s) goes to the sink for rejected events', async (_what, body, reason) => {
    const taken: unknown[] = [];
    const rejected = (event: unknown) => Promise.resolve(taken.push(event));
    const handler = await handlerWithoutTemporal({ rejected });
    expect((await handler.handle(signed(body))).status).toBe(204);
    expect(taken).toEqual([{ reason, body: typeof body === 'string' ? body : '"\ufffd"' }]);
    expect(handler.counts().answers).toMatchObject({ body_set_aside: 1, not_json: 0, not_an_object: 0 });
    const failing = await handlerWithoutTemporal({ rejected: () => Promise.reject(new Error('down')) });
    expect((await failing.handle(signed(body))).status).toBe(503);
  });

  test.each(['{"event_type":"other"}', 'no JSON'])(
    'what a sink says is of a deleted user is counted so: %s',
    async (body) => {
      const handler = await handlerWithoutTemporal({ rejected: () => Promise.resolve('user_deleted') });
      expect((await handler.handle(signed(body))).status).toBe(204);
      expect(handler.counts().answers).toMatchObject({ health_data_unwanted: 1, not_handled: 0, body_set_aside: 0 });
    },
  );

  test('every answer that is not 204 says what is wrong and what to do', async () => {
    const handler = await handlerWithoutTemporal();
    const answer = await handler.handle(signed('[]'));
    expect(JSON.parse(answer.body ?? '')).toEqual({
      error: 'not_an_object',
      message: `${answers.not_an_object.meaning} ${answers.not_an_object.fix}`,
    });
    expect(answer.headers).toMatchObject({ 'content-length': String(Buffer.byteLength(answer.body ?? '')) });
  });

  test('no answer is a 4xx once the signature and the JSON are right', () => {
    const names = Object.keys(answers);
    const afterJson = names
      .slice(names.indexOf('not_an_object') + 1)
      .map((name) => answers[name as keyof typeof answers]);
    expect(new Set(afterJson.map(({ status }) => status))).toEqual(new Set([204, 500, 503]));
  });
});

describe('reading the body', () => {
  test('reads a body that comes in pieces', async () => {
    const { headers, body } = signed({ event_type: 'something.else' });
    async function* pieces() {
      for (const byte of body) yield await Promise.resolve(Uint8Array.of(byte));
    }
    expect((await answerTo({ headers, body: pieces() })).status).toBe(204);
  });

  test('a declared length above the limit is refused without reading a byte', async () => {
    const handler = await handlerWithoutTemporal({ maxBytes: 100 });
    const body = { [Symbol.asyncIterator]: () => expect.unreachable('the body was read') };
    expect((await handler.handle({ headers: { 'content-length': '101' }, body })).status).toBe(413);
  });

  test('a body without end is read no further than the piece that goes beyond the limit', async () => {
    const handler = await handlerWithoutTemporal({ maxBytes: 1000 });
    let given = 0;
    async function* endless() {
      for (;;) {
        given += 300;
        yield await Promise.resolve(noise(300));
      }
    }
    expect((await handler.handle({ headers: {}, body: endless() })).status).toBe(413);
    expect(given).toBe(1200);
  });

  test('a declared length that is a lie does not lift the limit', async () => {
    const handler = await handlerWithoutTemporal({ maxBytes: 100 });
    expect((await handler.handle({ headers: { 'content-length': '1' }, body: noise(101) })).status).toBe(413);
  });

  test('a connection that breaks in mid-body is answered 503, so that the sender tries again', async () => {
    // oxlint-disable-next-line require-yield -- it breaks before the first piece
    async function* broken(): AsyncGenerator<Uint8Array> {
      await Promise.resolve();
      throw new Error('aborted');
    }
    expect(await answerTo({ headers: {}, body: broken() })).toEqual({ status: 503, error: 'body_broke_off' });
  });
});

describe('what an event is', () => {
  test.each([
    ['an unknown type', { event_type: 'tomorrow.event', data: {} }],
    ['no type', { something: 1 }],
    ['a type that is no text', { event_type: 7 }],
    [
      'an appointment that names no order',
      { event_type: 'labtest.appointment.updated', data: { id: 'appointment-1' } },
    ],
    [
      'an appointment whose order could not stand in a workflow ID',
      { event_type: 'labtest.appointment.updated', data: { id: 'appointment-1', order_id: 'order/../other' } },
    ],
    ['a parsing job without an id', parsingJobEvent({})],
    ['a parsing job whose id could not stand in a workflow ID', parsingJobEvent({ id: 'job/../other' })],
    ['an order event without an order', { event_type: 'labtest.order.updated', data: null }],
    ['an order event whose id is neither text nor number', orderEvent(orderId, { id: ['one'] })],
    ['an order event without an id', { event_type: 'labtest.order.updated', data: { events: [] } }],
    ['an id that could not stand in a workflow ID', orderEvent('kit/../order')],
    ['an id that is too long', orderEvent('a'.repeat(129))],
  ])('%s is let go with 204', async (_what, body) => {
    expect((await answerTo(signed(body))).status).toBe(204);
  });

  test('an id that could not stand in a workflow ID is logged without it: it may be anything', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger });
    await handler.handle(signed(orderEvent('Testperson/Invented')));
    expect(lines).toMatchObject([{ level: 'warn', fields: { answer: 'not_addressable' } }]);
    expect(JSON.stringify(lines)).not.toContain('Testperson');
  });

  test('ids of relatives that could not stand in a workflow ID are passed over: the order is its own root', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger });
    const orders = [{ id: 'not/addressable', origin: 'initial' }];
    await handler.handle(
      signed(orderEvent(orderId, { order_transaction: { id: 't', orders }, parent_id: 'nor/this' })),
    );
    expect(lines).toMatchObject([{ fields: { workflowId: `kit-order/${orderId}` } }]);
  });

  test.each([
    ['an order event', orderEvent(orderId)],
    ['a parsing job', parsingJobEvent({ id: orderId, status: 'started' })],
    ['a parsing job under its other name', parsingJobEvent({ job_id: orderId })],
    ['an appointment', { event_type: 'labtest.appointment.updated', data: { id: 'appointment-1', order_id: orderId } }],
    ['without envelope ids', { event_type: 'labtest.order.created', data: orderBody(orderId) }],
    ['an order id that is no UUID', orderEvent('order_17.b')],
    ['an order without an envelope', orderBody(orderId)],
    ['an order whose id is a number', orderEvent(orderId, { id: 4711 })],
    ['an order with odd fields', orderEvent(orderId, { has_abn: 'no', events: [null, 5, { id: 1, status: {} }] })],
    [
      'with ids that are no UUIDs',
      { ...orderEvent(orderId), team_id: 'team', user_id: 'someone', client_user_id: 'free text' },
    ],
  ])('%s goes to Temporal, and is answered 503 while that cannot be reached', async (_what, body) => {
    expect(await answerTo(signed(body))).toEqual({ status: 503, error: 'temporal_unavailable' });
  });

  test('a parsing job goes to the workflow of its id, and the log names the job', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger });
    const metadata = { patient_first_name: 'Testperson', dob: '1990-01-01' };
    await handler.handle(signed(parsingJobEvent({ id: orderId, data: { metadata, results: [] } })));
    expect(lines).toMatchObject([{ fields: { jobId: orderId, workflowId: `parsing-job/${orderId}` } }]);
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|1990/);
  });

  test('an appointment goes to the workflow of its order, and the log has neither address nor notes [267, 268]', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger });
    const address = { first_line: '1 Invented Street', zip_code: '62701' };
    const data = { id: 'appointment-1', order_id: orderId, address, appointment_notes: 'Invented dog' };
    for (const name of ['created', 'updated', 'update']) {
      await handler.handle(signed({ event_type: `labtest.appointment.${name}`, data }));
    }
    expect(lines).toMatchObject(
      ['created', 'updated', 'update'].map(() => ({ fields: { orderId, workflowId: `appointment/${orderId}` } })),
    );
    expect(JSON.stringify(lines)).not.toMatch(/Invented|62701/);
  });

  test.each([
    ['in an unknown event', `{"event_type":"other","data":${deepArray}}`, 204],
    ['in health data', `{"event_type":"daily.data.steps.created","data":${deepObject}}`, 204],
    ['in place of an order', `{"event_type":"labtest.order.updated","data":${deepArray}}`, 204],
    ['as the event type', `{"event_type":${deepObject}}`, 204],
    ['in an unknown field of an order', `{"id":"${orderId}","events":[],"new_field":${deepArray}}`, 503],
    ['in a known field of an order', `{"id":"${orderId}","events":[],"status":${deepObject}}`, 503],
    ['in place of an event of an order', `{"id":"${orderId}","events":[${deepArray}]}`, 503],
    ['in place of the id of an order', `{"id":${deepArray},"events":[]}`, 204],
    ['in an event of an order', `{"id":"${orderId}","events":[{"id":1,"status":"s","new":${deepArray}}]}`, 503],
  ])('JSON nested a million deep %s crashes nothing', async (_where, body, status) => {
    expect((await answerTo(signed(body))).status).toBe(status);
  });

  test('keys that reach for prototypes are data', async () => {
    const body = `{"__proto__":{"event_type":"labtest.order.updated"},"constructor":{},"event_type":"other"}`;
    expect((await answerTo(signed(body))).status).toBe(204);
  });
});

describe('Temporal cannot be reached', () => {
  test('the answer comes by the deadline, also when the client pauses beyond it before it tries again', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ deadlineMs: 2000, logger });
    expect((await handler.handle(signed(orderEvent(orderId)))).status).toBe(503);
    expect(JSON.stringify(lines)).toContain('No answer within 2000 ms');
  });

  test('the log names order, workflow, message and reason', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger });
    const request = signed(orderEvent(orderId));
    await handler.handle(request);
    expect(lines).toEqual([
      {
        level: 'warn',
        message: `${answers.temporal_unavailable.meaning} ${answers.temporal_unavailable.fix}`,
        fields: {
          answer: 'temporal_unavailable',
          status: 503,
          ms: expect.any(Number) as number,
          eventType: 'labtest.order.updated',
          messageId: request.headers['webhook-id'],
          orderId,
          workflowId: `kit-order/${orderId}`,
          error: expect.objectContaining({ message: expect.any(String) as string }) as object,
        },
      },
    ]);
  });
});

describe('health data', () => {
  const event = {
    event_type: 'daily.data.glucose.created',
    user_id: 'user-1',
    client_user_id: 'Testperson Invented',
    data: { data: [{ timestamp: '2026-01-05T10:00:00Z', value: 5.4, unit: 'mmol/L' }] },
  };

  test('is counted and let go when there is no sink', async () => {
    const handler = await handlerWithoutTemporal();
    expect((await handler.handle(signed(event))).status).toBe(204);
    expect(handler.counts()).toMatchObject({
      answers: { health_data_counted: 1 },
      passedOver: { 'daily.data.glucose.created': 1 },
    });
  });

  test('is given to the sink whole, with the message id and as it was sent, and answered once the sink is done', async () => {
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
    expect(taken).toEqual([
      [
        expect.objectContaining({
          kind: 'health_data',
          eventType: event.event_type,
          userId: 'user-1',
          data: event.data,
        }),
        request.headers['webhook-id'],
        request.body.toString(),
      ],
    ]);
  });

  test.each([
    ['set_aside', 'health_data_set_aside'],
    ['user_deleted', 'health_data_unwanted'],
    ['repeated', 'health_data_accepted'],
    [undefined, 'health_data_accepted'],
  ])('of which the sink says %s is answered 204 and counted as %s', async (outcome, answer) => {
    const handler = await handlerWithoutTemporal({ healthData: () => Promise.resolve(outcome) });
    expect((await handler.handle(signed(event))).status).toBe(204);
    expect(handler.counts().answers).toMatchObject({ [answer]: 1 });
  });

  test('has its sink take news of a provider connection too, with the slug of its source', async () => {
    const taken: unknown[] = [];
    const healthData: HealthDataSink = (received) => Promise.resolve(void taken.push(received));
    const handler = await handlerWithoutTemporal({ healthData });
    const data = { user_id: 'user-1', provider: { slug: 'invented' } };
    expect((await handler.handle(signed({ event_type: 'provider.connection.error', data }))).status).toBe(204);
    expect(taken).toEqual([
      { kind: 'connection', eventType: 'provider.connection.error', userId: 'user-1', sourceSlug: 'invented', data },
    ]);
    expect(handler.counts().answers).toMatchObject({ health_data_accepted: 1 });
  });

  test.each([
    ['fails', () => Promise.reject(Object.assign(new Error('no room'), { detail: 'Testperson Invented, 5.4 mmol/L' }))],
    [
      'throws at once',
      () => {
        throw new Error('no room');
      },
    ],
    ['never answers', () => new Promise<void>(() => undefined)],
  ])('is answered 503 when the sink %s, and the log quotes none of it', async (_how, healthData) => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ healthData, logger, deadlineMs: 100 });
    expect((await handler.handle(signed(event))).status).toBe(503);
    expect(lines).toMatchObject([{ level: 'error', fields: { answer: 'health_data_failed' } }]);
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|5\.4|user-1/);
  });
});

describe('events that are let go', () => {
  const user = { user_id: 'user-1', client_user_id: 'Testperson' };

  test.each([
    ['not_handled', { event_type: 'an.event.of.next.year', ...user, data: { id: 1 } }, { userId: 'user-1' }],
    ['not_handled', { data: { user_id: 'user-2' } }, { userId: 'user-2' }],
    ['unreadable', { event_type: 'labtest.order.updated', ...user }, { problem: expect.any(String) as string }],
    ['unreadable', { event_type: { odd: true }, ...user }, { userId: 'user-1' }],
    ['not_addressable', { ...orderEvent('not/addressable'), ...user }, { eventType: 'labtest.order.updated' }],
    ['unreadable', { event_type: 'provider.connection.created', ...user }, { userId: 'user-1' }],
  ])('as %s are given to their sink first: %j', async (reason, event, known) => {
    const taken: unknown[] = [];
    const { lines, logger } = remembering();
    const rejected = (...received: unknown[]) => Promise.resolve(taken.push(received));
    const handler = await handlerWithoutTemporal({ rejected, logger });
    const request = signed(event);
    expect((await handler.handle(request)).status).toBe(204);
    const body = request.body.toString();
    expect(taken).toEqual([
      [expect.objectContaining({ reason, body, ...known }) as object, request.headers['webhook-id']],
    ]);
    expect(handler.counts().answers).toMatchObject({ [reason]: 1 });
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|user-1/);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('no room'))],
    ['never answers', () => new Promise<void>(() => undefined)],
  ])('are answered 503 when their sink %s, so that the sender tries again', async (_how, rejected) => {
    const handler = await handlerWithoutTemporal({ rejected, deadlineMs: 100 });
    expect((await handler.handle(signed({ event_type: 'other' }))).status).toBe(503);
    expect(handler.counts().answers).toMatchObject({ rejected_failed: 1, not_handled: 0 });
  });

  test('are not those that failed, nor health data that a sink takes', async () => {
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
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger });
    for (let n = 0; n < 120; n++) await handler.handle(signed({ event_type: 'labtest.match_review.updated' }));
    expect(lines.map(({ fields }) => fields['times'])).toEqual([1, 10, 100]);
    expect(handler.counts().passedOver).toEqual({ 'labtest.match_review.updated': 120 });
  });

  test('a sender that invents event types does not fill the memory', async () => {
    const handler = await handlerWithoutTemporal();
    for (let n = 0; n < 300; n++) await handler.handle(signed({ event_type: `type.${n}` }));
    const { passedOver } = handler.counts();
    expect(Object.keys(passedOver)).toHaveLength(101);
    expect(passedOver['(others)']).toBe(200);
  });

  test('an event type that does not look like one is neither logged nor counted by its words', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger });
    await handler.handle(signed({ event_type: 'Testperson Invented\n2026' }));
    expect(JSON.stringify([lines, handler.counts()])).not.toContain('Testperson');
  });

  test('nothing of a patient is logged, whatever becomes of the event', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger });
    const person = { client_user_id: 'Testperson Invented', user_id: 'user-1' };
    await handler.handle(signed({ ...orderEvent(orderId), ...person }));
    await handler.handle(signed({ ...orderEvent(orderId, { status: { bad: 'Testperson' } }), ...person }));
    await handler.handle(signed({ ...orderEvent(orderId, { id: { bad: 'Testperson' } }), ...person }));
    await handler.handle(signed({ ...orderEvent('Testperson/Invented'), ...person }));
    await handler.handle({ ...signed({ ...orderEvent(orderId), ...person }), headers: {} });
    expect(lines.map(({ fields }) => fields['answer'])).toEqual([
      'temporal_unavailable',
      'temporal_unavailable',
      'unreadable',
      'not_addressable',
      'headers_missing',
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|Invented|example\.com|user-1/);
  });

  test('every answer is counted', async () => {
    const handler = await handlerWithoutTemporal();
    await handler.handle(signed('[]'));
    await handler.handle(signed('[]'));
    await handler.handle({ headers: {}, body: noise(1) });
    expect(handler.counts().answers).toMatchObject({ not_an_object: 2, headers_missing: 1, delivered: 0 });
  });
});

describe('making a handler', () => {
  test('either of two secrets is accepted while they are rotated', async () => {
    const other = `whsec_${Buffer.from('another-invented-key').toString('base64')}`;
    const handler = await handlerWithoutTemporal({ secrets: [other, secret] });
    expect((await handler.handle(signed({ event_type: 'other' }))).status).toBe(204);
    const withoutOurs = await handlerWithoutTemporal({ secrets: [other] });
    expect((await withoutOurs.handle(signed({ event_type: 'other' }))).status).toBe(401);
  });

  test.each([
    [{ secrets: [] }, /at least one secret/],
    [{ secrets: ['whsec_'] }, /empty/],
    [{ maxBytes: 0 }, /maxBytes/],
    [{ maxBytes: Number.NaN }, /maxBytes/],
    [{ deadlineMs: -1 }, /deadlineMs/],
  ])('refuses %j at once', async (options, message) => {
    await expect(handlerWithoutTemporal(options)).rejects.toThrow(message);
  });

  test('an error of its own is answered 500 and logged, never thrown', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerWithoutTemporal({ logger, now: () => expect.unreachable('the clock is broken') });
    expect((await handler.handle(signed({}))).status).toBe(500);
    expect(lines).toMatchObject([{ level: 'error', fields: { answer: 'internal_error' } }]);
  });
});
