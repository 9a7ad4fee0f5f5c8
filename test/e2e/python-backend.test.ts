import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { freePort } from '../../sandbox/temporal/ports.js';
import { resultsSchema } from '../../service/order/order.js';
import { registration, shippingDetails } from '../rig/cast.js';
import { type Door, openDoor } from '../rig/door.js';
import { schemaFaults } from '../rig/json-schemas.js';
import { projectFolder, startProcess } from '../rig/processes.js';
import { patience, stack } from './stack.js';

const example = join(projectFolder, 'examples', 'python');
/** Emptied by every `npm ci`. */
const environment = join(projectFolder, 'node_modules', '.python-backend');
const python = join(environment, 'bin', 'python');

const worker: Record<string, string> = {};
let backend: Door;
beforeAll(async () => {
  backend = await openDoor();
  worker['NOTIFY_URL'] = `${backend.url}/notifications`;
  return () => backend.close();
});
const lab = stack({ worker });

/** Python makes environments on Debian only with python3-venv. */
function hasPython(): boolean {
  try {
    execFileSync('python3', ['-c', 'import venv, ensurepip, sys; assert sys.version_info >= (3, 10)'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    process.stdout.write('The Python backend is not tested: it needs Python 3.10 or later, with venv.\n');
    return false;
  }
}

const isPossible = hasPython();

beforeAll(async () => {
  if (!isPossible) return undefined;
  const [requirements, installed] = [join(example, 'requirements.txt'), join(environment, 'installed.txt')];
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(requirements, 'utf8')) {
    mkdirSync(environment, { recursive: true });
    await run('python3', ['-m', 'venv', environment]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', requirements]);
    copyFileSync(requirements, installed);
  }
  const description = join(await mkdtemp(join(tmpdir(), 'description-')), 'deployment.json');
  await writeFile(description, JSON.stringify({ addresses: { sandbox: lab.service.url } }));
  const { SERVICE_BASE_URL: _, ...workerEnv } = lab.workerEnv;
  const port = await freePort();
  backend.leadTo(port);
  await startProcess(python, ['backend.py'], {
    cwd: example,
    env: {
      ...workerEnv,
      SERVICE_DESCRIPTION: description,
      SERVICE_ENVIRONMENT: 'sandbox',
      PORT: String(port),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    ready: /listening/,
  });
  return () => rm(dirname(description), { recursive: true });
});

async function run(command: string, args: string[]): Promise<void> {
  const started = await startProcess(command, args);
  expect(await started.exit, started.output()).toEqual({ code: 0, signal: null });
}

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; answer: unknown }> {
  const sent =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  const response = await fetch(backend.url + path, { method, ...sent });
  const text = await response.text();
  return { status: response.status, answer: text === '' ? undefined : JSON.parse(text) };
}

test.skipIf(!isPossible)(
  'a Python backend places an order once, registers the kit, is notified and reads the results, with encrypted payloads',
  async () => {
    const reference = `python-${randomUUID()}`;
    const order = `/orders/${reference}`;
    const userId = await lab.newUser();
    const body = { user_id: userId, lab_test_id: labTestIds.kit, shipping_details: shippingDetails };
    for (let times = 0; times < 2; times += 1) expect(await call('PUT', order, body)).toMatchObject({ status: 202 });

    const phase = async () => ((await call('GET', order)).answer as { phase: string }).phase;
    await expect.poll(phase, patience).toBe('awaiting_registration');
    const [placed, ...others] = await lab.ordersOf(userId);
    expect(others).toEqual([]);
    const orderId = placed?.order.id ?? '';

    const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
    const action = { kind: 'answer', status: 422, body: { detail: 'Testpatient is not known' } } as const;
    await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit/register', times: 1, action });
    const refused = await call('POST', `${order}/registration`, registration(sampleId ?? ''));
    expect(refused).toEqual({ status: 422, answer: { error: 'RegistrationRefused' } });
    const registered = await call('POST', `${order}/registration`, registration(sampleId ?? ''));
    expect(registered).toMatchObject({ status: 200, answer: { reference, registered: true } });
    expect(schemaFaults('kitOrder', 'update.register.answer', registered.answer)).toEqual([]);

    for (const status of ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed']) {
      await lab.sandbox.move(orderId, status);
    }
    const types = async () =>
      ((await call('GET', `${order}/events`)).answer as { type: string }[]).map(({ type }) => type);
    await expect.poll(types, patience).toContain('labops.order.result');
    const { answer } = await call('GET', `${order}/results`);
    expect(resultsSchema.parse(answer).results).toHaveLength(3);
    expect(await call('POST', '/notifications', {})).toMatchObject({ status: 401 });
  },
);

test.skipIf(!isPossible)("the Python codec reads and refuses what the project's own does", async () => {
  const { vectors } = JSON.parse(readFileSync(join(example, '..', 'encryption-vectors.json'), 'utf8')) as {
    vectors: unknown[];
  };
  const checked = await startProcess(python, ['encryption_vectors.py'], {
    cwd: example,
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  });
  expect(await checked.exit, checked.output()).toEqual({ code: 0, signal: null });
  expect(checked.output()).toBe(`${vectors.length} vectors\n`);
});

test.skipIf(!isPossible)('the results of an order that the service has not accepted yet are a conflict', async () => {
  const down = { kind: 'answer', status: 503, body: { detail: 'try again later' } } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: down });
  const order = `/orders/python-${randomUUID()}`;
  const body = { user_id: await lab.newUser(), lab_test_id: labTestIds.kit, shipping_details: shippingDetails };
  expect(await call('PUT', order, body)).toMatchObject({ status: 202 });
  expect(await call('GET', `${order}/results`)).toEqual({ status: 409, answer: { error: 'not_yet_placed' } });
});
