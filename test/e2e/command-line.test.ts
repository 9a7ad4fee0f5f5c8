import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type OrderHandle,
  type LinkUrl,
  type OrderState,
  type Slots,
  type WebhookEndpoint,
  type WebhookRegistered,
} from '../../client/index.js';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { inventedLab, inventedTeamId, labTestIds } from '../../sandbox/lab-service/seed.js';
import { projectFolder, startProcess } from '../rig/processes.js';
import { schemaFaults } from '../rig/json-schemas.js';
import { kitFor, personal, registration, shippingDetails } from '../rig/cast.js';
import { answer, labops, labopsProcess, runProcess, workerCommand, type Ran } from './labops.js';
import { patience, stack } from './stack.js';

const lab = stack({ keys: '' });
const run = (...args: string[]): Promise<Ran> => labops(lab, args);
async function json<Answer>(...args: string[]): Promise<Answer> {
  const answered = await answer<Answer>(run(...args, '-o', 'json'));
  const command = args.filter((word) => !word.startsWith('-')).slice(0, 2);
  expect(schemaFaults('labops', command.join('.'), answered)).toEqual([]);
  return answered;
}

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'labops-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(content: unknown): Promise<string> {
  const path = join(folder, `${randomUUID()}.json`);
  await writeFile(path, JSON.stringify(content));
  return path;
}

function alarmOf(state: Awaited<ReturnType<OrderHandle['state']>>): string | undefined {
  return 'criticalResult' in state ? state.criticalResult?.alarm : undefined;
}

async function placed(): Promise<{ reference: string; orderId: string }> {
  const input = kitFor(await lab.newUser(), `cli-${randomUUID()}`);
  return json('orders', 'place', '--file', await file(input));
}

describe('an order', () => {
  test('is placed from a file, and once for its reference', async () => {
    const userId = await lab.newUser();
    const path = await file(kitFor(userId, `cli-${randomUUID()}`));
    const first = await labopsProcess(lab, ['orders', 'place', '--file', path]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const [, orderId = ''] = /Placed order (\S+), reference cli-/.exec(first.stdout) ?? [];
    expect(await json('orders', 'place', '--file', path)).toMatchObject({ orderId });
    expect((await lab.ordersOf(userId)).map(({ order }) => order.id)).toEqual([orderId]);
  });

  test('is placed from standard input, without waiting', async () => {
    const input = kitFor(await lab.newUser(), `cli-${randomUUID()}`);
    const args = ['orders', 'place', '--file', '-', '--no-wait', '-o', 'json'];
    expect(await answer(labopsProcess(lab, args, { input: JSON.stringify(input) }))).toEqual({
      reference: input.reference,
    });
    const handle = await lab.labs.orders.getHandle({ reference: input.reference });
    // Only then is it placed.
    const orderId = await handle.orderId();
    expect(await lab.ordersOf(input.order.user_id ?? '')).toMatchObject([{ order: { id: orderId } }]);
  });

  test('is shown by its reference and by its id, with its timeline', async () => {
    const { reference, orderId } = await placed();
    await lab.sandbox.move(orderId, 'transit_customer');
    const handle = await lab.labs.orders.getHandle({ orderId });
    await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
    expect(await json('orders', 'show', orderId)).toMatchObject({
      orderId,
      reference,
      phase: 'in_transit_to_customer',
    });
    const { code, stdout } = await run('orders', 'show', '--reference', reference);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Order +\S+\nReference +cli-\S+\n/);
    expect(stdout).toMatch(/\nPhase +in transit to customer\n/);
    expect(stdout).toMatch(/\nWhen +Order +Status +Detail\n[^]+collecting_sample\.testkit\.transit_customer\n$/);
    expect(stdout).not.toContain(shippingDetails.receiver_name);
  });

  test('is shown with the notifications that its product refused', async () => {
    const { orderId } = await placed();
    const show = ['orders', 'show', orderId];
    expect((await run(...show)).stderr).toBe('');
    lab.receiver.refuses = ({ id }) => id.startsWith(orderId);
    try {
      await lab.sandbox.move(orderId, 'cancelled');
      const said = `Some of its notifications are undelivered: labops notifications show kit-order/${orderId}\n`;
      await expect.poll(async () => (await run(...show)).stderr, patience).toBe(said);
    } finally {
      lab.receiver.refuses = () => false;
    }
  });

  test('has an address in the Web UI', async () => {
    const { orderId, reference } = await placed();
    const { namespace } = lab.rig;
    const address = `https://ui.example.com/namespaces/${namespace}/workflows/kit-order%2F${orderId}`;
    const env = { TEMPORAL_UI_URL: 'https://ui.example.com/' };
    const opened = await labops(lab, ['orders', 'open', '--reference', reference], { env });
    expect(opened).toEqual({ code: 0, stdout: `${address}\n`, stderr: '' });
  });

  test('is listed up to a limit, with what shows the others', async () => {
    for (const _ of [1, 2]) await placed();
    await expect
      .poll(async () => (await run('orders', 'list', '--limit', '1')).stderr, patience)
      .toMatch(/^There may be more orders: raise --limit, or add --after [\w-]+\n$/);
  });

  test('is registered from standard input, and its state is printed', async () => {
    const { orderId } = await placed();
    const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
    const input = JSON.stringify(registration(sampleId ?? ''));
    const args = ['orders', 'register', orderId, '--file', '-', '-o', 'json'];
    expect(await answer(labops(lab, args, { input }))).toMatchObject({ orderId, registered: true, sampleId });
  });

  test('is cancelled, and what is refused after that exits with 1 and says why', async () => {
    const { orderId } = await placed();
    expect(await json('orders', 'cancel', orderId)).toMatchObject({ orderId, phase: 'cancelled' });
    const again = await run('orders', 'replace-kit', orderId);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(/^(OrderEnded|NotReplaceable): .*\.\n$/);
    const nothing = await run('orders', 'resolve-problem', 'no-such-order', '--decision', 'wait', '-o', 'json');
    expect(nothing.code).toBe(1);
    expect(JSON.parse(nothing.stderr)).toMatchObject({ error: { name: 'OrderNotFound' } });
  });

  test('an order that has a critical result is listed until a person has acknowledged its latest alarm', async () => {
    const { handle, orderId, userId } = await lab.place();
    const isAlarmed = async (alarm: string) => {
      await expect.poll(async () => alarmOf(await handle.state()), patience).toBe(alarm);
    };
    const list = ['orders', 'list', '--user', userId, '--attention', 'critical_result'];
    const listed = async () => (await json<{ orders: { rootOrderId: string }[] }>(...list)).orders;
    const [partial, final] = [`${orderId}/partial/critical_result`, `${orderId}/final/critical_result`];
    await lab.sandbox.reportCritical(orderId, { status: 'partial' });
    await isAlarmed(partial);
    await expect.poll(listed, patience).toMatchObject([{ rootOrderId: orderId }]);
    expect((await run(...list)).stdout).toMatch(new RegExp(`\n${orderId} .*critical result`));
    const shown = await run('orders', 'show', orderId);
    expect(shown.stdout).toMatch(/\nCritical result +partial, of order .*: not acknowledged, reminders sent: 0\n/);
    expect(shown.stdout).toContain(partial);
    await lab.sandbox.reportCritical(orderId, { status: 'final' });
    await isAlarmed(final);
    const acknowledge = [
      'orders',
      'acknowledge-critical-result',
      orderId,
      '--by',
      'nurse-17',
      '--outcome',
      'confirmed',
    ];
    const args = [...acknowledge, '--alarm', final, '--note-file', '-'];
    const answered = await labops(lab, args, { input: 'Invented: reached by telephone\n' });
    expect(answered).toMatchObject({ code: 0, stderr: '' });
    expect(answered.stdout).toMatch(/\nCritical result +final, .*: acknowledged\n/);
    expect(await json<OrderState>('orders', 'show', orderId)).toMatchObject({
      attention: [],
      criticalResult: { acknowledgements: [{ by: 'nurse-17', alarm: final, note: 'Invented: reached by telephone' }] },
    });
    await expect.poll(listed, patience).toEqual([]);
  });

  test('is watched until it has ended, a JSON document a line', async () => {
    const { orderId } = await placed();
    const watching = run('orders', 'watch', orderId, '-o', 'json');
    await lab.sandbox.move(orderId, 'cancelled');
    const { code, stdout } = await watching;
    expect(code).toBe(0);
    const states = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as OrderState);
    expect(states.at(-1)).toMatchObject({ orderId, outcome: 'cancelled' });
  });
});

test('a link shows page and token only in the command for them, and reads its code from standard input', async () => {
  const which = ['--user', await lab.newUser(), '--provider', 'invented_watch'];
  const started = await run('links', 'start', ...which);
  const { linkToken, linkWebUrl } = await json<LinkUrl>('links', 'url', ...which);
  expect(linkWebUrl).toContain('http');
  const report = await labops(lab, ['links', 'report-link-result', ...which, '--file', '-'], {
    input: JSON.stringify({ state: 'pending_provider_mfa', provider_mfa: { method: 'sms', hint: '***77' } }),
  });
  expect(report.stdout).toMatch(/\nCode sent to +\*\*\*77\n/);
  const code = await labops(lab, ['links', 'submit-mfa-code', ...which, '--stdin'], { input: ' \n' });
  expect(code).toMatchObject({ code: 2, stdout: '' });
  expect(code.stderr).toMatch(/^InvalidCode: /);
  const refused = await labops(lab, ['links', 'submit-mfa-code', ...which, '--stdin'], { input: '000000\n' });
  expect(refused).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Answer +start over\n/) as string });
  expect(refused.stderr).toBe('CodeNotAccepted: The code was not accepted: start over.\n');
  expect((await run('links', 'submit-mfa-code', ...which)).stderr).toMatch(/^UsageError: .*--stdin/);
  const cancelled = await run('links', 'cancel', ...which);
  expect(cancelled.stdout).toMatch(/\nOutcome +cancelled\n/);
  for (const { stdout, stderr } of [started, report, code, cancelled]) {
    expect(stdout + stderr).not.toContain(linkToken);
    expect(stdout + stderr).not.toContain(linkWebUrl);
  }
});

test('an appointment is arranged from its slots to its end, and shown without its place', async () => {
  const { order } = await lab.sandbox.createOrder({ lab_test_id: labTestIds.atHomePhlebotomy });
  const of = (command: string, ...args: string[]) => ['appointments', command, order.id, ...args];
  expect((await run(...of('show'))).stderr).toMatch(/^AppointmentNotFound: /);
  expect(await json(...of('start'))).toMatchObject({ orderId: order.id, phase: 'awaiting_choice' });
  const { slots } = await json<Slots>(...of('slots'));
  const notes = { input: 'Invented: the bell is broken\n' };
  const chosen = await labops(lab, of('choose', '--slot', slots.at(-1)?.id ?? '', '--notes-file', '-'), notes);
  expect(chosen.stdout).toMatch(/\nPhase +confirmed\n/);
  const moved = await json(...of('reschedule', '--slot', slots.at(-2)?.id ?? ''));
  expect(moved).toMatchObject({ appointment: { startAt: slots.at(-2)?.start } });
  const cancelled = await run(...of('cancel'));
  expect(cancelled.stdout).toMatch(/\nOutcome +cancelled\n/);
  const again = await run(...of('choose', '--slot', slots.at(-1)?.id ?? '', '-o', 'json'));
  expect(JSON.parse(again.stderr)).toMatchObject({ error: { name: 'AppointmentEnded' } });
  expect(chosen.stdout + cancelled.stdout).not.toMatch(personal);
});

test('a command on rejected events says that the worker keeps none if it has no database', async () => {
  const { code, stderr } = await run('rejected-events', 'list');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^StoreNotConfigured: HEALTH_DATA is off.*\. Set DATABASE_URL for every worker and ingress, unless .*\n$/,
  );
});

test('a user is deleted, and restored', async () => {
  const userId = await lab.newUser();
  expect(await json('users', 'request-deletion', userId, '--yes', '--grace-days', '2')).toMatchObject({
    phase: 'grace',
  });
  expect((await run('users', 'show', userId)).stdout).toMatch(/\nCan be undone until +\d{4}-/);
  expect(await json('users', 'undo', userId)).toMatchObject({ undo: { restored: ['user', 'data'] } });
});

test('the lab service is asked for providers and sites, and has webhooks delivered again', async () => {
  const service = async <Answer>(...args: string[]): Promise<Answer> => {
    const answered = await answer<Answer>(workerCommand(['service', ...args, '-o', 'json'], lab.workerEnv));
    expect(schemaFaults('labops', `service.${args[0]}`, answered)).toEqual([]);
    return answered;
  };
  const { providers } = await service<{ providers: unknown[] }>('providers');
  expect(providers).toContainEqual(expect.objectContaining({ slug: 'invented_watch', authType: 'password' }));
  const { sites } = await service<{ sites: unknown[] }>('sites', '--zip', '62704', '--lab', String(inventedLab.id));
  expect(sites).toContainEqual(expect.objectContaining({ code: 'PSC1', bookable: true }));
  const { orderId } = await placed();
  expect(await service('resend', orderId)).toEqual({ orderIds: [orderId] });
  const refused = await workerCommand(['service', 'resend'], lab.workerEnv);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/must name orders or a start_at/);
});

test('a reconciliation of a range prints what it found', async () => {
  const range = ['--from', '2001-01-01', '--to', '2001-01-02'];
  expect(await json('orders', 'reconcile', ...range)).toMatchObject({ listed: 0, notified: 0 });
});

describe('webhook endpoints', () => {
  const ofTeam = ['--org-id', inventedOrgId, '--team-id', inventedTeamId, '--environment', 'sandbox'];
  const url = 'http://127.0.0.1:9/webhooks';
  const endpoints = async () => (await json<{ endpoints: WebhookEndpoint[] }>('webhooks', 'list', ...ofTeam)).endpoints;

  // proves 234, 235
  test('webhook endpoints with one address are made once, even if registered twice at the same time', async () => {
    const register = () => json<WebhookRegistered>('webhooks', 'register', ...ofTeam, '--url', url);
    const both = await Promise.all([register(), register()]);
    expect(both.filter(({ created }) => created)).toHaveLength(1);
    const [one, other] = both.map(({ endpoint }) => endpoint.id);
    expect(other).toBe(one);
    expect(await endpoints()).toMatchObject([{ id: one, url, eventTypes: [], disabled: false }]);
  });

  test('keep their secret if payloads are not encrypted', async () => {
    const registered = await run('webhooks', 'register', ...ofTeam, '--url', `${url}/other`, '--show-secret');
    expect(registered.code).toBe(0);
    expect(registered.stdout + registered.stderr).not.toContain('whsec_');
    expect(registered.stderr).toContain('LABOPS_ENCRYPTION_KEYS');
  });
});

test('`npx --no -- labops` needs no build, and keeps its options', async () => {
  const started = await startProcess('npx', ['--no', '--', 'labops', 'orders', '--help'], { cwd: projectFolder });
  expect(await started.exit, started.output()).toEqual({ code: 0, signal: null });
  expect(started.output()).toContain('Usage: labops orders');
  expect((await runProcess(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

/** Lines of the pages that another file runs, or the whole suite. */
const runElsewhere: Readonly<Record<string, string>> = {
  'npm ci && npm run demo': 'test/e2e/demo.test.ts',
  'npm ci && npm test': '.ci/run',
  'npm init -y && npm pkg set type=module && npm install --save-dev tsx typescript @types/node':
    'test/integration/client-package.test.ts',
  'npm install @temporalio/envconfig@1.24.0': 'test/integration/client-package.test.ts',
  'npm install ./lab-operations-client-0.1.0.tgz': 'test/integration/client-package.test.ts',
  'npx tsx readme.ts': 'test/integration/client-package.test.ts',
};

/** The lines of a page's blocks of shell, but those that need Docker or, in place of an ellipsis, values of the reader's own. */
async function shellLinesOf(page: string): Promise<string[]> {
  const text = await readFile(join(projectFolder, page), 'utf8');
  const lines = [...text.matchAll(/^```sh\n([\s\S]+?)^```/gm)].flatMap(([, block = '']) => block.trim().split('\n'));
  return lines.map((line) => line.replace(/ +#.*/, '')).filter((line) => !/^docker |…/.test(line));
}

test('every shell line of README and docs/backend.md does what it says', async () => {
  const lines = (await Promise.all(['README.md', 'docs/backend.md'].map(shellLinesOf))).flat();
  expect(Object.keys(runElsewhere).filter((line) => !lines.includes(line))).toEqual([]);
  expect(Object.values(runElsewhere).filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  const { handle, orderId } = await lab.place({ deliveryDeadline: '1s' });
  await lab.sandbox.move(orderId, 'transit_customer');
  await expect.poll(async () => (await handle.state()).attention.length, patience).toBe(1);
  const listed = async () => (await run('orders', 'list', '--attention')).stdout;
  await expect.poll(listed, patience).toContain(orderId);
  const { address, taskQueue } = lab.rig;
  const env = { ...process.env, TEMPORAL_ADDRESS: address, TASK_QUEUE: taskQueue, LABOPS_ENCRYPTION_KEYS: '' };
  const here = lines.filter((line) => !(line in runElsewhere)).map((line) => line.replace('<order-id>', orderId));
  expect(here.length).toBeGreaterThan(0);
  for (const line of here) {
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', line], { cwd: projectFolder, env });
    expect({ line, stdout, stderr }).toMatchObject({ stdout: expect.stringContaining(orderId) as string, stderr: '' });
  }
  expect(await handle.state()).toMatchObject({ attention: [] });
});
