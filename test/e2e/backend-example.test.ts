import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLabService } from '../../client/index.js';
import { LAB_TEST_IDS } from '../../sandbox/lab-service/seed.js';
import { freePort } from '../../sandbox/temporal/ports.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { patientAddress, patientDetails, shippingDetails } from '../rig/cast.js';
import { startProcess } from '../rig/processes.js';
import { provider, rightCode } from './linked-user.js';
import { patience, stack } from './stack.js';

const reports = mkdtempSync(join(tmpdir(), 'backend-example-'));
const lab = stack();
let backend = '';

beforeAll(async () => {
  const port = await freePort();
  backend = `http://127.0.0.1:${port}`;
  await startProcess(process.execPath, ['--import', 'tsx', 'examples/backend/server.ts'], {
    env: { ...lab.workerEnv, PORT: String(port), REPORT_ROOT: reports },
    ready: /listening/,
  });
  await lab.worker.stop();
  await lab.startWorker({ NOTIFY_URL: `${backend}/notifications`, REPORT_ROOT: reports });
});
afterAll(() => rm(reports, { recursive: true }));

interface Page {
  status: number;
  path: string;
  text: string;
}

/** A browser that is logged in, without scripts: it opens pages, sends forms and follows redirects. */
function browserOf(userId: string) {
  const headers = { cookie: `user=${userId}` };
  const read = async (response: Response): Promise<Page> => {
    const { status, url } = response;
    return { status, path: new URL(url).pathname, text: await response.text() };
  };
  return {
    userId,
    open: async (path: string) => read(await fetch(backend + path, { headers })),
    send: async (path: string, fields: Record<string, string> | FormData = {}) => {
      const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
      return read(await fetch(backend + path, { method: 'POST', headers, body }));
    },
    phaseOf: async (path: string) => {
      const { text } = await read(await fetch(backend + path, { headers }));
      return /<p id="phase">(\w+)</.exec(text)?.[1] ?? text;
    },
  };
}

/** The fields that a form has, of those that the cast has more of. */
function filled(person: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, person[name] ?? '']));
}

const addressFields = ['first_line', 'city', 'state', 'zip', 'country'];
const personFields = ['first_name', 'last_name', 'dob', 'gender', 'phone_number', 'email'];

test('a customer orders a kit, registers it and reads the results, and nobody else sees the order', async () => {
  const customer = browserOf(await lab.newUser());
  expect((await customer.open('/')).text).toContain('Metabolic kit');
  const address = filled(shippingDetails, [...addressFields, 'receiver_name', 'phone_number']);
  const { path } = await customer.send('/orders', { lab_test_id: LAB_TEST_IDS.kit, ...address });
  await expect.poll(() => customer.phaseOf(path), patience).toBe('awaiting_registration');
  const events = await fetch(`${backend}${path}/events`, { headers: { cookie: `user=${customer.userId}` } });

  const stranger = browserOf(await lab.newUser());
  for (const part of ['', '/results', '/results.pdf']) {
    expect(await stranger.open(path + part)).toMatchObject({ status: 404 });
  }
  const [placed] = await lab.ordersOf(customer.userId);
  const orderId = placed?.order.id ?? '';
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  const patient = { ...filled(patientDetails, personFields), ...filled(patientAddress, addressFields) };
  const wrong = await customer.send(`${path}/registration`, {
    ...patient,
    sample_id: sampleId ?? '',
    dob: 'yesterday',
  });
  expect(wrong).toMatchObject({ status: 422, text: expect.stringContaining('patient_details.dob') as string });
  await customer.send(`${path}/registration`, { ...patient, sample_id: sampleId ?? '' });
  expect((await lab.sandbox.order(orderId)).order).toMatchObject({ status: 'received' });

  const statuses = ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed'];
  for (const status of statuses) await lab.sandbox.move(orderId, status);
  await expect.poll(() => customer.phaseOf(path), patience).toBe('completed');
  expect(await events.text(), 'the stream ends with the order').toMatch(/awaiting_registration[^]*"completed"}\n\n$/);
  expect((await customer.open(`${path}/results`)).text.match(/<tr>/g)).toHaveLength(3);
  expect((await customer.open(`${path}/results.pdf`)).text).toMatch(/^%PDF-/);
});

test('a customer books a visit at home', async () => {
  const customer = browserOf(await lab.newUser());
  const { path } = await customer.send('/orders', {
    lab_test_id: LAB_TEST_IDS.atHomePhlebotomy,
    ...filled(patientDetails, personFields),
    ...filled(patientAddress, addressFields),
  });
  await expect.poll(() => customer.phaseOf(path), patience).not.toBe('placing');
  const { text } = await customer.open(`${path}/appointment`);
  const [, slotId = ''] = /name="slotId" value="([^"]+)"/.exec(text) ?? [];
  await customer.send(`${path}/appointment`, { slotId });
  expect(await customer.phaseOf(`${path}/appointment`)).toBe('confirmed');
});

test('a customer links a device with a code, and disconnects it', async () => {
  const customer = browserOf(await lab.newUser());
  const started = await customer.send(`/links/${provider}`);
  const [, linkUrl = ''] = /<a href="([^"]+)">Log in/.exec(started.text) ?? [];
  const linkToken = new URL(linkUrl.replaceAll('&#38;', '&')).searchParams.get('token') ?? '';
  const service = createLabService({ baseUrl: lab.service.url, apiKey: 'a-browser-has-none' });
  const password = { username: 'mfa-sms', password: 'invented-password' };
  const answer = await service.links.submitPassword(provider, linkToken, password);
  await service.close();
  await fetch(`${backend}/links/${provider}/login`, {
    method: 'POST',
    headers: { cookie: `user=${customer.userId}`, 'content-type': 'application/json' },
    body: JSON.stringify(answer),
  });
  expect(await customer.phaseOf(`/links/${provider}`)).toBe('awaiting_code');
  await customer.send(`/links/${provider}/code`, { code: rightCode });
  await expect.poll(() => customer.phaseOf(`/links/${provider}`), patience).toBe('connected');
  expect((await customer.open('/links')).text).toContain(`${provider}: connected`);
  expect((await customer.send(`/links/${provider}/disconnect`)).text).not.toContain(`${provider}: connected`);
});

test('a customer uploads a report, under no name that the upload brings, and the service gets it', async () => {
  const customer = browserOf(await lab.newUser());
  const upload = new FormData();
  upload.append('report', new Blob([new Uint8Array(samplePdf([]))], { type: 'application/pdf' }), '../../name.pdf');
  const { path } = await customer.send('/reports', upload);
  await expect.poll(() => customer.phaseOf(path).catch(() => 'uploading'), patience).toMatch(/parsing|completed/);
});

test('a customer deletes the account and changes their mind', async () => {
  const customer = browserOf(await lab.newUser());
  await customer.send('/account/deletion');
  await expect.poll(() => customer.phaseOf('/account'), patience).toBe('grace');
  await customer.send('/account/deletion/undo');
  await expect.poll(() => customer.phaseOf('/account'), patience).toBe('undone');
});

test('staff give a result that matched no order to one of the candidates', async () => {
  const staff = browserOf(await lab.newUser());
  const { id, order_ids: orderIds } = await lab.sandbox.createMatchReview({ decision_code: 'multiple_demo_match' });
  const [, orderId = ''] = orderIds;
  const reviews = async () => (await staff.open('/staff')).text;
  await expect.poll(reviews, patience).toContain(id);
  expect((await staff.open(`/staff/reviews/${id}`)).text).toContain(orderId);
  await staff.send(`/staff/reviews/${id}/accept`, { orderId });
  const order = await lab.labs.orders.get({ orderId });
  expect(await order.result()).toMatchObject({ outcome: 'completed' });
});
