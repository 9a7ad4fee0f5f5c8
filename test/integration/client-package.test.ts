import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import manifest from '../../client/package.json' with { type: 'json' };
import { signWebhook } from '../../client/testing.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { freePort } from '../../sandbox/temporal/ports.js';
import { shippingDetails } from '../rig/cast.js';
import { encryptionKeys, patience, stack } from '../e2e/stack.js';
import { type Door, openDoor } from '../rig/door.js';
import { projectFolder, startProcess } from '../rig/processes.js';

const keys = { LABOPS_ENCRYPTION_KEYS: encryptionKeys };
/** The README's example connects to the default task queue. */
const worker: Record<string, string> = { TASK_QUEUE: 'lab-operations' };
/** To the README's example. */
let door: Door;
beforeAll(async () => {
  door = await openDoor();
  worker['NOTIFY_URL'] = `${door.url}/notifications`;
  return () => door.close();
});
const lab = stack({ worker });

/** More than Temporal's client alone. Half of it is zod's. */
const mostBytes = 12_000_000;

const quietly = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

const lowestVersion = manifest.peerDependencies['@temporalio/client'].replace('^', '');

let backend = '';
let archive = '';
let bytesBefore = 0;

/** A product backend's project: nothing in it but the lowest version of Temporal that the client takes, and the packed client. */
beforeAll(async () => {
  backend = await mkdtemp(join(tmpdir(), 'product-backend-'));
  // The project's .npmrc lets npm run no scripts, and the package's is its build.
  const pack = ['pack', './client', '--ignore-scripts=false', '--pack-destination', backend, '--loglevel=error'];
  await run('npm', pack, projectFolder);
  await writeFile(join(backend, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  archive = (await readdir(backend)).find((name) => name.endsWith('.tgz')) ?? '';
  await run('npm', ['install', `@temporalio/client@${lowestVersion}`, ...quietly], backend);
  bytesBefore = await sizeOf(join(backend, 'node_modules'));
  await run('npm', ['install', `@temporalio/envconfig@${lowestVersion}`, `./${archive}`, ...quietly], backend);
  return () => rm(backend, { recursive: true });
});

async function run(command: string, args: string[], cwd: string, env = {}): Promise<string> {
  const started = await startProcess(command, args, { cwd, env });
  expect(await started.exit, `${command} ${args.join(' ')}\n${started.output()}`).toEqual({ code: 0, signal: null });
  return started.output();
}

test("the packed client brings no worker, no source and nothing of the worker's native core", async () => {
  const installed = join(backend, 'node_modules');
  expect(await readdir(join(installed, '@temporalio'))).not.toContain('worker');
  expect(await readdir(join(installed, '@temporalio'))).not.toContain('core-bridge');
  const own = await readdir(join(installed, '@lab-operations', 'client'), { recursive: true });
  // The maps name them.
  expect(own.filter((name) => name.endsWith('.ts') && !/\.d\.ts$|^dist\/source\//.test(name))).toEqual([]);
  expect(own).toContain('LICENSE');
  const bytes = (await sizeOf(installed)) - bytesBefore;
  process.stdout.write(`The client installs ${(bytes / 1e6).toFixed(1)} MB.\n`);
  expect(bytes).toBeLessThan(mostBytes);
});

test('publint and attw find no fault in the packed client, and its schemas and its package.json can be imported', async () => {
  const packed = join(backend, archive);
  await run(process.execPath, [join(projectFolder, 'node_modules/publint/src/cli.js'), packed, '--strict'], backend);
  const attw = join(projectFolder, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  await run(process.execPath, [attw, packed, '--profile', 'strict'], backend);
  const script = `
    import schema from '@lab-operations/client/schemas/kitOrder.json' with { type: 'json' };
    import manifest from '@lab-operations/client/package.json' with { type: 'json' };
    console.log(schema.title, manifest.name);`;
  const shown = await run(process.execPath, ['--input-type=module', '--eval', script], backend);
  expect(shown).toContain('Messages of kitOrder @lab-operations/client');
});

test('`import` and `require` give the same classes, in every entry', async () => {
  const script = `
    const entries = ['', '/webhooks', '/notifications', '/testing'];
    const same = async (entry) => {
      const [required, imported] = [require('@lab-operations/client' + entry), await import('@lab-operations/client' + entry)];
      const names = Object.keys(required);
      return names.length > 0 && names.every((name) => required[name] === imported[name]);
    };
    Promise.all(entries.map(same)).then((all) => console.log(all.join()));`;
  expect(await run(process.execPath, ['--input-type=commonjs', '--eval', script], backend)).toContain(
    'true,true,true,true',
  );
});

/** Takes what it is given as JSON, and says how it was answered. */
const receiver = `
import { createNotificationHandler, WebhookSecretInvalid } from '@lab-operations/client/notifications';
const required = require('@lab-operations/client/notifications');
const { secret, headers, body } = JSON.parse(process.argv[2]);
try {
  required.createNotificationHandler({ secrets: ['short'], on: {} });
} catch (error) {
  console.log('same class', error instanceof WebhookSecretInvalid);
}
const on = { 'labops.order.ended': ({ data }) => console.log('ended', data.orderId) };
const { fetch } = createNotificationHandler({ secrets: [secret], on, logger: false });
const send = (bytes) => fetch(new Request('http://product/', { method: 'POST', headers, body: bytes }));
Promise.all([send(body), send(body + ' ')]).then((all) => console.log(all.map(({ status }) => status).join()));`;

test.each([
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
] as const)(
  'a receiver of notifications is one small %s bundle, which needs nothing but Node',
  async (format, suffix) => {
    const { outputFiles } = await build({
      stdin: { contents: receiver, resolveDir: backend },
      ...{ bundle: true, minify: true, platform: 'node', format, write: false },
    });
    const [bundle] = outputFiles;
    expect(bundle?.contents.byteLength).toBeLessThan(60_000);
    const alone = await mkdtemp(join(tmpdir(), 'receiver-'));
    onTestFinished(() => rm(alone, { recursive: true }));
    await writeFile(join(alone, `receiver.${suffix}`), bundle?.contents ?? '');
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const event = {
      ...{ specversion: '1.0', id: 'event-1', type: 'labops.order.ended', source: 'kit-order/order-1' },
      ...{ subject: 'order-1', time: new Date().toISOString(), data: { orderId: 'order-1' } },
    };
    const { headers, body } = signWebhook({ body: event, secret, id: event.id });
    const said = await run(
      process.execPath,
      [`receiver.${suffix}`, JSON.stringify({ secret, headers, body: String(body) })],
      alone,
    );
    expect(said.trim().split('\n')).toEqual(['same class true', 'ended order-1', '204,401']);
  },
);

test('a backend keeps the version of Temporal that it has, down to the lowest that the client takes', async () => {
  const installed = join(backend, 'node_modules');
  const paths = await readdir(installed, { recursive: true });
  const copies = paths.filter((path) => path.endsWith('@temporalio/common/package.json'));
  expect(copies).toEqual(['@temporalio/common/package.json']);
  const common = await readFile(join(installed, '@temporalio/common/package.json'), 'utf8');
  expect(JSON.parse(common)).toMatchObject({ version: lowestVersion });
});

test('the packed client brings the command line, and nothing that starts it when it is imported', async () => {
  const labops = join(backend, 'node_modules', '.bin', 'labops');
  const env = { TEMPORAL_ADDRESS: lab.rig.address, ...keys };
  const listed = await run(labops, ['orders', 'list', '-o', 'json', '--user', await lab.newUser()], backend, env);
  expect(JSON.parse(listed)).toEqual({ orders: [] });
  const exporting = ['users', 'export', await lab.newUser()];
  expect(await run(labops, exporting, backend, env)).toContain('"kind":"left_out"');
  const reading = await startProcess(labops, exporting, {
    cwd: backend,
    env: { ...env, DATABASE_URL: 'postgres://x' },
  });
  expect(await reading.exit, 'without the package pg').toEqual({ code: 2, signal: null });
  expect(reading.output()).toContain('npm install pg');
  const program = await startProcess(labops, ['nonsense'], { cwd: backend, env });
  expect(await program.exit).toEqual({ code: 2, signal: null });
  const index = await readFile(join(backend, 'node_modules/@lab-operations/client/dist/client/index.js'), 'utf8');
  expect(index).not.toContain('command-line');
});

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const found = await Promise.all(names.map((name) => stat(join(folder, name))));
  return found.reduce((sum, each) => sum + (each.isFile() ? each.size : 0), 0);
}

/** All TypeScript of a page, in its order. */
async function codeOf(page: string): Promise<string> {
  const text = await readFile(join(projectFolder, page), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]+?)```/g)].map(([, code]) => code).join('\n');
}

/** The README's example, with a port that it is given in place of the usual one. */
async function readmeExample(): Promise<string> {
  const example = await codeOf('README.md');
  const replaced = example.replace('.listen(4000)', `.listen(Number(process.env['PORT']))`);
  expect(replaced).not.toBe(example);
  return replaced;
}

/** What the product's own code would do with the examples. */
const product = `
import { errors, type OrderPolicy } from '@lab-operations/client';
import { labValues, registerKit, registrationOf, untilShipped } from './backend.js';
import { orderKit, showOrder } from './readme.js';

// @ts-expect-error a text that is not a duration does not compile
export const policy: OrderPolicy = { returnDeadline: 'soon' };

const [reference = '', userId = '', labTestId = '', address = '', sandbox = ''] =
  process.argv.slice(2);
await orderKit(reference, userId, labTestId, JSON.parse(address));
let orderId: string | undefined;
while (orderId === undefined) ({ orderId } = await showOrder(reference));
console.log('placed', orderId);
const asked = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify([orderId]) };
const kit = (await (await fetch(sandbox + '/_sandbox/order', asked)).json()) as { kit_sample_id: string };
const { phase } = await registerKit(reference, registrationOf(userId, kit.kit_sample_id));
console.log('registered', phase);
console.log('shipped', await untilShipped(reference));
const untilEnded = (): ReturnType<typeof labValues> =>
  labValues(reference).catch((error: unknown) => {
    if (error instanceof errors.TimedOut) return untilEnded();
    throw error;
  });
const { outcome, interpretation, values } = await untilEnded();
console.log('ended', outcome, interpretation, values?.results?.length);
console.log('missing', (await showOrder('of-nobody').catch((error: unknown) => error)) instanceof errors.OrderNotFound);
`;

test('the examples of README, docs/backend.md and docs/messages.md compile with strict types and carry an order through, without the repository', async () => {
  await writeFile(join(backend, 'readme.ts'), await readmeExample());
  await writeFile(join(backend, 'backend.ts'), await codeOf('docs/backend.md'));
  await writeFile(join(backend, 'product.ts'), product);
  await writeFile(join(backend, 'receiver.ts'), await codeOf('docs/messages.md'));
  for (const types of ['node_modules/@types/node', 'node_modules/undici-types']) {
    await cp(join(projectFolder, types), join(backend, types), { recursive: true });
  }
  const tsc = join(projectFolder, 'node_modules', 'typescript', 'bin', 'tsc');
  const strict = ['--strict', '--types', 'node', '--target', 'es2022', '--outDir', 'built'];
  const modules = ['--module', 'nodenext', '--verbatimModuleSyntax', '--declaration'];
  await run(process.execPath, [tsc, ...strict, ...modules, 'product.ts', 'receiver.ts'], backend);
  const fromCommonJs = ['--module', 'node16', '--moduleDetection', 'force', '--noEmit'];
  await run(process.execPath, [tsc, ...strict, ...fromCommonJs, 'product.ts'], backend);

  await lab.sandbox.changeSettings({ webhookUrl: `${door.url}/` });
  const order = ['client-1', await lab.newUser(), labTestIds.kit, JSON.stringify(shippingDetails)];
  const { url, apiKey } = lab.service;
  const port = await freePort();
  door.leadTo(port);
  const started = await startProcess(process.execPath, ['built/product.js', ...order, url], {
    cwd: backend,
    env: {
      PORT: String(port),
      TEMPORAL_ADDRESS: lab.rig.address,
      SERVICE_BASE_URL: url,
      SERVICE_API_KEY: apiKey,
      WEBHOOK_SECRETS: lab.webhookSecret,
      NOTIFY_SECRET: lab.workerEnv['NOTIFY_SECRET'],
      ...keys,
    },
  });
  await started.waitFor(/registered awaiting_registration|registered preparing/);
  const [, orderId = ''] = await started.waitFor(/placed (\S+)/);
  for (const status of ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed']) {
    await lab.sandbox.move(orderId, status);
  }
  await started.waitFor(/shipped \{/);
  await started.waitFor(/ended completed normal 3/);
  await started.waitFor(/missing true/);
  await started.waitFor(/client-1 is now completed/);
  const delivered = async () => (await lab.sandbox.deliveries({ order_id: orderId })).map(({ state }) => state);
  await expect.poll(delivered, patience).not.toContain('waiting');
  expect((await delivered()).filter((state) => state === 'delivered').length).toBeGreaterThan(6);
  await started.stop();
});

/** The imports of a backend on an old compiler. */
const allEntries = `
import { errors, LabOperations } from '@lab-operations/client';
import { createWebhookHandler } from '@lab-operations/client/webhooks';
import { createNotificationHandler } from '@lab-operations/client/notifications';
import { openHealthData } from '@lab-operations/client/health-data';
import { signWebhook } from '@lab-operations/client/testing';
export const all = { errors, LabOperations, createWebhookHandler, createNotificationHandler, openHealthData, signWebhook };
// @ts-expect-error an option that does not exist
export const lab = LabOperations.connect({ addres: 'temporal:7233' });
`;

test('the declarations compile with TypeScript 5.4, which checks the libraries, too', async () => {
  // Node's newest types need TypeScript 5.6.
  const old = ['oldest-typescript@npm:typescript@5.4.5', '@types/node@20.19.0'];
  await run('npm', ['install', '--no-save', ...old, ...quietly], backend);
  await writeFile(join(backend, 'entries.ts'), allEntries);
  const tsc = join(backend, 'node_modules', 'oldest-typescript', 'bin', 'tsc');
  const strict = ['--strict', '--target', 'es2022', '--esModuleInterop', '--declaration', '--noEmit'];
  await run(
    process.execPath,
    [tsc, ...strict, '--module', 'commonjs', '--moduleResolution', 'node10', 'entries.ts'],
    backend,
  );
});
