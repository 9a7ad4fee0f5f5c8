import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { OrderState } from '../../client/index.js';
import { runLabops } from './labops.js';
import { patienceMs } from '../rig/patience.js';
import { isRunning, startProgram, type StartedProcess } from '../rig/processes.js';

/** They take about a minute and a half if a day is a second. */
const storiesWithinMs = 900_000;
/** Its programs may have to compile all sources first. */
const startedWithinMs = 240_000;
const whole = { timeout: storiesWithinMs + 3 * patienceMs };
const started = { timeout: 600_000 };

/** The demo's temporary folder: its remains can be checked, and are removed. */
let temporary = '';
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'demo-test-'));
  // Where its loader keeps what it has compiled: otherwise every program would compile all sources again.
  const compiled = `tsx-${userInfo().uid}`;
  await mkdir(join(tmpdir(), compiled), { recursive: true });
  await symlink(join(tmpdir(), compiled), join(temporary, compiled));
});
afterAll(() => rm(temporary, { recursive: true }));

async function logFolders(): Promise<string[]> {
  return (await readdir(temporary)).filter((name) => name.startsWith('lab-operations-demo-'));
}

/** The programs from the build of this run of the suite: sooner than from the sources. */
const built = { DEMO_PROGRAMS: inject('buildFolder') };

/** Everything at free ports, with the suite's Temporal. */
function startDemo(args: readonly string[], env: Record<string, string> = {}): Promise<StartedProcess> {
  const ports = [
    'DEMO_TEMPORAL_PORT',
    'DEMO_UI_PORT',
    'DEMO_CODEC_PORT',
    'SANDBOX_PORT',
    'INGRESS_PORT',
    'HEALTH_DATA_PORT',
  ];
  const anyPort = Object.fromEntries(ports.map((name) => [name, '0']));
  return startProgram('sandbox/demo/main.ts', {
    args,
    env: {
      TMPDIR: temporary,
      TEMPORAL_CLI: inject('devServerProgram'),
      ...anyPort,
      ...env,
    },
  });
}

interface Descendant {
  pid: number;
  command: string;
}

/** The processes that it has started, and those that these have started. */
async function descendantsOf({ pid }: StartedProcess): Promise<Descendant[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args=']);
  const all = stdout.split('\n').flatMap((line) => {
    const [, own, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return own === undefined ? [] : [{ pid: Number(own), parent: Number(parent), command }];
  });
  const below = (ancestor: number): Descendant[] =>
    all.filter(({ parent }) => parent === ancestor).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
}

/** A watchdog notices within a second that the program it watches has ended. */
async function expectGone(processes: readonly Descendant[]): Promise<void> {
  const left = async (): Promise<string[]> => {
    const running = await Promise.all(processes.map(({ pid }) => isRunning(pid)));
    return processes.flatMap(({ command }, index) => (running[index] ? [command] : []));
  };
  await expect.poll(left, { timeout: patienceMs }).toEqual([]);
}

function programsAmong(processes: readonly Descendant[]): string[] {
  const programs = ['server start-dev', 'sandbox/main.', 'workers/single-process.', 'workers/codec-server.'];
  return programs.filter((program) => processes.some(({ command }) => command.includes(program)));
}

test('with --once every story succeeds, the status is 0, and no process is left', whole, async () => {
  // A customer who changes her mind has a week: with a day of a second, a machine under load lets it pass.
  const demo = await startDemo(['--once'], { DEMO_DAY_SECONDS: '3' });
  await demo.waitFor(/Act 2 of/, storiesWithinMs);
  const processes = await descendantsOf(demo);
  expect(programsAmong(processes)).toHaveLength(4);
  await demo.waitFor(/stories succeeded/, storiesWithinMs);
  expect(await demo.exit, demo.output()).toEqual({ code: 0, signal: null });
  await expectGone(processes);
  expect(await logFolders()).toEqual([]);
  expect(demo.output()).toMatch(/16 of 16 stories succeeded/);
  expect(demo.output()).toMatch(/✔ kits {7}11: 10 orders and 1 replacement, with 1 lost answer; the lab made 1 more/);
  expect(demo.output()).toMatch(
    /http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/kit-order%2F[0-9a-f-]{36}\n/,
  );
  expect(demo.output()).toMatch(/workflows\/link-provider%2F[0-9a-f-]{36}%2Finvented_watch\n/);
  expect(demo.output()).toMatch(
    /asks for a code, and has sent one by sms to \*{3}-.+ 111111\n.+ 2 attempts left\n.+ the user types 123456\n.+: connected\n.+ ✉ the link has ended: connected/s,
  );
  expect(demo.output()).toMatch(/links {6}1 connected, with 2 codes sent to the provider/);
  expect(demo.output(), 'a question, though nobody can answer').not.toMatch(/type the code/);
  expect(demo.output(), 'a link token, or a page with it').not.toMatch(/lt_|token=/);
  expect(demo.output()).toMatch(
    /a critical result \(partial\): .+ reminder 1\n.+ nurse-17 calls .+ critical result \(final\): .+ nurse-17 calls again/s,
  );
  expect(demo.output()).toMatch(/✔ critical +completed: a person acknowledged both versions of the critical result/);
  expect(demo.output()).toMatch(/blood was drawn at the only appointment/);
  expect(demo.output()).toMatch(/completed and reviewed: 3 biomarkers, .+ is LOINC \d+-\d/);
  expect(demo.output()).toMatch(/registration reminder 2 with a portal link for the customer/);
  // The link itself is a credential: every other address is one of this machine.
  expect(demo.output().match(/https?:\/\/(?!127\.0\.0\.1)\S+/g)).toBeNull();
  expect(demo.output(), 'colours, though nobody watches').not.toContain('\u001b');
});

/** The Web UI's page asks the codec server that the Web UI names, for payloads as the Web UI gets them from Temporal. */
async function expectDecryptedFor(webUi: string): Promise<void> {
  const { origin } = new URL(webUi);
  const get = async (path: string): Promise<unknown> => (await fetch(`${origin}/api/v1${path}`)).json();
  const { Codec: codec } = (await get('/settings')) as { Codec: { Endpoint: string } };
  const placings = encodeURIComponent("WorkflowType = 'placeKitOrder'");
  const { executions } = (await get(`/namespaces/default/workflows?query=${placings}`)) as {
    executions: { memo: { fields: { inputDigest: { data: string } } } }[];
  };
  const payload = executions[0]?.memo.fields.inputDigest;
  const response = await fetch(`${codec.Endpoint}/decode`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json', 'x-namespace': 'default' },
    body: JSON.stringify({ payloads: [payload] }),
  });
  expect(response.headers.get('access-control-allow-origin')).toBe(origin);
  const { payloads } = (await response.json()) as { payloads: { data: string }[] };
  expect(Buffer.from(payload?.data ?? '', 'base64').toString('latin1')).not.toMatch(/^"[0-9a-f]{64}"$/);
  expect(Buffer.from(payloads[0]?.data ?? '', 'base64').toString('latin1')).toMatch(/^"[0-9a-f]{64}"$/);
}

test('the demo stays up after its stories, and Ctrl-C then ends everything with status 0', started, async () => {
  const demo = await startDemo(['--act', '1'], built);
  await demo.waitFor(/Everything stays up until Ctrl-C/, startedWithinMs);
  const [, webUi = ''] = await demo.waitFor(/Web UI {7}(http\S+)/);
  const [, lab = ''] = await demo.waitFor(/Lab service {2}(http\S+)/);
  expect((await fetch(webUi)).status).toBe(200);
  expect((await fetch(`${lab}/_sandbox/health`, { method: 'POST' })).status).toBe(200);
  await expectDecryptedFor(webUi);
  const [, address = '', keys = ''] = await demo.waitFor(
    /export TEMPORAL_ADDRESS=(\S+) LABOPS_ENCRYPTION_KEYS=(\S+)/,
    startedWithinMs,
  );
  const env = { TEMPORAL_ADDRESS: address, LABOPS_ENCRYPTION_KEYS: keys };
  const listed = await runLabops(['orders', 'list', '--attention'], { env });
  expect(listed.stdout, listed.stderr).toContain('demo-left-over');
  const shown = await runLabops(['orders', 'show', '--reference', 'demo-left-over'], { env });
  expect(shown.stdout, shown.stderr).toContain('decision needed');
  const asked = await runLabops(['orders', 'show', '--reference', 'demo-left-over', '-o', 'json'], { env });
  const { waiting } = JSON.parse(asked.stdout) as OrderState;
  expect(Date.parse(waiting.until ?? '') - Date.now()).toBeGreaterThan(20 * 86_400_000);
  const { orderId } = JSON.parse(asked.stdout) as OrderState;
  const resolved = await runLabops(['orders', 'resolve-problem', orderId, '--decision', 'replace'], { env });
  expect(resolved.stdout, resolved.stderr).toMatch(/replacement/);
  const watched = await runLabops(['orders', 'watch', orderId], { env });
  expect(watched.stdout.trimEnd().split('\n').at(-1), watched.stderr).toContain('completed');
  const processes = await descendantsOf(demo);
  expect(await demo.stop('SIGINT'), demo.output()).toEqual({ code: 0, signal: null });
  await expectGone(processes);
});

describe('nothing is left behind', started, () => {
  /** Act 1 then lasts a minute from the first line of its kit, so the test always ends it first. */
  const slowly = { ...built, DEMO_DAY_SECONDS: '5' };

  test('nothing is left behind by an end in the middle of a story', async () => {
    const demo = await startDemo(['--once'], slowly);
    await demo.waitFor(/kit ordered/, startedWithinMs);
    const processes = await descendantsOf(demo);
    expect(programsAmong(processes)).toHaveLength(4);
    expect(await demo.stop('SIGTERM')).toEqual({ code: 143, signal: null });
    await expectGone(processes);
    expect(demo.output()).toMatch(/SIGTERM: stopping before the stories have ended/);
    expect(demo.output()).not.toMatch(/✘|Act 2/);
  });

  test('nothing is left behind when a part of the demo breaks: the part is named, with its last lines and its log', async () => {
    const demo = await startDemo([], slowly);
    await demo.waitFor(/kit ordered/, startedWithinMs);
    const processes = await descendantsOf(demo);
    const worker = processes.find(
      ({ command }) => command.endsWith('workers/single-process.js') && !command.includes('watchdog'),
    );
    process.kill(worker?.pid ?? 0, 'SIGKILL');
    expect(await demo.exit).toEqual({ code: 1, signal: null });
    await expectGone(processes);
    expect(demo.output()).toMatch(/The worker ended by itself \(SIGKILL\); its last lines:\n {2}.*"msg"/);
    expect(demo.output()).not.toMatch(/✘|Act 2/);
    const [, log = ''] = /Its whole log: (\S+worker\.log)/.exec(demo.output()) ?? [];
    expect(await readFile(log, 'utf8')).toMatch(/worker and ingress started/);
  });
});

describe('before anything is started', () => {
  test('busy ports are reported all at once, each with the setting that changes it', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const alsoTaken = createServer().listen(0, '127.0.0.1');
    await once(alsoTaken, 'listening');
    const [uiPort, ingressPort] = [taken, alsoTaken].map((server) => (server.address() as AddressInfo).port);
    const demo = await startDemo([], { DEMO_UI_PORT: String(uiPort), INGRESS_PORT: String(ingressPort) });
    expect(await demo.exit).toEqual({ code: 1, signal: null });
    taken.close();
    alsoTaken.close();
    expect(demo.output()).toContain(`Port ${uiPort} for Temporal's Web UI is in use by another program`);
    expect(demo.output()).toMatch(/set DEMO_UI_PORT to a free port/);
    expect(demo.output()).toContain(`Port ${ingressPort} for the ingress is in use by another program`);
    expect(demo.output()).toMatch(/set INGRESS_PORT to a free port/);
    expect(demo.output()).not.toMatch(/starting|logs/);
  });

  test('an unknown argument ends the demo with status 2 and the usage', async () => {
    const demo = await startDemo(['--onec']);
    expect(await demo.exit).toEqual({ code: 2, signal: null });
    expect(demo.output()).toMatch(/Unknown option '--onec'[\s\S]+Usage: npm run demo/);
  });
});
