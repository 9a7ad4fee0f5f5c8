import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import type { Command } from 'commander';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Deadline } from '../../../client/call-options.js';
import type { Connect } from '../../../client/command-line/command-line.js';
import { createProgram, version } from '../../../client/command-line/program.js';
import { errors, LabOperations, type ListOptions, type PolicyChange } from '../../../client/index.js';
import { AppointmentHandle } from '../../../client/appointment/appointment-handle.js';
import { LinkHandle } from '../../../client/link/link-handle.js';
import { MatchReviewHandle } from '../../../client/match-review/match-review-handle.js';
import { OrderHandle } from '../../../client/order/order-handle.js';
import { ReportHandle } from '../../../client/report/report-handle.js';
import { DeletionHandle } from '../../../client/user/deletion-handle.js';
import { schemaFaults } from '../../rig/json-schemas.js';
import { projectFolder } from '../../rig/processes.js';
import { labops, neverConnects, RecordedTerminal } from './recording-terminal.js';

/** Notes the options that a command connects with, and does nothing. */
async function connectedWith(line: string) {
  const options: Parameters<Connect>[0][] = [];
  const connect: Connect = (given) => {
    options.push(given);
    return Promise.reject(new errors.TemporalUnreachable('invented'));
  };
  return { ...(await labops(line, new RecordedTerminal(), connect)), options };
}

/** A client whose Temporal is nowhere. */
const unconnected = (options: { deadline?: Deadline } = {}) =>
  new LabOperations(new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) }), options);

function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

const program = createProgram(new RecordedTerminal(), neverConnects);
const commands = leaves(program);

const mustBeDuration = /must be a duration/;

test.each([
  ['', /A command is missing\. See --help\.\n$/],
  ['orders', /A command is missing\. See --help\.\n$/],
  ['nonsense', /^UsageError: unknown command 'nonsense'\. See --help\.\n$/],
  ['orders lst', /^UsageError: unknown command 'lst' \(Did you mean list\?\)\. /],
  ['orders list --limt 3', /unknown option '--limt'/],
  ['orders list --phase bogus', /Unknown phase bogus\. Known phases: placing, preparing, awaiting_registration, /],
  ['orders list --attention bogus', /Unknown reason bogus\. Known reasons: shipping_overdue, /],
  ['webhooks list --org-id o --team-id t --environment bogus', /Allowed choices are production, sandbox/],
  ...['0', '1.5'].map((n): [string, RegExp] => [`orders list --limit ${n}`, /must be a whole number above 0/]),
  ['orders list --timeout soon', /must be a duration with its unit, such as 90s or 5m, from 1s to 365d/],
  ...['0s', '20', '20 ', '1.5', '999ms', '366d'].map((n): [string, RegExp] => [
    `orders list --timeout ${n}`,
    mustBeDuration,
  ]),
  ['orders show', /Give one order: its id, or --reference/],
  ['orders set-policy --file policy.json', /Name the orders/],
  ['orders set-policy --file policy.json --all --user user-1', /Name the orders/],
  ['orders show order-1 --reference mine', /Give one order/],
  ['orders show order-1 order-2', /too many arguments/],
  ['orders place', /required option '--file <path>' not specified/],
  ['orders place --file /nowhere', /The file \/nowhere cannot be read \(ENOENT\)/],
  ['orders resolve-problem --decision wait', /missing required argument 'order-id'/],
  ['orders replace-kit', /missing required argument 'order-id'/],
  ['orders resolve-problem order-1', /required option '--decision <decision>' not specified/],
  ['orders resolve-problem order-1 --decision perhaps', /Allowed choices are wait, replace, abandon/],
  ['links start --user user-1', /required option '--provider <slug>' not specified/],
  ['links submit-mfa-code --user user-1 --provider invented', /pass it with --stdin/],
  ['reports show', /Give one report/],
  ['users request-deletion user-1', /use --yes/],
  ['users request-deletion user-1 --yes --grace-days none', /must be a number of days above 0/],
  ['webhooks delete ep_1 --org-id o --team-id t --environment sandbox', /use --yes/],
  ['appointments choose order-1', /required option '--slot <slot-id>' not specified/],
  ['appointments choose order-1 --slot s --notes-file /nowhere', /The file \/nowhere cannot be read/],
  ['rejected-events list --state lost', /Allowed choices are waiting, replayed, discarded/],
  ['rejected-events replay', /Give one event's id, or --all/],
  ['rejected-events replay 17 --all', /Give one event's id/],
  ['rejected-events replay --type some.type', /Give one event's id/],
  ['rejected-events discard 17', /required option '--reason <text>' not specified/],
  ['rejected-events discard 17 --reason invented', /use --yes/],
  ['orders reconcile --from 2026-01-01', /required option '--to <time>' not specified/],
  ...['replay --open 200', 'doctor', 'migrate', 'service sites', 'audit'].map((line): [string, RegExp] => [
    ...([line, /is part of the worker, not of this package/] as const),
  ]),
])('wrong usage exits with 2 and says what is wrong, on standard error alone: labops %s', async (line, said) => {
  expect(await labops(line)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(said) as string });
  const inJson = await labops(`${line} -o json`);
  expect(inJson).toMatchObject({ code: 2, stdout: '' });
  const message = expect.any(String) as string;
  const answered: unknown = JSON.parse(inJson.stderr);
  expect(answered).toMatchObject({ error: { name: 'UsageError', message } });
  expect(schemaFaults('labops', 'failed', answered)).toEqual([]);
});

describe('the example of a body', () => {
  const bodies = [
    'orders place --file',
    'orders adopt --file',
    'orders register order-1 --file',
    'orders set-policy --all --file',
    'links report-link-result --user user-1 --provider invented --file',
    'reports submit --file',
    'webhooks set-headers w-1 --org-id o --team-id t --environment sandbox --file',
  ];

  const commandIn = (line: string) => line.split(' ').slice(0, 2).join(' ');

  test.each(bodies)('is printed by `labops %s`, alone, and taken by it', async (line) => {
    const { code, stdout, stderr } = await labops(`${commandIn(line)} --example`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const terminal = new RecordedTerminal({ files: { '-': stdout } });
    const taken = await labops(`${line} - --timeout 1s`, terminal, async () => unconnected({ deadline: '1s' }));
    // It was sent, if only to a Temporal that is nowhere.
    expect(taken.code).toBe(1);
    expect(taken.stdout + taken.stderr).toMatch(/TemporalUnreachable|TimedOut|EncryptionRequired/);
  });

  test('is there for every command with a body', () => {
    const withBody = commands.filter(({ options }) => options.some(({ long }) => /^--(set-)?file$/.test(long ?? '')));
    expect(withBody.map(nameOf).toSorted()).toEqual(bodies.map(commandIn).toSorted());
  });
});

describe('a file', () => {
  test.each([
    ['not JSON', '{"receiver_name": Testperson'],
    ['not JSON', ''],
    ['not a JSON object', '"Testperson"'],
    ['not a JSON object', '[{}]'],
    ['not a JSON object', 'null'],
  ])('a file that is %s is refused without quoting it', async (what, text) => {
    const terminal = new RecordedTerminal({ files: { 'order.json': text, '-': text } });
    for (const path of ['order.json', '-']) {
      const { code, stderr } = await labops(`orders place --file ${path}`, terminal);
      expect(code).toBe(2);
      expect(stderr).toContain(what);
    }
    expect(terminal.stderr).not.toContain('Testperson');
  });

  test.each([
    'orders place --file',
    'orders register order-1 --file',
    'orders set-policy --all --file',
    'orders acknowledge-critical-result order-1 --by Testperson --outcome confirmed --note-file',
    'reports submit --file',
    'users request-deletion user-1 --yes --client-user-id-file',
    'webhooks set-headers ep_1 --org-id o --team-id t --environment sandbox --file',
    'webhooks rotate ep_1 --org-id o --team-id t --environment sandbox --secret-file',
  ])('that is not UTF-8 is refused before anything is sent: %s', async (line) => {
    const text = Buffer.from('{ "receiver_name": "Jürgen" }', 'latin1');
    for (const path of ['order.json', '-']) {
      const terminal = new RecordedTerminal({ files: { 'order.json': text, '-': text } });
      const { code, stderr } = await labops(`${line} ${path}`, terminal);
      expect(stderr).toContain(' is not UTF-8: the byte at position 21, counted from 0, is wrong.');
      expect({ code, quotes: stderr.includes('rgen') }).toEqual({ code: 2, quotes: false });
    }
  });

  test('a file and standard input may begin with a byte order mark', async () => {
    const text = '\uFEFF{ "unknown": true }';
    for (const path of ['order.json', '-']) {
      const terminal = new RecordedTerminal({ files: { 'order.json': text, '-': text } });
      const { stderr } = await labops(`orders place --file ${path}`, terminal, async () => unconnected());
      expect(stderr).toMatch(/^OrderInvalid: /);
    }
  });

  test.each([
    ['orders place --file -', {}, 'OrderInvalid'],
    ['orders register order-1 --file -', { sample_id: 17 }, 'RegistrationRefused'],
    ['reports submit --file -', {}, 'ReportInvalid'],
  ])('that breaks a rule is wrong usage: %s', async (line, content, name) => {
    const lab = unconnected();
    // Its chain is not looked up: what breaks a rule is refused before anything is sent.
    Object.assign(lab.orders, { getHandle: () => Promise.resolve(new OrderHandle(undefined as never, {})) });
    const terminal = new RecordedTerminal({ files: { '-': JSON.stringify(content) } });
    const stderr = expect.stringMatching(`^${name}: `) as string;
    expect(await labops(line, terminal, async () => lab)).toEqual({ code: 2, stdout: '', stderr });
  });
});

describe('a question', () => {
  test('a question that is not answered with yes sends nothing', async () => {
    const terminal = new RecordedTerminal({ answers: ['y'] });
    const stderr = 'NotConfirmed: Not confirmed: nothing was sent.\n';
    expect(await labops('users request-deletion user-1', terminal)).toMatchObject({ code: 1, stderr });
    expect(terminal.asked).toEqual([{ question: expect.stringContaining('user-1') as string, hidden: false }]);
  });

  test('is not asked if a program reads the answer', async () => {
    const terminal = new RecordedTerminal({ answers: ['yes'] });
    expect(await labops('users request-deletion user-1 -o json', terminal)).toMatchObject({ code: 2 });
    expect(terminal.asked).toEqual([]);
  });

  test('a question for a code hides what is typed', async () => {
    const terminal = new RecordedTerminal({ answers: ['123456'] });
    await labops('links submit-mfa-code --user user-1 --provider invented', terminal);
    expect(terminal.asked).toEqual([{ question: 'Code: ', hidden: true }]);
    expect(terminal.stdout + terminal.stderr).not.toContain('123456');
  });
});

describe('a failure', () => {
  const unreachable = () =>
    Promise.reject(new errors.TemporalUnreachable('Temporal cannot be reached', { cause: 'why' }));

  test('exits with 1 and one line; the stack trace is printed on request', async () => {
    const short = await labops('orders list', new RecordedTerminal(), unreachable);
    expect(short).toEqual({ code: 1, stdout: '', stderr: 'TemporalUnreachable: Temporal cannot be reached.\n' });
    const long = await labops('orders list --verbose', new RecordedTerminal(), unreachable);
    expect(long.stderr).toMatch(/^TemporalUnreachable: .*\n.*\n +at /);
    const inJson = await labops('orders list --verbose -o json', new RecordedTerminal(), unreachable);
    expect(JSON.parse(inJson.stderr)).toMatchObject({ error: { stack: expect.stringContaining(' at ') as string } });
  });

  test('replaces the line of progress', async () => {
    const watched = new RecordedTerminal({ isWatched: true });
    const { code, stdout, stderr } = await labops('orders list', watched, unreachable);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/connecting… \d+ s/);
    const [, error] = stderr.split('\r\u001B[2K').slice(-2);
    expect(error).toMatch(/^TemporalUnreachable: .*\n$/);
  });
});

/** A file of orders to adopt, as a spreadsheet writes it. */
const csv = '\uFEFForder_id,reference\r\no-1,mine-1\r\no-2,mine-2\r\n\r\no-3,mine-3\r\n';

describe('Ctrl-C', () => {
  /** Interrupts the command at its first call, which has no answer. */
  async function interrupted(line: string) {
    const terminal = new RecordedTerminal({ isWatched: true, files: { '-': '{ "reference": "ref-1" }', csv } });
    let end = (_reason: Error): void => undefined;
    const silence = new Promise<never>((_resolve, reject) => (end = reject));
    const call = () => {
      setImmediate(() => terminal.interrupt());
      return Object.assign(silence, { [Symbol.asyncIterator]: () => ({ next: () => silence }) });
    };
    const area = new Proxy({}, { get: () => call });
    const lab = new Proxy({}, { get: (_target, name) => (name === 'then' ? undefined : area) });
    const { stderr, ...ran } = await labops(line, terminal, () => Promise.resolve(lab as LabOperations));
    end(new Error('The process would have ended'));
    const [, progress = '', said = ''] = /^([^\n]*)\n([^]*)$/.exec(stderr) ?? [];
    return { ...ran, progress, stderr: said };
  }

  const place = '--org-id o --team-id t --environment sandbox';
  const changing: [line: string, next: string][] = [
    ['orders place --file -', 'orders cancel --reference ref-1'],
    ['orders place --file - --no-wait', 'orders cancel --reference ref-1'],
    ['orders register order-1 --file -', 'orders show order-1'],
    ['orders cancel --reference ref-2', 'orders show --reference ref-2'],
    ['orders resolve-problem order-1 --decision wait', 'orders show order-1'],
    ['orders resolve-problem order-1 --decision replace', 'orders cancel'],
    ['orders replace-kit order-1', 'orders cancel'],
    ['orders acknowledge-critical-result order-1 --by p-1 --outcome confirmed', 'orders show order-1'],
    ['links start --user u-1 --provider invented', 'links cancel --user u-1 --provider invented'],
    ['links report-link-result --user u-1 --provider invented --file -', 'links show --user u-1 --provider invented'],
    ['links submit-mfa-code --user u-1 --provider invented --stdin', 'links show --user u-1 --provider invented'],
    ['links cancel --user u-1 --provider invented', 'links show --user u-1 --provider invented'],
    ['reports submit --file -', 'reports cancel --reference ref-1'],
    ['reports cancel job-1', 'reports show job-1'],
    ['users request-deletion u-1 --yes', 'users undo u-1'],
    ['users undo u-1', 'users show u-1'],
    ['appointments start order-1', 'appointments cancel order-1'],
    ['appointments choose order-1 --slot s-1', 'appointments show order-1'],
    ['appointments request order-1 --provider invented', 'appointments show order-1'],
    ['appointments reschedule order-1 --slot s-1', 'appointments show order-1'],
    ['appointments cancel order-1', 'appointments show order-1'],
    ['match-reviews start r-1', 'match-reviews show r-1'],
    ['match-reviews accept r-1', 'match-reviews show r-1'],
    ['match-reviews reject r-1', 'match-reviews show r-1'],
    ['match-reviews mark-unsure r-1', 'match-reviews show r-1'],
    ['notifications resend kit-order/o-1', 'notifications show kit-order/o-1'],
    ['notifications discard kit-order/o-1 n-1 --yes', 'notifications show kit-order/o-1'],
    [`webhooks register ${place} --url https://labs.example.com`, 'webhooks list'],
    [`webhooks update w-1 ${place} --disable`, 'webhooks list'],
    [`webhooks enable w-1 ${place}`, 'webhooks list'],
    [`webhooks set-headers w-1 ${place} --file -`, 'webhooks list'],
    [`webhooks rotate w-1 ${place}`, 'webhooks list'],
    [`webhooks delete w-1 ${place} --yes`, 'webhooks list'],
    ['notifications replay --since 2026-01-01', 'the same command'],
    ['rejected-events replay --all', 'rejected-events list'],
    ['rejected-events discard 17 --reason invented --yes', 'rejected-events list'],
    ['placing stop --reason invented', 'placing show'],
    ['placing resume', 'placing show'],
    ['orders set-policy --all --file -', 'orders set-policy'],
    ['orders adopt --file csv', 'orders adopt'],
    ['orders reconcile --from 2026-01-01 --to 2026-01-02', 'the same command'],
  ];

  test.each(changing)('at `labops %s` prints one line with what comes next, and exits with 130', async (line, next) => {
    const { stderr, ...ran } = await interrupted(line);
    expect(ran).toMatchObject({ code: 130, stdout: '' });
    expect(stderr).toMatch(/^Interrupted: .* may .*\.\n$/);
    expect(stderr).toContain(next.startsWith('the same') ? next : `\`labops ${next}`);
  });

  const watchable = ['orders', 'links', 'reports', 'appointments', 'match-reviews'];
  const reading = [
    ...[...watchable, 'notifications', 'webhooks', 'rejected-events'].map((area) => `${area} list`),
    ...[...watchable, 'notifications', 'webhooks', 'users', 'placing'].map((area) => `${area} show`),
    ...watchable.map((area) => `${area} watch`),
    ...['users receipt', 'users verify-receipt', 'links url', 'appointments slots', 'doctor', 'replay', 'migrate'],
    ...['orders open', 'completion', 'audit', 'service', 'keys status', 'users export', 'webhooks read-headers'],
  ];

  test('is left to the shell by no other command than those that only read', () => {
    const others = commands.map(nameOf).filter((name) => !changing.some(([line]) => `${line} `.startsWith(`${name} `)));
    expect(others.toSorted()).toEqual(reading.toSorted());
  });

  test('leaves the line that says how far the command has come', async () => {
    expect((await interrupted('orders adopt --file csv')).progress).toMatch(
      /adopting: 0 of 3, 0 not adopted… \d+ s\S*$/,
    );
  });

  test('before anything was sent says so, and nothing is sent or shown any more', async () => {
    const terminal = new RecordedTerminal({ isWatched: true });
    let came = (_what: string): void => undefined;
    const next = new Promise((resolve) => (came = resolve));
    const ran = labops('orders cancel order-1', terminal, async () => {
      terminal.interrupt();
      return { orders: { getHandle: () => came('sent') }, close: async () => came('closed') } as never;
    });
    expect(await next).toBe('closed');
    expect((await ran).code).toBe(130);
    expect(terminal.stderr).toMatch(/connecting… \d+ s\S*\nInterrupted: Nothing was sent\.\n$/);
  });

  test('after the answer says nothing', async () => {
    const lab = {
      notifications: { resend: () => Promise.resolve({ undelivered: [] }) },
      close: () => Promise.resolve(expect(answered.interrupted.size).toBe(0)),
    };
    const answered = new RecordedTerminal();
    const sent = labops('notifications resend kit-order/o-1', answered, () => Promise.resolve(lab as never));
    expect(await sent).toMatchObject({ code: 0, stderr: '' });
  });

  test('with -o json is an error like any other', async () => {
    const { code, stdout, stderr } = await interrupted('reports submit --file - -o json');
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { name: 'Interrupted' } });
  });
});

test('every command has the name of the call that it makes', () => {
  const handles = {
    ...{ orders: OrderHandle, links: LinkHandle, reports: ReportHandle, users: DeletionHandle },
    ...{ appointments: AppointmentHandle, matchReviews: MatchReviewHandle },
  };
  const asInCode = (name: string) => name.replaceAll(/-./g, ([, letter = '']) => letter.toUpperCase());
  const callsOf = (area: string): string[] => {
    const operations = unconnected()[area as 'orders'] as object | undefined;
    const handle = handles[area as keyof typeof handles] as { prototype: object } | undefined;
    return [operations && (Object.getPrototypeOf(operations) as object), handle?.prototype].flatMap((its) =>
      its ? Object.getOwnPropertyNames(its) : [],
    );
  };
  const meant: Readonly<Record<string, string[]>> = { show: ['state', 'read'], list: ['list', 'readAll'] };
  const others = commands.map(nameOf).filter((name) => {
    const [area = '', command = ''] = name.split(' ');
    const calls = callsOf(asInCode(area));
    return !(meant[command] ?? [asInCode(command)]).some((call) => calls.includes(call));
  });
  const ofTheWorker = ['doctor', 'replay', 'migrate', 'service', 'audit'];
  const withoutCall = ['completion', 'keys status', 'orders open', 'users verify-receipt'];
  expect(others.toSorted()).toEqual([...ofTheWorker, ...withoutCall].toSorted());
});

test('the JSON of every command but those that print something else has a schema', async () => {
  const schemas = await readFile(join(projectFolder, 'client/schemas/labops.json'), 'utf8');
  const defined = Object.keys((JSON.parse(schemas) as { $defs: object }).$defs).filter((name) => /^[a-z]/.test(name));
  const others = ['audit', 'completion', 'service'];
  const ofAudit = ['list', 'export', 'import', 'verify', 'heads', 'remove'].map((command) => `audit ${command}`);
  const ofWorker = [...ofAudit, 'service providers', 'service resend', 'service sites'];
  const answering = [...ofWorker, ...commands.map(nameOf).filter((name) => !others.includes(name))];
  expect(defined.toSorted()).toEqual([...answering.map((name) => name.replace(' ', '.')), 'failed'].toSorted());
});

test.each(['-o yaml', '--output=xml'])('labops %s names the formats that there are', async (option) => {
  const stderr = expect.stringContaining('Allowed choices are table, json, jsonl') as string;
  expect(await labops(`orders list ${option}`)).toMatchObject({ code: 2, stderr });
});

describe('the help', () => {
  test('is printed on standard output, for the program, its areas and its commands', async () => {
    for (const line of ['--help', 'orders --help', 'orders place --help', 'help orders']) {
      const { code, stdout, stderr } = await labops(line);
      expect({ code, stderr }, line).toEqual({ code: 0, stderr: '' });
      expect(stdout, line).toMatch(/^Usage: labops /);
      expect(stdout, line).toContain('--output');
    }
  });

  test('says what every command and every option is for', () => {
    expect(commands.length).toBeGreaterThan(20);
    for (const command of [...commands, ...program.commands]) {
      expect(command.description(), nameOf(command)).toMatch(/^[a-z].{10,}[^.]$/);
      for (const { flags, description } of command.options) expect(description, flags).not.toBe('');
    }
  });

  test('has no option for what is secret or personal: those come in files, on standard input, or are prompted for', () => {
    const names = commands.flatMap((command) => command.options.map(({ long }) => long ?? ''));
    const found = names.filter((name) => /secret$|token|password|address|name$|dob|phone|--code/.test(name));
    // A switch, which shows it.
    expect(found).toEqual(['--show-secret', '--show-secret']);
  });
});

test('the version is that of the package', async () => {
  const manifest = await readFile(join(projectFolder, 'client/package.json'), 'utf8');
  expect(JSON.parse(manifest)).toMatchObject({ version });
  expect(await labops('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

describe('labops orders set-policy', () => {
  const waiting = { for: 'the kit to be shipped' };
  const shipping = { name: 'shipping_overdue', before: '2026-01-06T00:00:00.000Z', after: '2026-01-09T00:00:00.000Z' };
  const moved = [shipping, { name: 'give_up', before: '2026-03-07T00:00:00.000Z' }];
  const changed = { rootOrderId: 'order-1', reference: 'mine-1', before: waiting, after: waiting, moved };
  const error = new errors.OrderInvalid('creationSettling must be longer', { fields: [] });
  const refused = { rootOrderId: 'order-2', error };

  /** @param last what it ends with, if something goes wrong for every order */
  async function setPolicy(more: string, changes: PolicyChange[], last?: Error) {
    const lab = unconnected();
    const selections: unknown[] = [];
    Object.assign(lab.orders, {
      async *setPolicy(selection: unknown) {
        selections.push(selection);
        yield* changes;
        if (last) throw last;
      },
    });
    const terminal = new RecordedTerminal({ isWatched: true, files: { '-': '{"shippingDeadline":"8d"}' } });
    const told = await labops(`orders set-policy --file - ${more}`, terminal, () => Promise.resolve(lab));
    return { ...told, selections };
  }

  test('shows times as from now, if asked', async () => {
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ now: new Date('2026-01-07T00:00:00Z'), toFake: ['Date'] });
    const { stdout } = await setPolicy('--all --time-format relative', [changed]);
    expect(stdout).toContain('shipping overdue  1 day ago         2 days from now\n');
    const { stdout: json } = await setPolicy('--all --time-format relative -o json', [changed]);
    expect(json).toContain('2026-01-09T00:00:00');
  });

  test('shows what moves for each order, and which orders were not changed and why, and fails', async () => {
    const { code, stdout, stderr } = await setPolicy('--all', [changed, refused]);
    expect(code).toBe(1);
    expect(stdout).toContain('order-1  mine-1     shipping overdue  2026-01-06T00:00:00Z  2026-01-09T00:00:00Z');
    expect(stdout).toContain('order-1  mine-1     give up           2026-03-07T00:00:00Z\n');
    expect(stdout).toMatch(/order-2 +OrderInvalid: creationSettling must be longer/);
    expect(stderr).toMatch(/changing: 2 orders… \d+ s/);
    expect(stderr).toMatch(/NotAllChanged: 1 of 2 orders cannot be changed/);
  });

  test('says the same as JSON', async () => {
    const { code, stdout } = await setPolicy('--all --dry-run -o json', [changed, refused]);
    expect(code).toBe(1);
    const shown = expect.objectContaining({ name: 'OrderInvalid', message: error.message }) as unknown;
    const failed = [{ rootOrderId: 'order-2', error: shown }];
    expect(JSON.parse(stdout)).toEqual({ orders: [changed], failed, dryRun: true });
  });

  test.each(['', '-o json'])('names what was changed before an error that concerns every order: %s', async (json) => {
    const away = new errors.TemporalUnreachable('away');
    const { code, stdout, stderr } = await setPolicy(`--all ${json}`, [changed], away);
    expect(code).toBe(1);
    expect(stdout).toContain('order-1');
    expect(stderr).toContain('TemporalUnreachable');
  });

  test.each([
    ['--all', { all: true }],
    ['--user user-1', { userId: 'user-1' }],
    ['--phase preparing --attention', { phase: 'preparing', attention: true }],
  ])('selects orders: %s', async (options, selection) => {
    const { code, selections } = await setPolicy(options, [changed]);
    expect(code).toBe(0);
    expect(selections).toEqual([selection]);
  });
});

test.each([
  ['notifications', 'workflows', {}],
  ['rejected-events', 'events', { waiting: 7 }],
])('a page of `labops %s list` takes a token, and shows the next one', async (area, what, rest) => {
  const lab = unconnected();
  const asked: unknown[] = [];
  async function* list(...given: unknown[]) {
    const { page } = given.at(-1) as Required<ListOptions>;
    asked.push([page.limit, page.after]);
    yield {};
    page.onNext('token-2');
  }
  Object.assign(lab.notifications, { list });
  Object.assign(lab.rejectedEvents, { list, count: () => Promise.resolve(7) });
  const answer = await labops(`${area} list --limit 1 --after token-1 -o json`, undefined, () => Promise.resolve(lab));
  expect(JSON.parse(answer.stdout)).toEqual({ [what]: [{}], ...rest, next: 'token-2' });
  expect(asked).toEqual([[1, 'token-1']]);
});

test('a replay of rejected events says on a terminal how many are handled', async () => {
  const lab = unconnected();
  Object.assign(lab.rejectedEvents, {
    replay: async (_which: unknown, { onProgress }: { onProgress: (progress: object) => void }) => {
      onProgress({ replayed: { delivered: 40, stored: 5 }, left: { not_handled: 5 } });
      return { replayed: { delivered: 41 }, left: {}, leftEvents: [] };
    },
  });
  const terminal = new RecordedTerminal({ isWatched: true });
  const { code, stderr } = await labops('rejected-events replay --all', terminal, () => Promise.resolve(lab));
  expect(code).toBe(0);
  expect(stderr).toMatch(/replaying: 45 handled, 5 still waiting… \d+ s/);
});

describe('labops orders adopt', () => {
  const taken = new errors.OrderTaken('Order o-2 has the reference theirs');

  /** @param second what comes of the second order */
  async function adopt(more: string, second: Error = taken) {
    const lab = unconnected();
    const asked: unknown[] = [];
    const answer = async (order: { orderId: string }, options: unknown) => {
      asked.push([order, options]);
      if (order.orderId === 'o-2') throw second;
      return { ...order, outcome: order.orderId === 'o-1' ? 'adopted' : 'already_adopted' };
    };
    Object.assign(lab.orders, { adopt: answer });
    const terminal = new RecordedTerminal({ isWatched: true, files: { csv } });
    return { ...(await labops(`orders adopt --file csv ${more}`, terminal, () => Promise.resolve(lab))), asked };
  }

  test('adopts one order of the file after the other, says how many are done, and fails if one is refused', async () => {
    const { code, stdout, stderr, asked } = await adopt('');
    expect(code).toBe(1);
    const orders = [1, 2, 3].map((n) => [{ orderId: `o-${n}`, reference: `mine-${n}` }, { dryRun: false }]);
    expect(asked).toEqual(orders);
    expect(stdout).toMatch(/^Adopted +1\nAlready adopted +1\nNot adopted +1\n\nOrder +Reference +Why not\n/);
    expect(stdout).toMatch(/\no-2 +mine-2 +OrderTaken: Order o-2 has the reference theirs\n$/);
    expect(stderr).toMatch(/adopting: 2 of 3, 1 not adopted… \d+ s/);
    expect(stderr).toMatch(/NotAllChanged: 1 of 3 orders are not adopted/);
  });

  test('says the same as JSON, and of a dry run what would be', async () => {
    const { stdout, asked } = await adopt('--dry-run -o json');
    const shown = expect.objectContaining({ name: 'OrderTaken', message: taken.message }) as unknown;
    const [first, second, third] = [1, 2, 3].map((n) => ({ orderId: `o-${n}`, reference: `mine-${n}` }));
    const orders = [
      { ...first, outcome: 'adopted' },
      { ...third, outcome: 'already_adopted' },
    ];
    expect(JSON.parse(stdout)).toEqual({ orders, failed: [{ ...second, error: shown }], dryRun: true });
    expect(asked[0]).toMatchObject([{}, { dryRun: true }]);
    expect((await adopt('--dry-run')).stdout).toMatch(/^Can be adopted +1\n/);
  });

  test('ends at what concerns every order, with what was done before', async () => {
    expect((await adopt('', new errors.ServiceDown('away'))).asked).toHaveLength(3);
    const { stdout, stderr, asked } = await adopt('', new errors.NoWorker('mine', ''));
    expect(asked).toHaveLength(2);
    expect(stdout).toMatch(/^Adopted +1\n/);
    expect(stderr).toMatch(/NoWorker: /);
  });

  const header = 'orderId,reference\n';
  test.each([
    ['', /The first line of the file must be orderId,reference\./],
    ['reference;orderId\nmine-1;o-1', /The first line/],
    ['orderId,reference,name\no-1,mine-1,Invented', /The first line/],
    [header, /The file has no orders\./],
    ['reference,orderId\nmine-1,o-1\nmine-2\n', /line 3: must have two columns; line 3: orderId must be /],
    [`${header}"o-1",mine 1`, /line 2: orderId must be .*; line 2: reference must match /],
    [`${header}o-1,mine\no-2,mine\no-1,b`, /line 3: reference is that of line 2; line 4: orderId is that of line 2/],
  ])('sends nothing if a line is at fault, and names it without a word of it: %j', async (content, said) => {
    const terminal = new RecordedTerminal({ files: { '-': content } });
    const { stderr, ...ran } = await labops('orders adopt --file -', terminal);
    expect(ran).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(said);
    expect(stderr).not.toMatch(/mine|Invented/);
  });
});

describe('labops appointments', () => {
  test('choose may take as long as a booking, while start takes the usual time', async () => {
    const choosing = await connectedWith('appointments choose order-1 --slot invented');
    expect(choosing).toMatchObject({ code: 1, options: [{ deadline: '10m' }] });
    expect(await connectedWith('appointments start order-1')).toMatchObject({ code: 1, options: [{ deadline: '5m' }] });
  });

  test('slots prints a lack of them as a sentence for people, and as an empty list for programs', async () => {
    const none = { slots: [], timezone: 'America/Phoenix' };
    const handle = { slots: () => Promise.resolve(none) };
    const lab = { appointments: { getHandle: () => Promise.resolve(handle) }, close: () => Promise.resolve() } as never;
    const slots = (line = '') => labops(`appointments slots order-1${line}`, new RecordedTerminal(), async () => lab);
    expect(await slots()).toMatchObject({ code: 0, stdout: 'No slots in these days.\n' });
    const { code, stdout } = await slots(' -o json');
    expect([code, JSON.parse(stdout)]).toEqual([0, none]);
  });
});

test.each(['', ' '])('a TASK_QUEUE of %j is not set', async (blank) => {
  vi.stubEnv('TASK_QUEUE', blank);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await connectedWith('orders list')).options).toMatchObject([{ taskQueue: 'lab-operations' }]);
});

test.skipIf(!existsSync('/dev/full'))('labops fails if a full disk does not take its answer', async () => {
  const command = `${process.execPath} labops.js --version > /dev/full`;
  const written = promisify(execFile)('sh', ['-c', command], { cwd: projectFolder });
  await expect(written).rejects.toMatchObject({ code: 1, stderr: 'The answer could not be written (ENOSPC).\n' });
});

test('the flags of the connection reach it, in the words of `temporal`', async () => {
  const flags = '--address temporal.invalid:7233 --namespace labs --profile lab --identity night-shift --timeout 2s';
  const { code, options } = await connectedWith(`orders list ${flags}`);
  const connection = { address: 'temporal.invalid:7233', namespace: 'labs', profile: 'lab', identity: 'night-shift' };
  const given = { ...connection, taskQueue: 'lab-operations', deadline: '2s', refusalIsFinal: true };
  expect({ code, options }).toEqual({ code: 1, options: [given] });
});

describe('who calls', () => {
  test('must be said in production: LABOPS_ACTOR, or --actor, which overrides it', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('LABOPS_ACTOR', ' ');
    expect((await connectedWith('orders list')).options).toHaveLength(1);
    vi.stubEnv('NODE_ENV', 'production');
    const refused = await connectedWith('orders list');
    expect(refused).toMatchObject({ code: 2, options: [] });
    expect(refused.stderr).toMatch(/^UsageError: .*give your id, never a name, as --actor or LABOPS_ACTOR/);
    expect((await connectedWith('users request-deletion user-1')).stderr).toMatch(/^UsageError: No actor is given/);
    vi.stubEnv('LABOPS_ACTOR', 'nurse-7');
    expect((await connectedWith('orders list')).options).toMatchObject([{ actor: 'nurse-7' }]);
    expect((await connectedWith('orders list --actor nurse-8')).options).toMatchObject([{ actor: 'nurse-8' }]);
    const named = await connectedWith('orders list --actor jane@example.com');
    expect(named).toMatchObject({ code: 2, options: [] });
    expect(named.stderr).toMatch(/^ActorInvalid: (?!.*jane)/);
  });

  test('and what is asked of whom is a line of LABOPS_READS_FILE, before anything is asked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reads-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'reads.jsonl');
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('LABOPS_READS_FILE', file);
    for (const line of [
      'orders show order-1 --actor nurse-7',
      'orders show --reference ref-1',
      'users show user-1',
      'orders list --user user-1',
      'match-reviews show invented@example.com',
      'placing state',
    ])
      await connectedWith(line);
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      { at, actor: 'nurse-7', what: 'labops orders show', subject: 'order-1' },
      { at, what: 'labops orders show', subject: 'ref-1' },
      { at, what: 'labops users show', subject: 'user-1' },
      { at, what: 'labops orders list', subject: 'user-1' },
      { at, what: 'labops match-reviews show' },
    ]);
    vi.stubEnv('NODE_ENV', 'production');
    expect((await connectedWith('orders show order-1')).stderr).toMatch(/No actor is given/);
    expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toEqual(lines);
    vi.stubEnv('NODE_ENV', 'test');
    vi.stubEnv('LABOPS_READS_FILE', join(folder, 'nowhere', 'reads.jsonl'));
    const refused = await connectedWith('orders show order-1');
    expect(refused).toMatchObject({ code: 2, options: [] });
    expect(refused.stderr).toMatch(/LABOPS_READS_FILE cannot be written \(ENOENT\): nothing was read or sent/);
  });
});
