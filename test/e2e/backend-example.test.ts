import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLabService } from '../../client/index.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { installBrowser } from '../../tools/browser.js';
import { patientDetails, personal } from '../rig/cast.js';
import { eventually } from '../rig/eventually.js';
import { address, browser, examplePages, patient, phaseOf, postgres, receiver } from './example-pages.js';
import { provider, rightCode, wrongCode } from './linked-user.js';
import { patience } from './stack.js';
import type { Visitor } from './visitor.js';

/*
 * The pages of examples/backend. The stories say what a person does on the pages; what else happens in the world, the stand-in of the
 * lab service does. Two of them play in the Chromium of this machine, if there is one: they show what only a browser does.
 */

const { lab, pages } = examplePages();

function trackingNumber(text: string): string {
  const [, number = ''] = /To you\s+\S+\s+(\S+)/.exec(text) ?? [];
  return number;
}

/** The time of a choice as the page of the booked appointment shows it. */
function utcIn(choice: string): string {
  return /\d\d:\d\d UTC/.exec(choice)?.[0] ?? `no time in ${choice}`;
}

const driver = browser === undefined ? `by HTTP (${installBrowser})` : 'in a browser';

describe(`pages, ${driver}:`, () => {
  test('a customer orders a kit, registers it and reads the results, and nobody else sees the order', async () => {
    const customer = await pages.newBrowserCustomer();
    const { path, orderId } = await pages.order(customer, 'Metabolic kit', { ...receiver, ...address });
    await expect.poll(() => phaseOf(customer, path), patience).toBe('awaiting registration');
    const open = await customer.leaveOpen();

    const stranger = await pages.newCustomer();
    for (const part of ['', '/results', '/cancel']) {
      await stranger.open(path + part);
      expect(stranger.status()).toBe(404);
    }
    const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
    const registration = { ...patient, ...address, 'Sample id': sampleId ?? '' };
    await customer.send('Register', { ...registration, 'Date of birth': '2999-01-01' });
    expect(customer.status()).toBe(422);
    expect(await customer.faultOf('Date of birth')).toBe('must not be in the future');
    await customer.send('Register', { 'Date of birth': patientDetails.dob });
    expect((await lab.sandbox.order(orderId)).order).toMatchObject({ status: 'received' });

    const statuses = ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab'];
    for (const status of statuses) await lab.sandbox.move(orderId, status);
    // One that came after the end would start another run.
    await lab.sandbox.settleWebhooks();
    await lab.sandbox.move(orderId, 'completed');
    await expect.poll(() => open.phase(), patience).toBe('completed');
    await customer.open(path);
    expect(await customer.address(trackingNumber(await customer.text()))).toMatch(/^https:/);
    await customer.follow('Results');
    expect(await customer.text()).toMatch(/Glucose[^]*mg\/dL[^]*Ferritin/);
    expect((await customer.download("The laboratory's report (PDF)")).subarray(0, 5).toString()).toBe('%PDF-');
  });

  test('the questions of a test are answered with its order', async () => {
    const customer = await pages.newCustomer();
    const answers = { 'When will the sample be taken?': 'Evening', 'Hours of sleep': '7.5' };
    const { orderId } = await pages.order(customer, 'Stress kit', { ...answers, ...patient, ...address });
    const { order: ordered } = await lab.sandbox.order(orderId);
    expect(ordered).toMatchObject({ user_id: customer.userId });
  });

  test('a customer books a visit at home and moves it, and a late cancellation of the order warns of its cost', async () => {
    const customer = await pages.newCustomer();
    // A visit tomorrow by the stand-in's clock is one of today.
    await lab.sandbox.setClock(new Date(new Date().setUTCHours(12, 0, 0, 0) - 86_400_000));
    onTestFinished(async () => void (await lab.sandbox.setClock(new Date())));
    const { path, orderId } = await pages.order(customer, 'Home draw', { ...patient, ...address });
    await customer.follow('Appointment');
    await customer.send('Book', { Time: (await customer.choices('Time')).at(-1) ?? '' });
    expect(await customer.phase()).toBe('confirmed');
    expect(await customer.text()).toContain('you are refunded in full');

    await customer.follow('Choose another time');
    const [, second = ''] = await customer.choices('Time');
    await customer.send('Move the appointment', { Time: second });
    expect(await customer.text()).toContain(utcIn(second));
    await customer.open(`${path}/cancel`);
    expect(await customer.text()).toContain('It is too late for a refund');
    await customer.send('Cancel the order', { 'Cancel without a refund': 'yes' });
    await expect.poll(() => phaseOf(customer, path), patience).toBe('cancelled');
    expect((await lab.sandbox.order(orderId)).order).toMatchObject({ status: 'cancelled' });
  });

  test('a customer chooses a service centre by its zip code, books there, and cancels with a reason', async () => {
    const customer = await pages.newCustomer();
    const { path } = await pages.order(customer, 'Walk-in panel', { ...patient, ...address });
    await customer.follow('Appointment');
    expect(await customer.text()).toContain('Near your address');
    await customer.send('Search', { 'Zip code': 'elsewhere', 'Miles around it': '10' });
    expect(await customer.faultOf('Zip code')).toMatch(/^must be five digits/);
    await customer.send('Search', { 'Zip code': '60601' });
    expect(await customer.text()).toMatch(/Near 60601[^]*Service centre PSC2/);
    expect(await customer.text()).not.toContain('Service centre PSC3');
    await customer.send('Times at Service centre PSC2');
    const [first = ''] = await customer.choices('Time');
    await customer.send('Book', { Time: first });
    expect(await customer.text()).toContain(utcIn(first));
    expect(await customer.text()).toMatch(/At the service centre PSC2[^]*Your number at the service centre: \S+/);
    await customer.open(path);
    expect((await customer.download('The requisition to bring (PDF)')).subarray(0, 5).toString()).toBe('%PDF-');
    await customer.follow('Appointment');
    await customer.send('Cancel the appointment', { Reason: 'Other' });
    await expect.poll(() => phaseOf(customer, `${path}/appointment`), patience).toBe('cancelled');
  });

  test('a customer links a device with a code, and disconnects it', async () => {
    const customer = await pages.newCustomer();
    await customer.open('/links');
    await customer.send('Link Invented Watch');
    const linkToken = new URL(await customer.address('Log in')).searchParams.get('token') ?? '';
    const service = createLabService({ baseUrl: lab.service.url, apiKey: 'a-browser-has-none' });
    const password = { username: 'mfa-sms', password: 'invented-password' };
    const answer = await service.links.submitPassword(provider, linkToken, password);
    await service.close();
    await customer.post(`/links/${provider}/login`, answer);
    expect(await phaseOf(customer, `/links/${provider}`)).toBe('awaiting code');
    await customer.send('Send', { Code: wrongCode });
    expect(await customer.faultOf('Code')).toMatch(/^was wrong\. \d attempts are left\.$/);
    await customer.send('Send', { Code: rightCode });
    await expect.poll(() => phaseOf(customer, `/links/${provider}`), patience).toBe('connected');
    await customer.follow('All devices');
    expect(await customer.text()).toContain(`${provider}: connected`);
    await customer.send('Disconnect Invented Watch');
    expect(await customer.text()).toContain('No device is connected.');
  });

  test('a customer chooses the provider of a link on the page of the service', async () => {
    const customer = await pages.newCustomer();
    await customer.open('/links');
    await customer.send('Choose on the next page');
    expect(await customer.address('Log in')).toContain('token=');
    await lab.sandbox.connect(customer.userId, { provider });
    await expect.poll(() => phaseOf(customer, '/links/any'), patience).toBe('connected');
    expect(await customer.text()).toContain(`Link ${provider}`);
  });

  test('a customer uploads a report, under no name that the upload brings, and reads its values', async () => {
    const customer = await pages.newBrowserCustomer();
    await customer.open('/reports');
    const file = { name: '../../name.pdf', type: 'application/pdf', content: samplePdf([]) };
    await customer.send('Upload', { File: file });
    const path = customer.path();
    await expect.poll(() => phaseOf(customer, path), patience).toMatch(/parsing|completed/);
    await lab.sandbox.advanceClock('1m');
    onTestFinished(async () => void (await lab.sandbox.setClock(new Date())));
    await expect.poll(() => phaseOf(customer, path), patience).toBe('completed');
    expect(await customer.text()).toMatch(/Marker\s+Value/);
  });

  test.skipIf(postgres === undefined)('a customer sees what a device has sent, and nobody else does', async () => {
    const [customer, stranger] = [await pages.newCustomer(), await pages.newCustomer()];
    await lab.sandbox.sendHealthData(customer.userId, { kind: 'summary', resource: 'activity' });
    await lab.sandbox.sendHealthData(customer.userId, { kind: 'samples', resource: 'glucose', count: 3 });
    const seen = async (visitor: Visitor, path: string) => {
      await visitor.open(path);
      return visitor.text();
    };
    await expect.poll(() => seen(customer, '/health'), patience).toMatch(/activity\s+invented_watch\s+\S+/);
    await expect.poll(() => seen(customer, '/health/series/glucose'), patience).toMatch(/(invented_watch[^]*){3}/);
    expect(await seen(stranger, '/health')).toContain('Your devices have sent nothing yet.');
  });

  test('a customer deletes the account and changes their mind', async () => {
    const customer = await pages.newCustomer();
    await customer.open('/account');
    await customer.send('Delete my data');
    await expect.poll(() => phaseOf(customer, '/account'), patience).toBe('grace');
    await customer.send('Sign out');
    await customer.send('Sign in', { Account: customer.account });
    expect(await phaseOf(customer, '/account')).toBe('grace');
    await customer.send('Keep my data');
    await expect.poll(() => phaseOf(customer, '/account'), patience).toBe('undone');
  });

  test('a customer sees no page of the staff, and neither does who has a wrong key', async () => {
    const customer = await pages.newCustomer();
    for (const path of ['/staff', '/staff/reviews/any', '/staff/imports', '/staff/webhooks']) {
      await customer.open(path);
      expect(customer.path()).toBe('/staff/sign-in');
    }
    await customer.send('Sign in', { 'Staff key': 'invented-wrong-key' });
    expect(await customer.faultOf('Staff key')).toBe('is wrong');
  });

  test('staff give a result that matched no order to one of the candidates', async () => {
    const staff = await pages.newStaff();
    const { id, order_ids: orderIds } = await lab.sandbox.createMatchReview({ decision_code: 'multiple_demo_match' });
    const [, orderId = ''] = orderIds;
    const waiting = async () => {
      await staff.open('/staff');
      return staff.text();
    };
    await expect.poll(waiting, patience).toContain(id);
    await staff.follow(id);
    await staff.send('Give it to this order', { Order: orderId, 'Note for the service': 'Invented: same birth date' });
    expect(await staff.text()).toContain(`It belongs to the order ${orderId}.`);
    // Its workflow is started by its webhook.
    const found = await eventually(() => lab.labs.orders.getHandle({ orderId }));
    expect(await found.result()).toMatchObject({ outcome: 'completed' });
  });

  test('staff import an order whose sample exists, and its customer sees it', async () => {
    const [customer, staff] = [await pages.newCustomer(), await pages.newStaff()];
    await staff.follow('Import an order');
    const sample = { Account: customer.account, Test: 'Metabolic kit', 'Sample id': `sample-${randomUUID()}` };
    await staff.send('Import', { ...sample, Billing: 'client bill', ...patient, ...address });
    expect(await staff.text()).toContain('The order is');
    const [placed] = await lab.ordersOf(customer.userId);
    expect(await staff.text()).toContain(placed?.order.id);
    const reference = staff.path().split('/').at(-1) ?? '';
    await lab.sandbox.move(placed?.order.id ?? '', 'completed');
    await expect.poll(() => phaseOf(customer, `/orders/${reference}`), patience).toBe('completed');
  });

  test('staff register an endpoint, change it, give it headers, and rotate its secret', async () => {
    const staff = await pages.newStaff();
    await staff.follow('Webhook endpoints');
    const url = `${lab.ingressUrl}?${randomUUID()}`;
    await staff.send('Register', { Address: url });
    const [first] = /whsec_\S+/.exec(await staff.text()) ?? [];
    await staff.follow('All endpoints');
    await staff.follow(url);
    await staff.send('Change', {
      Description: 'Invented',
      'Event types': 'labtest.order.created, labtest.order.updated',
    });
    await staff.send('Disable');
    expect(await staff.phase()).toBe('disabled');
    await staff.send('Enable');
    expect(await staff.phase()).toBe('enabled');
    await staff.send('Set the headers', { 'All headers': 'x-invented: one' });
    await staff.send('Rotate the secret');
    const [second] = /whsec_\S+/.exec(await staff.text()) ?? [];
    expect(second).toMatch(/^whsec_/);
    expect(second).not.toBe(first);
    await staff.follow('All endpoints');
    expect(await staff.text()).toMatch(/labtest\.order\.created, labtest\.order\.updated\s+enabled/);
    await staff.follow(url);
    await staff.send('Delete the endpoint');
    expect(await staff.text()).not.toContain(url);
  });

  test('no address of a page and no line of the log names a person or a place', () => {
    // Ids may have any letters and digits.
    const addresses = pages
      .addresses()
      .join('\n')
      .replaceAll(/ep_[\w-]+|[0-9a-f-]{36}(\.\w+)?/g, '');
    const log = pages.log();
    expect(addresses).toContain('/orders/');
    expect(log).toContain('labops.order.phase_changed');
    for (const text of [addresses, log]) expect(text).not.toMatch(personal);
    expect(addresses).not.toMatch(/zip|=\d{5}\b|PSC\d/i);
  });
});
