import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { receiptActivities } from '../../../../activities/deletion/receipt.js';
import { errors, verifyReceipt } from '../../../../client/index.js';
import { signJws } from '../../../../service/jws.js';
import { answering, rejection, serviceAt, type Answer } from '../../service/recording-server.js';

const userId = '00000000-0000-4000-8000-000000000001';
const pair = generateKeyPairSync('ed25519');
const pem = (key: KeyObject) => key.export({ format: 'pem', type: 'spki' }).toString();
const scheduled: Answer = { status: 404, body: { detail: 'You have scheduled this user for deletion.' } };
const deletion = {
  ...{ userId, requestedAt: '2026-03-01T10:00:00.000Z', sentUntil: '2026-03-01T10:00:01.000Z' },
  deletedAt: '2026-03-08T10:00:01.000Z',
  histories: {
    erased: [{ workflowId: 'kit-order/1' }],
    left: [{ workflowId: 'kit-order/2', name: 'kitOrder', because: 'open' as const }],
  },
};

interface Deployment {
  user?: Answer;
  listed?: object[] | 'impossible';
  key?: KeyObject;
  store?: object | 'off';
  attempt?: number;
}

async function receiptIn({
  user = scheduled,
  listed = [{ workflowId: 'kit-order/2' }],
  key = pair.privateKey,
  store = { countUserData: async () => 0 },
  attempt = 1,
}: Deployment) {
  const { baseUrl } = await answering(() => user);
  async function* list() {
    if (listed === 'impossible') throw new Error('12 UNIMPLEMENTED');
    yield* listed;
  }
  const config = { workflowExecutionRetentionTtl: { seconds: 30 * 86_400 } };
  const workflowService = { describeNamespace: async () => ({ config }) };
  const temporal = { options: { namespace: 'default' }, workflow: { list }, workflowService };
  const workerStore = store === 'off' ? store : { store: { get: async () => store } };
  const service = serviceAt(baseUrl);
  const activities = receiptActivities({ service, temporal, workerStore, receiptKey: key } as never);
  const work = () => activities.writeReceipt(deletion);
  const written: Awaited<ReturnType<typeof work>> = await new MockActivityEnvironment({ attempt }).run(work);
  return written.receipt ?? '';
}

test('a receipt is verified by the public key, and says what was read after the erasure and what remains', async () => {
  const receipt = await receiptIn({});
  const said = verifyReceipt(receipt, pem(pair.publicKey));
  expect(said).toMatchObject({
    ...{ version: 1, sub: userId, deletedAt: deletion.deletedAt, erasedHistories: 1 },
    found: { labService: { user: 'scheduled' }, database: { rows: 0 }, temporal: { ended: 0, open: 1 } },
  });
  expect(said.remains.map(({ where, until }) => [where, until])).toEqual([
    ['lab service', '2026-03-08T10:00:01.000Z'],
    ['Temporal: this deletion', '30 days after its end'],
    ['Temporal: 1 histories', '30 days after their end'],
    ["backups of Temporal's database", 'they expire or their key is destroyed'],
    ['database: tombstone', 'indefinitely'],
    ['backups of the database', 'they expire'],
  ]);
  expect(JSON.stringify(said)).not.toContain('kit-order');
});

test('a receipt that was changed, or signed with another key, is refused', async () => {
  const receipt = await receiptIn({});
  const [header = '', payload = '', signature = ''] = receipt.split('.');
  const inBase64 = (text: string) => Buffer.from(text).toString('base64url');
  const said = Buffer.from(payload, 'base64url').toString();
  const other = `${header}.${inBase64(said.replace('"rows":0', '"rows":1'))}.${signature}`;
  const unsigned = `${inBase64('{"alg":"none"}')}.${payload}.`;
  const spelled = ['.x', '=', '$', '==more'].map((more) => `${receipt}${more}`);
  for (const changed of [other, unsigned, '', 'x', ...spelled])
    expect(() => verifyReceipt(changed, pem(pair.publicKey)), changed).toThrow(errors.ReceiptInvalid);
  expect(() => verifyReceipt(receipt, pem(generateKeyPairSync('ed25519').publicKey))).toThrow(errors.ReceiptInvalid);
  const heads = signJws(pair.privateKey, { iat: 1, kind: 'labops audit heads', chains: {} });
  expect(() => verifyReceipt(heads, pem(pair.publicKey))).toThrow('What is signed is not a receipt');
});

test('what cannot be read is read again, and then the receipt says so', async () => {
  const away = { user: { status: 503, body: '' }, store: { countUserData: () => Promise.reject(new Error('away')) } };
  expect(await rejection(receiptIn(away))).toMatchObject({ type: 'ServiceUnavailable' });
  const { found } = verifyReceipt(await receiptIn({ ...away, attempt: 5 }), pem(pair.publicKey));
  expect(found).toMatchObject({ labService: { unread: 'ServiceUnavailable' }, database: { unread: 'Unavailable' } });
});

test.each([
  [
    'a 404 that may be a proxy’s is not the lab service’s word',
    { user: { status: 404, body: '' } },
    { labService: { unread: 'AnswerUnreadable' } },
    ['lab service', '2026-03-08T10:00:01.000Z'],
  ],
  [
    'a Temporal that cannot be searched has an unknown number of workflows',
    { listed: 'impossible' as const },
    { temporal: { unread: 'Unavailable' } },
    ['Temporal: 1 histories', '30 days after their end'],
  ],
  [
    'a workflow with an open run is open, whatever its runs before did',
    { listed: [{ workflowId: 'kit-order/2' }, { workflowId: 'kit-order/2', closeTime: new Date() }] },
    { temporal: { ended: 0, open: 1 } },
    ['Temporal: 1 histories', '30 days after their end'],
  ],
  [
    'what began after the erasure remains',
    { listed: [{ workflowId: 'kit-order/2' }, { workflowId: 'kit-order/1' }] },
    { temporal: { ended: 0, open: 2 } },
    ['Temporal: 2 histories', '30 days after their end'],
  ],
  [
    'a user who is there is erased at no known time',
    { user: { status: 200, body: { user_id: userId } } },
    { labService: { user: 'present' } },
    ['lab service', 'unknown'],
  ],
])('%s', async (_what, deployment: Deployment, read, line) => {
  const { found, remains } = verifyReceipt(await receiptIn({ ...deployment, attempt: 5 }), pem(pair.publicKey));
  expect(found).toMatchObject(read);
  expect(remains.map(({ where, until }) => [where, until])).toContainEqual(line);
});

test('a key that the lab service refuses does not delay the receipt', async () => {
  const { found } = verifyReceipt(await receiptIn({ user: { status: 401, body: '' } }), pem(pair.publicKey));
  expect(found.labService).toEqual({ unread: 'Unauthorized' });
});

test('a deletion is listed for a moment after it is gone: Temporal is read again', async () => {
  const listed = [{ workflowId: 'kit-order/1', closeTime: new Date() }];
  expect(await rejection(receiptIn({ listed }))).toMatchObject({ type: 'HistoriesStillListed', nonRetryable: false });
  const { found } = verifyReceipt(await receiptIn({ listed, attempt: 5 }), pem(pair.publicKey));
  expect(found.temporal).toMatchObject({ ended: 1, open: 0 });
});
