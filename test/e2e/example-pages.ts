import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { freePort } from '../../sandbox/temporal/ports.js';
import { findBrowser } from '../../tools/browser.js';
import { type Door, openDoor } from '../rig/door.js';
import { patientDetails, shippingDetails } from '../rig/cast.js';
import { findPostgres, startPostgres, type PostgresServer } from '../rig/postgres.js';
import { projectFolder, startProcess, type StartedProcess } from '../rig/processes.js';
import { newDatabase } from '../rig/stores.js';
import { patience, stack, type Stack } from './stack.js';
import { browserVisitors, type BrowserVisitors } from './visitor-browser.js';
import { HttpVisitor } from './visitor-http.js';
import type { Visitor } from './visitor.js';

const staffKey = 'invented-staff-key';

export const [postgres, browser] = await Promise.all([findPostgres(), findBrowser()]);

/** A visitor who is signed in with an account of their own. */
export type Customer<By extends Visitor = HttpVisitor> = By & { userId: string; account: string };

export interface ExamplePages {
  newCustomer(): Promise<Customer>;
  /** One who comes with a Chromium; without one on this machine, by HTTP as the others do. */
  newBrowserCustomer(): Promise<Customer<Visitor>>;
  newStaff(): Promise<HttpVisitor>;
  /** Orders a test on its page and waits until the service has the order. */
  order(
    customer: Customer<Visitor>,
    name: string,
    fields: Record<string, string>,
  ): Promise<{ path: string; orderId: string }>;
  /** The addresses of all pages that were opened. */
  addresses(): readonly string[];
  /** What the backend has written. */
  log(): string;
}

/** Runs examples/backend for the tests of a file. Call it at the top, instead of `stack`. Without PostgreSQL no health data are kept. */
export function examplePages(): { lab: Stack; pages: ExamplePages } {
  const reports = mkdtempSync(join(tmpdir(), 'backend-example-'));
  const worker: Record<string, string> = { REPORT_ROOT: reports };
  const store: Record<string, string> = {};
  const addresses: string[] = [];
  let [url, door, database, backend, inBrowser]: [string, Door?, PostgresServer?, StartedProcess?, BrowserVisitors?] = [
    '',
  ];
  beforeAll(async () => {
    door = await openDoor();
    ({ url } = door);
    if (postgres !== undefined) {
      database = await startPostgres(postgres);
      Object.assign(store, { DATABASE_URL: (await newDatabase(database.url)).databaseUrl, HEALTH_DATA: '' });
    }
    Object.assign(worker, store, { NOTIFY_URL: `${url}/notifications` });
  });
  const lab = stack({ worker });
  beforeAll(async () => {
    if (database) {
      const webhookUrl = await lab.startIngress(store);
      await lab.sandbox.changeSettings({ webhookUrl });
    }
    const port = await freePort();
    door?.leadTo(port);
    backend = await start({ ...lab.workerEnv, PORT: String(port) });
    if (browser !== undefined) inBrowser = await browserVisitors(browser, addresses);
  });
  afterAll(async () => {
    await inBrowser?.close();
    await lab.worker.stop();
    await Promise.all([door?.close(), database?.stop()]);
    await rm(reports, { recursive: true });
  });
  const signedIn = async <By extends Visitor>(visitor: By): Promise<Customer<By>> => {
    const account = `account-${randomUUID()}`;
    await visitor.open('/');
    await visitor.send('Sign in', { Account: account });
    const { user_id: userId } = await lab.labs.users.readByClientUserId(account);
    return Object.assign(visitor, { account, userId });
  };
  const pages: ExamplePages = {
    newCustomer: () => signedIn(new HttpVisitor(url, addresses)),
    newBrowserCustomer: async () => signedIn((await inBrowser?.visitor(url)) ?? new HttpVisitor(url, addresses)),
    newStaff: async () => {
      const visitor = new HttpVisitor(url, addresses);
      await visitor.open('/staff');
      await visitor.send('Sign in', { 'Staff key': staffKey });
      return visitor;
    },
    order: async (customer, name, fields) => {
      await customer.open('/');
      await customer.follow(name);
      await customer.send('Order', fields);
      const path = customer.path();
      await expect.poll(() => phaseOf(customer, path), patience).not.toBe('placing');
      const [placed] = await lab.ordersOf(customer.userId);
      return { path, orderId: placed?.order.id ?? '' };
    },
    addresses: () => addresses,
    log: () => backend?.output() ?? '',
  };
  return { lab, pages };
}

async function start(env: Record<string, string | undefined>): Promise<StartedProcess> {
  const outfile = join(inject('buildFolder'), 'backend-example.js');
  const bundled = { bundle: true, format: 'esm', platform: 'node', packages: 'external' } as const;
  await build({ absWorkingDir: projectFolder, entryPoints: ['examples/backend/server.ts'], outfile, ...bundled });
  const team = { LABOPS_ORG_ID: inventedOrgId, LABOPS_TEAM_ID: inventedTeamId, LABOPS_ENVIRONMENT: 'sandbox' };
  return startProcess(process.execPath, [outfile], {
    env: { ...env, ...team, STAFF_KEY: staffKey },
    ready: /listening/,
  });
}

/** The phase that a page shows. */
export async function phaseOf(visitor: Visitor, path: string): Promise<string> {
  await visitor.open(path);
  return visitor.phase();
}

/* What forms ask for, by the labels of their fields. */

export const address = {
  'Street and number': shippingDetails.first_line,
  City: shippingDetails.city,
  State: shippingDetails.state,
  'Zip code': shippingDetails.zip,
};
export const patient = {
  'First name': patientDetails.first_name,
  'Last name': patientDetails.last_name,
  'Date of birth': patientDetails.dob,
  Sex: patientDetails.gender,
  'Phone number': patientDetails.phone_number,
  'E-mail address': patientDetails.email,
};
export const receiver = {
  'Name on the parcel': shippingDetails.receiver_name,
  'Phone number': shippingDetails.phone_number,
};
