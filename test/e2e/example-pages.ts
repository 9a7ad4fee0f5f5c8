import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { inventedOrgId } from '../../sandbox/lab-service/organisation.js';
import { inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { freePort } from '../../sandbox/temporal/ports.js';
import { patientDetails, shippingDetails } from '../rig/cast.js';
import { startPostgres, type PostgresServer } from '../rig/postgres.js';
import { startProcess, type StartedProcess } from '../rig/processes.js';
import { newDatabase } from '../rig/stores.js';
import { patience, type Stack } from './stack.js';
import { visitorsIn, type Visitor, type Visitors } from './visitor.js';

const staffKey = 'invented-staff-key';

export interface ExampleOptions {
  encryptionKeys: string;
  /** PostgreSQL's programs: without them no health data are kept. */
  postgres: string | undefined;
  /** Without it, visitors come by HTTP. */
  browser: string | undefined;
}

/** A visitor who is signed in with an account of their own. */
export interface Customer extends Visitor {
  userId: string;
  account: string;
}

export interface ExamplePages {
  newCustomer(): Promise<Customer>;
  newStaff(): Promise<Visitor>;
  /** Orders a test on its page and waits until the service has the order. */
  order(customer: Customer, name: string, fields: Record<string, string>): Promise<{ path: string; orderId: string }>;
  /** The addresses of all pages that were opened. */
  addresses(): readonly string[];
  /** What the backend has written. */
  log(): string;
}

interface Parts {
  visitors: Visitors;
  backend: StartedProcess;
  url: string;
  database: PostgresServer | undefined;
}

/** Runs examples/backend for the tests of a file. Call it at the top, below `stack`. */
export function examplePages(lab: Stack, options: ExampleOptions): ExamplePages {
  const reports = mkdtempSync(join(tmpdir(), 'backend-example-'));
  let parts: Parts | undefined;
  const up = (): Parts => {
    if (!parts) throw new Error('The backend is started before the tests: use it inside them.');
    return parts;
  };
  beforeAll(async () => {
    parts = await start(lab, reports, options);
  });
  afterAll(async () => {
    await parts?.visitors.close();
    await lab.worker.stop();
    await parts?.database?.stop();
    await rm(reports, { recursive: true });
  });
  return {
    newCustomer: async () => {
      const visitor = await up().visitors.visitor(up().url);
      const account = `account-${randomUUID()}`;
      await visitor.open('/');
      await visitor.send('Sign in', { Account: account });
      const { user_id: userId } = await lab.labs.users.resolve(account);
      return Object.assign(visitor, { account, userId });
    },
    newStaff: async () => {
      const visitor = await up().visitors.visitor(up().url);
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
    addresses: () => up().visitors.addresses(),
    log: () => up().backend.output(),
  };
}

async function start(lab: Stack, reports: string, options: ExampleOptions): Promise<Parts> {
  const { encryptionKeys, postgres, browser } = options;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const database = postgres === undefined ? undefined : await startPostgres(postgres);
  const store = database ? await keepHealthData(lab, database.url, encryptionKeys) : {};
  const own = { PORT: String(port), REPORT_ROOT: reports, STAFF_KEY: staffKey };
  const team = { LABOPS_ORG_ID: inventedOrgId, LABOPS_TEAM_ID: inventedTeamId, LABOPS_ENVIRONMENT: 'sandbox' };
  const backend = await startProcess(process.execPath, ['--import', 'tsx', 'examples/backend/server.ts'], {
    env: { ...lab.workerEnv, ...own, ...team, ...store },
    ready: /listening/,
  });
  await lab.worker.stop();
  await lab.startWorker({ NOTIFY_URL: `${url}/notifications`, REPORT_ROOT: reports, ...store });
  return { visitors: await visitorsIn(browser), backend, url, database };
}

/** Health data go to a database of their own, through an ingress that has it. */
async function keepHealthData(lab: Stack, url: string, encryptionKeys: string): Promise<Record<string, string>> {
  const { databaseUrl } = await newDatabase(url);
  const store = { DATABASE_URL: databaseUrl, HEALTH_DATA: '' };
  const webhookUrl = await lab.startIngress({ ...store, LABOPS_ENCRYPTION_KEYS: encryptionKeys });
  await lab.sandbox.changeSettings({ webhookUrl });
  return store;
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
