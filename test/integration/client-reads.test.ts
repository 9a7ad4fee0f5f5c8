import type { ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { errors, isBookable, LabOperations, type OnRead, type ReadRecord } from '../../client/index.js';
import { labAccountIds, labTestIds } from '../../sandbox/lab-service/seed.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { all } from '../rig/all.js';
import { demographics } from '../rig/cast.js';
import { eventually } from '../rig/eventually.js';
import type { Database } from '../../store/database.js';
import { HealthDataReader } from '../../store/health-data-reader.js';
import { rejection, serving } from '../unit/service/recording-server.js';
import { sandboxApiKey, startSandbox, type Sandbox } from './sandbox-rig.js';

/* What the client reads straight from the service. Nothing listens at Temporal's address: no worker and no history is needed. */

const temporal = () => new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });

async function backend(settings: Partial<Settings> = {}, onRead?: OnRead): Promise<Sandbox & { lab: LabOperations }> {
  const sandbox = await startSandbox(settings);
  const service = { baseUrl: sandbox.service.url, apiKey: sandboxApiKey };
  const lab = new LabOperations(temporal(), { service, ...(onRead && { onRead }) });
  onTestFinished(() => lab.close());
  return { ...sandbox, lab };
}

/** What is refused here is refused before anything is asked. */
const nowhere = new LabOperations(temporal(), { service: { baseUrl: 'http://127.0.0.1:1', apiKey: sandboxApiKey } });
afterAll(() => nowhere.close());

test('a whole order is read, with the tracking addresses of its parcel', async () => {
  const { lab, newKit, control } = await backend();
  const { id } = await newKit();
  await control.move(id, 'transit_customer');
  const order = await lab.orders.read(id);
  expect(order.details?.data?.shipment).toMatchObject({
    outbound_courier: 'usps',
    outbound_tracking_url: expect.stringMatching(/^https:/) as string,
  });
  expect(order.shipping_details).toMatchObject({ city: 'Nowhereville' });
  expect(order.order_transaction?.orders).toMatchObject([{ id, origin: 'initial' }]);
  expect(order.lab_test).toMatchObject({ sample_type: 'dried_blood_spot', worst_case_tat_days: 7 });
  await control.move(id, 'delivered_to_lab');
  const { expected_result_by_date: expected, worst_case_result_by_date: worst } = await lab.orders.read(id);
  expect(Date.parse(worst ?? '')).toBeGreaterThan(Date.parse(expected ?? ''));
  await expect(lab.orders.read('7e570000-0000-4000-8000-00000000dead')).rejects.toBeInstanceOf(errors.NotFound);
});

test('orders are searched by user, status, interpretation and time', async () => {
  const { lab, newUser, newKit, control } = await backend();
  const userId = await newUser();
  const [first, second] = [await newKit({ user_id: userId }), await newKit({ user_id: userId })];
  await control.advanceClock('1s');
  const other = await newKit();
  await control.move(second.id, 'transit_customer');
  const found = async (search: Parameters<typeof lab.orders.search>[0]) =>
    (await all(lab.orders.search(search))).map(({ id }) => id);
  expect(await found({ all: true })).toEqual([other.id, second.id, first.id]);
  expect(await found({ userId })).toEqual([second.id, first.id]);
  expect(await found({ userId, status: ['transit_customer'] })).toEqual([second.id]);
  expect(await found({ from: new Date(other.created_at) })).toEqual([other.id]);
  expect(await found({ to: new Date(Date.parse(other.created_at) - 1) })).toEqual([second.id, first.id]);
});

test.each(['interpretation', 'is_critical'] as const)(
  'nobody is found who was not meant, also where the service knows the filter as %s',
  async (criticalFilter) => {
    const { lab, newKit, control } = await backend({ criticalFilter });
    const [critical, normal] = [await newKit(), await newKit()];
    for (const [{ id }, interpretation] of [
      [critical, 'critical'],
      [normal, 'normal'],
    ] as const) {
      await control.move(id, 'delivered_to_lab');
      await control.move(id, { status: 'completed', interpretation });
    }
    await newKit();
    const found = await all(lab.orders.search({ interpretation: 'critical' }));
    expect(found.map(({ id }) => id)).toEqual([critical.id]);
  },
);

test.each([
  [{ userId: undefined }, 'userId'],
  [{ userId: '' }, 'userId'],
  [{ status: [] }, 'status'],
  [{ status: 'completed' }, 'status'],
  [{ user: 'user-1' }, 'user'],
  [{ from: '2026-01-01' }, 'from'],
  [{ to: new Date(Number.NaN) }, 'to'],
])('a search that would find more than was meant is refused: %o', (search, field) => {
  expect(() => nowhere.orders.search(search as object)).toThrow(errors.ReadInvalid);
  expect(() => nowhere.orders.search(search as object)).toThrow(field);
});

const toResults = ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed'];

test('lab values are read by order, by transaction, and by reference', async () => {
  const { lab, newKit, newUser, control } = await backend();
  const userId = await newUser();
  const lost = await newKit({ user_id: userId, passthrough: 'labops/default:-:ref-1:1' });
  await newKit({ user_id: userId, passthrough: `labops/default:${lost.id}:ref-1:2` });
  await newKit({ user_id: userId, passthrough: 'labops/default:-:ref-10:1' });
  const byReference = () => lab.results.read({ reference: 'ref-1', userId: userId.toUpperCase() });
  await expect(lab.results.read({ orderId: lost.id })).rejects.toBeInstanceOf(errors.NotFound);
  await expect(byReference()).rejects.toBeInstanceOf(errors.NotFound);

  // It arrives after all: the replacement has no results, and its sample has to be taken once more.
  for (const status of toResults.slice(0, -1)) await control.move(lost.id, status);
  const { order: redraw } = await control.redraw(lost.id);
  for (const status of toResults) await control.move(redraw.id, status);
  const results = await lab.results.read({ orderId: redraw.id });
  expect(results).toMatchObject({ metadata: { status: 'final' }, order_transaction: { orders: [{}, {}] } });
  expect(results.results).toHaveLength(3);
  const transactionId = results.order_transaction?.id ?? '';
  expect(await lab.results.read({ transactionId })).toMatchObject({ results: results.results });
  expect(await byReference()).toMatchObject({ results: results.results });
  await expect(lab.results.read({ reference: 'ref-2', userId })).rejects.toBeInstanceOf(errors.OrderNotFound);
});

test.each([
  undefined,
  {},
  { reference: 'ref-1' },
  { reference: 'ref-1', userId: undefined },
  { orderId: '' },
  { orderId: 7, transactionId: 'transaction-1' },
  { orderId: 'order-1', transactionId: 'transaction-1' },
])('what is to be read must be one thing: %o', async (which) => {
  const refusal = { name: 'ReadInvalid', fields: [{ field: 'which' }] };
  await expect(nowhere.results.read(which as never)).rejects.toMatchObject(refusal);
  await expect(nowhere.documents.results(which as never)).rejects.toMatchObject(refusal);
});

test('what cannot be a reference is not repeated in an error', async () => {
  const failure = nowhere.results.read({ reference: 'testperson@example.com', userId: 'user-1' });
  await expect(failure).rejects.toMatchObject({ name: 'ReadInvalid', fields: [{ field: 'reference' }] });
  await expect(failure).rejects.not.toThrow('example.com');
});

test('the documents of an order are read as PDFs once there are any', async () => {
  const { lab, newKit, control } = await backend();
  const { documents } = lab;
  const { id, order_transaction: transaction } = await lab.orders.read((await newKit()).id);
  const ofTransaction = { transactionId: transaction?.id ?? '' };
  await expect(documents.results({ orderId: id })).rejects.toBeInstanceOf(errors.NotFound);
  await expect(documents.results(ofTransaction)).rejects.toBeInstanceOf(errors.NotFound);
  await expect(documents.requisition(id)).rejects.toBeInstanceOf(errors.NotFound);
  await expect(documents.collectionInstructions({ labTestId: labTestIds.walkIn })).rejects.toBeInstanceOf(
    errors.NotFound,
  );
  for (const status of ['requisition_created', 'completed']) await control.move(id, status);
  const labels = { collectionDate: new Date('2026-03-01T10:00:00Z'), count: 2 };
  const read = await Promise.all([
    documents.results({ orderId: id }),
    documents.results(ofTransaction),
    documents.requisition(id),
    documents.collectionInstructions({ orderId: id }),
    documents.collectionInstructions({ labTestId: labTestIds.kit }),
    documents.specimenLabels(id, labels),
  ]);
  const streams = await Promise.all([
    documents.streams.results({ orderId: id }),
    documents.streams.results(ofTransaction),
    documents.streams.requisition(id, { maxBytes: 100_000 }),
    documents.streams.collectionInstructions({ orderId: id }),
    documents.streams.collectionInstructions({ labTestId: labTestIds.kit }),
    documents.streams.specimenLabels(id, labels),
  ]);
  expect(await Promise.all(streams.map((stream) => buffer(stream)))).toEqual(read);
  const texts = read.map((pdf) => pdf.toString('latin1'));
  for (const text of texts) expect(text).toMatch(/^%PDF-/);
  for (const text of [texts[0], texts[2], texts[5]]) expect(text).toContain(id);
  expect(texts[1]).toContain(ofTransaction.transactionId);
  expect(texts[5]).toContain('Label 2 of 2');
  const never = { collectionDate: new Date(Number.NaN) };
  await expect(documents.specimenLabels(id, never)).rejects.toMatchObject({ fields: [{ field: 'collectionDate' }] });
  await expect(documents.beneficiaryNotice(id)).rejects.toBeInstanceOf(errors.NotFound);
  const { streams: limited } = documents;
  await expect(limited.beneficiaryNotice(id)).rejects.toBeInstanceOf(errors.NotFound);
  await expect(limited.requisition(id, { maxBytes: 0 })).rejects.toMatchObject({ fields: [{ field: 'maxBytes' }] });
  await expect(limited.requisition(id, { maxBytes: 100 })).rejects.toBeInstanceOf(errors.AnswerUnreadable);
});

test('a stream outlives its call, and ends with the reason of the signal', async () => {
  let answer: ServerResponse | undefined;
  const { baseUrl } = await serving((_request, response) => {
    answer = response;
    response.write('%PDF-1.7 invented'.padEnd(2_000, '.'));
  });
  const lab = new LabOperations(temporal(), { service: { baseUrl, apiKey: sandboxApiKey } });
  onTestFinished(() => lab.close());
  const abort = new AbortController();
  const stream = await lab.documents.streams.results({ orderId: 'order-1' }, { signal: abort.signal });
  answer?.write('more');
  await eventually(() => expect(stream.readableLength).toBe(2_004));
  const reason = new Error('The person has left the page');
  abort.abort(reason);
  await expect(buffer(stream)).rejects.toBe(reason);
  await eventually(() => expect(answer?.closed).toBe(true));
});

test('a parsing job is read with its values', async () => {
  const { lab, control } = await backend();
  const { id } = await control.createJob();
  expect((await lab.reports.read(id)).data ?? null).toBeNull();
  await control.moveJob(id, { status: 'completed', results: 'sample' });
  const job = await lab.reports.read(id);
  expect(job.status).toBe('completed');
  expect(job.data?.results.length).toBeGreaterThan(0);
});

test('the catalogue says what can be ordered', async () => {
  const { lab } = await backend();
  const kits = await all(lab.catalogue.labTests({ method: 'testkit', status: 'active' }));
  expect(kits.map(({ id }) => id)).toEqual([labTestIds.kit, labTestIds.otherKit]);
  expect(await all(lab.catalogue.labTests({ name: 'METABOLIC' }))).toMatchObject([
    { id: labTestIds.kit, markers: [{ slug: 'glucose' }, { slug: 'hba1c' }, { slug: 'ferritin' }] },
  ]);
  expect(await all(lab.catalogue.labTests({ madeBy: 'auto' }))).toEqual([]);
  expect(await all(lab.catalogue.labTests({ providerIds: ['14'] }))).toMatchObject([{ id: labTestIds.otherKit }]);
  for (const filter of [{ status: undefined }, { labslug: 'lab' }, { markerIds: [] }]) {
    expect(() => lab.catalogue.labTests(filter as object)).toThrow(errors.ReadInvalid);
  }
  expect(await lab.catalogue.labTest(labTestIds.walkIn)).toMatchObject({ method: 'walk_in_test' });
  await expect(lab.catalogue.labTest(labAccountIds.pending)).rejects.toBeInstanceOf(errors.NotFound);
  expect(await all(lab.catalogue.markers({ name: 'ferr' }))).toMatchObject([{ id: 13, slug: 'ferritin' }]);
  expect(await lab.catalogue.accounts({ status: 'pending' })).toMatchObject([{ id: labAccountIds.pending }]);
});

test('providers and a user’s connections are read, with the error of one that broke, and ending one twice is safe', async () => {
  const { lab, newUser, control } = await backend();
  const providers = await lab.links.providers({ sourceType: 'invented' });
  expect(providers).toContainEqual(expect.objectContaining({ slug: 'invented_reader', auth_type: 'email' }));
  const userId = await newUser();
  expect(await lab.links.connections(userId)).toEqual([]);
  await control.connect(userId, { provider: 'invented_watch' });
  await control.connect(userId, { provider: 'invented_ring' });
  await control.breakConnection(userId, { provider: 'invented_watch', error_type: 'provider_password_expired' });
  const [watch, ring] = await lab.links.connections(userId.toUpperCase());
  expect(watch).toMatchObject({
    slug: 'invented_watch',
    status: 'error',
    error_details: { error_type: 'provider_password_expired', errored_at: expect.any(String) as string },
  });
  expect(ring).toMatchObject({ slug: 'invented_ring', status: 'connected', error_details: null });

  const end = () => lab.links.disconnect({ userId, provider: 'invented_watch' });
  expect(await end()).toEqual({ disconnected: true });
  expect(await end()).toEqual({ disconnected: false });
  expect(await lab.links.connections(userId)).toMatchObject([{ slug: 'invented_ring' }]);
  await expect(lab.links.connections('../team')).rejects.toMatchObject({ name: 'LinkInvalid' });
  await expect(lab.links.providers({ source_type: 'watch' } as object)).rejects.toBeInstanceOf(errors.ReadInvalid);
});

test('the request of a page ends with the call that waits for it', async () => {
  const { lab, control } = await backend();
  await control.addFault({ method: 'GET', path: '/v3/lab_test', action: { kind: 'delay', delayMs: 60_000 } });
  const signal = AbortSignal.timeout(200);
  expect(await rejection(lab.catalogue.labTests({}, { signal }).next())).toBe(signal.reason);
  // It would wait for a request that goes on.
  await lab.close();
});

test('coverage and service centres are read near a place and near an order, and only with filters that are known', async () => {
  const { lab, newUser, control } = await backend();
  const { appointments } = lab;
  const coverage = await appointments.coverage({ zipCode: '62704-1234', radius: 10 });
  expect(coverage).toMatchObject({ phlebotomy: { is_served: true }, central_labs: { 'invented-lab': { lab_id: 1 } } });
  const { centres } = await appointments.sites({ zipCode: '62704', labId: 1, radius: 20 });
  expect(centres.filter(isBookable).map(({ site_code: code }) => code)).toEqual(['PSC1', 'PSC2', 'PSC3']);
  const { order } = await control.createOrder({ user_id: await newUser(), lab_test_id: labTestIds.walkIn });
  const near = await appointments.sites({ orderId: order.id, radius: 10 });
  expect(near).toMatchObject({ lab: 'invented-lab', centres: [{ site_code: 'PSC1' }, { site_code: 'PSC2' }] });
  await expect(appointments.sites({ orderId: order.id, zip: '1' } as never)).rejects.toBeInstanceOf(errors.ReadInvalid);
  await expect(appointments.coverage({ zipCode: '1' })).rejects.toMatchObject({ name: 'ReadInvalid' });
  expect(await appointments.cancellationReasons({ walkIn: true })).toMatchObject([{ name: 'Other' }]);
});
test('a backend needs one import for a user’s whole life', async () => {
  const { users } = (await backend()).lab;
  const { user, created } = await users.createOrGet({ client_user_id: 'client 1' });
  expect(created).toBe(true);
  const again = await users.createOrGet({ client_user_id: 'client 1' });
  expect(again).toMatchObject({ created: false, user: { user_id: user.user_id } });
  expect(await users.read(user.user_id)).toMatchObject({ client_user_id: 'client 1' });
  expect(await users.readByClientUserId('client 1')).toMatchObject({ user_id: user.user_id });

  await expect(users.readDemographics(user.user_id)).rejects.toBeInstanceOf(errors.NotFound);
  await expect(users.createPortalLink(user.user_id, { context: 'launch' })).rejects.toMatchObject({
    name: errors.ServiceRefused.name,
    status: 422,
  });
  await users.setDemographics(user.user_id, demographics);
  expect(await users.readDemographics(user.user_id)).toMatchObject({ first_name: 'Testperson' });
  const { url, expires_in: seconds } = await users.createPortalLink(user.user_id, { context: 'launch' });
  expect(url).toMatch(/^https:/);
  expect(seconds).toBeGreaterThan(0);

  await users.update(user.user_id, { client_user_id: 'client 2' });
  expect(await all(users.readAll({ pageSize: 1 }))).toMatchObject([{ client_user_id: 'client 2' }]);
});

test('each read of a person’s data is reported before it is answered, with who read what of whom, and no value', async () => {
  const records: ReadRecord[] = [];
  const { lab, newUser, newKit, control } = await backend({}, (record) => void records.push(record));
  const userId = await newUser();
  await lab.as('nurse-7').users.setDemographics(userId, demographics);
  const { id } = await newKit({ user_id: userId });
  for (const status of ['delivered_to_lab', 'completed']) await control.move(id, status);
  await lab.catalogue.labTest(labTestIds.kit);
  expect(records).toEqual([]);
  const reader = lab.as('nurse-7');
  const { client_user_id: clientUserId } = await reader.users.read(userId);
  await reader.users.readByClientUserId(clientUserId ?? '');
  await reader.users.readDemographics(userId);
  await lab.orders.read(id);
  await all(lab.orders.search({ userId }));
  await lab.results.read({ orderId: id });
  await lab.documents.results({ orderId: id });
  (await lab.documents.streams.results({ orderId: id })).destroy();
  await all(lab.matchReviews.search());
  await expect(lab.orders.read('7e570000-0000-4000-8000-00000000dead')).rejects.toBeInstanceOf(errors.NotFound);
  const actor = 'nurse-7';
  expect(records.map(({ at: _at, ...record }) => record)).toEqual([
    { actor, what: 'users.get', subject: userId },
    { actor, what: 'users.resolve', subject: userId },
    { actor, what: 'users.getDemographics', subject: userId },
    { what: 'orders.get', subject: id },
    { what: 'orders.list', subject: userId },
    { what: 'orders.results', subject: id },
    { what: 'documents.results', subject: id },
    { what: 'documents.streams.results', subject: id },
    { what: 'matchReviews.list' },
  ]);
  expect(records.every(({ at }) => !Number.isNaN(Date.parse(at)))).toBe(true);
});

test.each<[string, OnRead]>([
  [
    'throws',
    () => {
      throw new Error('the log is full');
    },
  ],
  ['rejects', () => Promise.reject(new Error('the log is full'))],
])('a callback that %s ends no read, and Node warns of it', async (_how, onRead) => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => void warnings.push(warning);
  process.on('warning', listen);
  onTestFinished(() => void process.off('warning', listen));
  const { lab, newUser } = await backend({}, onRead);
  const userId = await newUser();
  expect(await lab.users.read(userId)).toMatchObject({ user_id: userId });
  const warning = { code: 'LABOPS_READ_NOT_RECORDED', detail: 'Error: the log is full' };
  await eventually(() => expect(warnings).toContainEqual(expect.objectContaining(warning)));
});

test('health data that are read are reported, too', async () => {
  const records: ReadRecord[] = [];
  const close = vi.fn<() => Promise<void>>().mockResolvedValue(undefined);
  const database = { query: () => Promise.resolve([]), close } as unknown as Database;
  const opened = new HealthDataReader(database, { onRead: (record) => void records.push(record) });
  const reader = opened.as('nurse-7');
  const userId = '00000000-0000-4000-8000-000000000001';
  await reader.summaries({ userId });
  await all(reader.samples({ userId, resource: 'glucose', from: '2026-01-05', to: '2026-01-06T00:00:00Z' })).catch(
    () => [],
  );
  await reader.workoutStream({ userId, workoutId: 'workout-1' });
  await reader.connections(userId);
  await reader.historyNotices(userId);
  const names = ['summaries', 'samples', 'workoutStream', 'connections', 'historyNotices'];
  // Each request of a backend has a reader of its own, over the same connections.
  await reader.close();
  expect(close).not.toHaveBeenCalled();
  await opened.close();
  expect(close).toHaveBeenCalledOnce();
  expect(records.map(({ at: _at, ...record }) => record)).toEqual(
    names.map((name) => ({ actor: 'nurse-7', what: `healthData.${name}`, subject: userId })),
  );
});
