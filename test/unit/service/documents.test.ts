import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { AnswerLost, AnswerUnreadable, NotFound, ServiceRefused, ServiceUnreachable } from '../../../service/errors.js';
import type { ServiceConfig } from '../../../service/http/http.js';
import { eventually } from '../../rig/eventually.js';
import { closedPort } from '../webhooks/sending.js';
import { errorNamed, rejection, serviceAt, serviceWith, serving } from './recording-server.js';

/** A service that answers everything with these bytes. */
async function documentsOf(bytes: Buffer | string, type?: string) {
  const { baseUrl } = await serving((_request, response) => {
    response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(bytes);
  });
  return serviceAt(baseUrl).documents;
}

test.each([
  ['application/pdf', '%PDF-1.7\ninvented'],
  [undefined, '%PDF-1.7\ninvented'],
  ['application/octet-stream', '\ufeff\n%PDF-1.4\ninvented'],
])('a PDF is known by its first bytes, whatever its type says: %j', async (type, body) => {
  const documents = await documentsOf(body, type);
  expect((await documents.results('order-1')).toString()).toBe(body);
});

test.each([
  ['application/json', '{"url":"https://files.example.com/invented.pdf"}'],
  ['application/pdf', ''],
  ['application/json', '"%PDF-1.7 invented"'],
  [undefined, '{"pdf":"%PDF-1.7 invented"}'],
  ['text/html; charset=utf-8', 'invented: %PDF-1.7'],
  ['text/html', '<html>Testperson Invented</html>'],
])('anything else is unreadable, and not quoted: %s', async (type, body) => {
  const documents = await documentsOf(body, type);
  const error = await rejection(documents.results('order-1'));
  expect(error).toBeInstanceOf(AnswerUnreadable);
  expect(String(error)).not.toContain('nvented');
});

test('a PDF is asked for as such, at the paths of the service', async () => {
  const { documents, requests } = await serviceWith({ status: 404, body: {} });
  const calls = [
    documents.results('order-1'),
    documents.transactionResults('transaction-1'),
    documents.requisition('order-1'),
    documents.collectionInstructions('order-1'),
    documents.labTestCollectionInstructions('test-1'),
    documents.specimenLabels('order-1', { collectionDate: '2026-03-01T10:00:00Z' }),
    documents.beneficiaryNotice('order-1'),
  ];
  await Promise.allSettled(calls);
  expect(requests.map(({ headers }) => headers.accept)).toEqual(calls.map(() => 'application/pdf'));
  expect(requests.map(({ url = '' }) => url).toSorted()).toEqual([
    '/v3/lab_test/test-1/collection_instruction_pdf',
    '/v3/order/order-1/abn_pdf',
    '/v3/order/order-1/collection_instruction_pdf',
    '/v3/order/order-1/labels/pdf?collection_date=2026-03-01T10%3A00%3A00Z',
    '/v3/order/order-1/requisition/pdf',
    '/v3/order/order-1/result/pdf',
    '/v3/order_transaction/transaction-1/result/pdf',
  ]);
});

const head = Buffer.from('%PDF-1.7\ninvented'.padEnd(2_000, '.'));
const mebibyte = 1024 * 1024;

/** A service that answers as the test says; `closed` counts answers whose connection has ended. */
async function streamsOf(answer: (response: ServerResponse) => void, config: Partial<ServiceConfig> = {}) {
  const answers = { closed: 0 };
  const { baseUrl, connections } = await serving((_request, response) => {
    response.on('close', () => (answers.closed += 1));
    response.setHeader('content-type', 'application/pdf');
    answer(response);
  });
  const { streams } = serviceAt(baseUrl, config).documents;
  return { streams, answers, connections };
}

test.each([0, 500, 2_000, 5 * mebibyte])('a PDF is streamed whole, with %i bytes behind its head', async (more) => {
  const pdf = Buffer.concat([Buffer.from('%PDF-1.7 short'), Buffer.alloc(more, 'x')]);
  const { streams } = await streamsOf((response) => response.end(pdf));
  expect((await buffer(await streams.results('order-1'))).equals(pdf)).toBe(true);
});

test('the stream is there before the PDF is complete, and its reader sets the pace', async () => {
  const pieces = Array.from({ length: 64 }, () => Buffer.alloc(mebibyte, 'x'));
  const { streams } = await streamsOf((response) => void pipeline([head, ...pieces], response), {
    maxResponseBytes: 100 * mebibyte,
  });
  const unread = await streams.results('order-1');
  const whole = head.length + pieces.length * mebibyte;
  expect((await buffer(await streams.results('order-2'))).length).toBe(whole);
  expect(unread.readableLength, 'what nobody reads is not held').toBeLessThan(2 * mebibyte);
  expect((await buffer(unread)).length).toBe(whole);
});

test('the errors are those of any other call, of a stream until its first byte', async () => {
  const missing = await serviceWith({ status: 404, body: { detail: 'Order not found' } });
  for (const of of [missing.documents, missing.documents.streams])
    expect(await rejection(of.results('order-1'))).toBeInstanceOf(NotFound);
  const refused = await serviceWith({ status: 422, body: { detail: [] } });
  expect(await rejection(refused.documents.requisition('order-1'))).toBeInstanceOf(ServiceRefused);
  const odd = await serviceWith({ body: { pdf: 'x'.repeat(5_000) } });
  expect(await rejection(odd.documents.streams.requisition('order-1'))).toBeInstanceOf(AnswerUnreadable);
  const { documents } = serviceAt(`http://127.0.0.1:${await closedPort()}`);
  expect(await rejection(documents.streams.results('order-1'))).toBeInstanceOf(ServiceUnreachable);
  const { streams: broken } = await streamsOf((response) => response.write('%PDF', () => response.destroy()));
  expect(await rejection(broken.results('order-1'))).toBeInstanceOf(AnswerLost);
});

test('a PDF that breaks off destroys the stream, and with it what it is piped to', async () => {
  const { streams } = await streamsOf((response) => response.write(head, () => response.destroy()));
  const stream = await streams.results('order-1');
  const written = new Writable({ write: (_chunk, _encoding, done) => done() });
  const words = /GET \/v3\/order\/\{order_id\}\/result\/pdf broke off after 2000 bytes/;
  expect(await rejection(pipeline(stream, written))).toMatchObject(errorNamed('AnswerLost', words));
  expect(written.destroyed).toBe(true);
});

test('an error before anybody reads waits for the reader', async () => {
  const { streams } = await streamsOf((response) => response.write(head, () => response.destroy()));
  const stream = await streams.results('order-1');
  await eventually(() => expect(stream.destroyed).toBe(true));
  expect(await rejection(buffer(stream))).toBeInstanceOf(AnswerLost);
});

test('a PDF above the limit is refused: before its first byte if its length is known, else when it exceeds it', async () => {
  const pdf = Buffer.concat([head, Buffer.alloc(mebibyte)]);
  const limit = { maxBytes: mebibyte };
  const known = await streamsOf((response) => response.end(pdf));
  expect(await rejection(known.streams.results('order-1', limit))).toBeInstanceOf(AnswerUnreadable);
  const unknown = await streamsOf((response) => response.write(head, () => response.end(pdf)));
  const error = await rejection(buffer(await unknown.streams.results('order-1', limit)));
  expect(error).toMatchObject(errorNamed('AnswerUnreadable', 'answered more than 1048576 bytes'));
});

test('a stream that is destroyed frees its connection', async () => {
  const { streams, answers, connections } = await streamsOf((response) => response.write(head), { connections: 1 });
  const stream = await streams.results('order-1');
  stream.destroy();
  await once(stream, 'close');
  await eventually(() => expect(answers.closed).toBe(1));
  (await streams.results('order-1')).destroy();
  expect(connections()).toBe(2);
});

test('a service that goes silent in the middle is given up', async () => {
  const { streams } = await streamsOf((response) => response.write(head), { bodyTimeoutMs: 1_000 });
  expect(await rejection(buffer(await streams.results('order-1')))).toBeInstanceOf(AnswerLost);
});
