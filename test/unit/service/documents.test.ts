import { expect, test } from 'vitest';
import { AnswerUnreadable, NotFound, ServiceRefused } from '../../../service/errors.js';
import { rejection, serviceAt, serviceWith, serving } from './recording-server.js';

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

test('a refusal is read as one of any other call', async () => {
  const missing = await serviceWith({ status: 404, body: { detail: 'Order not found' } });
  expect(await rejection(missing.documents.results('order-1'))).toBeInstanceOf(NotFound);
  const refused = await serviceWith({ status: 422, body: { detail: [] } });
  expect(await rejection(refused.documents.requisition('order-1'))).toBeInstanceOf(ServiceRefused);
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
