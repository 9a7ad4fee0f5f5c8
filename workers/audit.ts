import { createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { printable } from '../client/command-line/output.js';
import { signJws, verifiedPayload } from '../service/jws.js';
import {
  AuditChain,
  type AuditEntry,
  type AuditFault,
  type AuditFilter,
  AuditHashes,
  type AuditRow,
  type AuditTrail,
  type Heads,
  verifyChains,
} from '../store/audit-trail.js';
import { StoreFailed } from '../store/database.js';
import { openStore } from '../store/health-data-store.js';
import { auditEventOf } from './audit-fhir.js';
import { isProgram, runProgram, StartFailed } from './process.js';
import { readAuditConfig } from './settings/config.js';

const help = `Usage: labops audit <command> [options]

The audit trail in the database of DATABASE_URL (role lab_auditor), with its AUDIT_KEYS.

  list      shows what was done, the earliest first
  export    prints the rows as JSON, one a line, or with --fhir as AuditEvents of FHIR R4
  import <file>   adds reads: lines of LABOPS_READS_FILE, or of a file that a backend's onRead writes alike; each line once
  verify    finds rows that were changed, removed or inserted
  heads     prints the end of each chain, signed with RECEIPT_KEY: keep it elsewhere
  remove    removes old rows, as the user who owns the tables, and leaves a checkpoint that is signed with RECEIPT_KEY

Options of list and export:
  --actor <id>      only what this one did
  --subject <id>    only what was about this user, or the workflow with this ID
  --from <time>     not before this time, in ISO 8601
  --to <time>       before this time
Options of verify:
  --heads <file>    what \`heads\` has printed, any number of times: finds rows that are missing at the end
  --histories <time>   first adds the commands since this time that only Temporal has, as its settings and keys let it read
  --key <file>      the public key of RECEIPT_KEY, in PEM, if RECEIPT_KEY is not set
Option of remove:
  --years <number>  how many years are kept (default: 6)

Exit status: 0 done; 1 it is not intact, or cannot be read; 2 the command line or a setting is invalid.
`;

const options = {
  actor: { type: 'string' },
  subject: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  heads: { type: 'string', multiple: true },
  histories: { type: 'string' },
  key: { type: 'string' },
  years: { type: 'string', default: '6' },
  fhir: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

interface Given extends AuditFilter {
  heads?: string[] | undefined;
  histories?: string | undefined;
  key?: string | undefined;
  years: string;
  fhir?: boolean | undefined;
  /** Of `import`. */
  file?: string | undefined;
  help?: boolean | undefined;
}

interface Terminal {
  out: (text: string) => void;
  err: (text: string) => void;
}

const usualTerminal: Terminal = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

interface Auditing {
  out: (line: string) => void;
  trail: AuditTrail;
  hashes: AuditHashes;
  receiptKey: KeyObject | undefined;
  given: Given;
}

/** Each returns the exit status. */
const commands = { list, export: exportRows, import: importReads, verify, heads, remove };

/** `labops audit`, also `npm run audit`. Returns the exit status. */
export async function audit(
  args: readonly string[],
  env?: Readonly<Record<string, string | undefined>>,
  terminal = usualTerminal,
): Promise<number> {
  const parsed = read(args);
  if (parsed === undefined) {
    terminal.err(`error: unknown command or argument, or a time or number in another form.\n${help}`);
    return 2;
  }
  const { command, given } = parsed;
  if (given.help || command === undefined) {
    terminal.out(help);
    return 0;
  }
  const { databaseUrl, auditKeys, receiptKey, warnings } = readAuditConfig(env);
  for (const warning of warnings) terminal.err(`${warning}\n`);
  try {
    const store = await openStore({ databaseUrl, poolSize: 1 });
    try {
      return await commands[command]({
        out: (line) => terminal.out(`${line}\n`),
        ...{ trail: store.audit, hashes: new AuditHashes(() => auditKeys), receiptKey, given },
      });
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreFailed) throw new StartFailed(error.message, { cause: error });
    throw error;
  }
}

/** Undefined if something is unknown. */
function read(args: readonly string[]): { command: keyof typeof commands | undefined; given: Given } | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [command, file, ...more] = positionals;
    const areTimes = [values.from, values.to, values.histories].every(
      (time) => time === undefined || !Number.isNaN(Date.parse(time)),
    );
    const isKnown = command === undefined ? values.help === true : Object.hasOwn(commands, command);
    const isWhole = (command === 'import') === (file !== undefined) && more.length === 0;
    if (!isKnown || !areTimes || !isWhole || !/^[1-9]\d?$/.test(values.years)) return undefined;
    return { command: command as keyof typeof commands | undefined, given: { ...values, file } };
  } catch {
    return undefined;
  }
}

async function list({ out, trail, hashes, given }: Auditing): Promise<number> {
  for await (const { at, actor, action, outcome, details } of trail.rows(given, hashes)) {
    const cells = [`${at.slice(0, 19)}Z`, actor ?? '-', action, outcome, ...(details === '{}' ? [] : [details])];
    out(cells.map(printable).join('  '));
  }
  return 0;
}

async function exportRows({ out, trail, hashes, given }: Auditing): Promise<number> {
  for await (const row of trail.rows(given, hashes)) out(JSON.stringify(given.fhir ? auditEventOf(row) : jsonOf(row)));
  return 0;
}

function jsonOf(row: AuditRow): object {
  return { ...row, details: JSON.parse(row.details) as unknown };
}

const readRecord = z.object({
  at: z.iso.datetime({ precision: 3 }),
  actor: z.string().optional(),
  what: z.string().regex(/^[\w.-]+( [\w.-]+)*$/),
  subject: z.string().optional(),
});

/** All of the file, or nothing: it is read before anything is written. */
async function importReads({ out, trail, hashes, given: { file = '' } }: Auditing): Promise<number> {
  const lines = (await textOf(file)).split('\n');
  const entries = lines.flatMap((line, index): AuditEntry[] => {
    if (line === '') return [];
    const { success, data } = readRecord.safeParse(jsonIn(line));
    if (!success) throw new StartFailed(`Line ${index + 1} of ${file} is not a record of a read: nothing was added.`);
    const { at, actor, what, subject } = data;
    const who = actor === undefined ? {} : { actor };
    return [
      {
        at,
        ...who,
        action: `read ${what}`,
        subjects: subject === undefined ? [] : [subject],
        outcome: 'done',
        event: line,
      },
    ];
  });
  const { found, added } = await addAll({ trail, hashes }, 'import', entries);
  out(`${added} of ${found} reads are added`);
  return 0;
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Signed texts name their kind, so a receipt or exported heads do not pass as a checkpoint. */
const kinds = { heads: 'labops audit heads', checkpoint: 'labops audit checkpoint' };

async function verify({ out, trail, hashes, receiptKey, given }: Auditing): Promise<number> {
  if (given.histories !== undefined) await recover({ out, trail, hashes }, given.histories);
  const checkpoint = await trail.checkpoint();
  const key = await publicKey(given.key, receiptKey, checkpoint !== undefined || given.heads !== undefined);
  const removed = checkpoint === undefined ? {} : chainsIn(checkpoint, kinds.checkpoint, key, 'The last checkpoint');
  const exported: Heads[] = [];
  for (const file of given.heads ?? []) exported.push(chainsIn(await textOf(file), kinds.heads, key, file));
  const { rows, writers, faults } = await verifyChains(trail.chains(), hashes, { removed, heads: exported });
  for (const fault of faults) out(sentenceOf(fault));
  out(`${rows} rows of ${writers} writers: ${faults.length === 0 ? 'intact' : 'NOT intact'}`);
  return faults.length === 0 ? 0 : 1;
}

async function recover({ out, trail, hashes }: Pick<Auditing, 'out' | 'trail' | 'hashes'>, since: string) {
  const [{ LabOperations }, { commandsInHistories }] = await Promise.all([
    import('../client/index.js'),
    import('./audit-recovery.js'),
  ]);
  const lab = await LabOperations.connect();
  try {
    const { found, added } = await addAll({ trail, hashes }, 'history', commandsInHistories(lab.temporal, since));
    out(`${added} of ${found} commands were missing and are added`);
  } finally {
    await lab.close();
  }
}

/** @returns how many there are, and how many of them were not there yet */
async function addAll(
  { trail, hashes }: Pick<Auditing, 'trail' | 'hashes'>,
  from: string,
  entries: Iterable<AuditEntry> | AsyncIterable<AuditEntry>,
): Promise<{ found: number; added: number }> {
  const chain = new AuditChain(`${from}/${randomUUID()}`, hashes);
  let [found, added] = [0, 0];
  let batch: AuditEntry[] = [];
  const addBatch = async () => {
    found += batch.length;
    if (batch.length > 0) added += await trail.append(chain, batch);
    batch = [];
  };
  for await (const entry of entries) if (batch.push(entry) >= addedAtOnce) await addBatch();
  await addBatch();
  return { found, added };
}

const addedAtOnce = 1_000;

async function publicKey(
  file: string | undefined,
  receiptKey: KeyObject | undefined,
  isNeeded: boolean,
): Promise<KeyObject | string> {
  if (file !== undefined) return textOf(file);
  if (receiptKey) return createPublicKey(receiptKey);
  if (isNeeded) throw new StartFailed('To verify what was signed, give the public key as --key, or set RECEIPT_KEY.');
  return '';
}

/** @throws StartFailed if it is not signed */
function chainsIn(jws: string, kind: string, key: KeyObject | string, where: string): Heads {
  const said = verifiedPayload(jws, key) as { kind?: unknown; chains?: Heads } | undefined;
  if (said?.kind === kind && said.chains) return said.chains;
  throw new StartFailed(`${where} is not signed with this key, or was changed: it does not count.`);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new StartFailed(`${file} cannot be read (${code}).`, { cause: error });
  }
}

function sentenceOf({ fault, writer, sequence, upTo = sequence }: AuditFault): string {
  const where = `${writer}, ${upTo > sequence ? `rows ${sequence} to ${upTo}` : `row ${sequence}`}`;
  switch (fault) {
    case 'missing':
      return `${where}: removed`;
    case 'not_authentic':
      return `${where}: changed or inserted`;
    case 'key_missing':
      return `${where}: its key is not in AUDIT_KEYS`;
    default:
      return fault satisfies never;
  }
}

async function heads({ out, trail, receiptKey }: Auditing): Promise<number> {
  const signed = signJws(required(receiptKey), { ...now(), kind: kinds.heads, chains: await trail.heads() });
  out(signed);
  return 0;
}

/** What is removed was verified before: a checkpoint would make every earlier fault good. */
async function remove(auditing: Auditing): Promise<number> {
  const { out, trail, receiptKey, given } = auditing;
  const key = required(receiptKey);
  if ((await verify(auditing)) !== 0) throw new StartFailed('Nothing was removed, because the trail is not intact.');
  const checkpoint = await trail.checkpoint();
  const before = new Date();
  before.setUTCFullYear(before.getUTCFullYear() - Number(given.years));
  const rows = await trail.remove(
    before.toISOString(),
    checkpoint === undefined ? {} : chainsIn(checkpoint, kinds.checkpoint, createPublicKey(key), 'The last checkpoint'),
    (chains) => signJws(key, { ...now(), kind: kinds.checkpoint, before: before.toISOString(), chains }),
  );
  out(`${rows} rows from before ${before.toISOString()} were removed`);
  return 0;
}

function now(): { iat: number } {
  return { iat: Math.floor(Date.now() / 1000) };
}

function required(key: KeyObject | undefined): KeyObject {
  if (key) return key;
  throw new StartFailed('RECEIPT_KEY is missing: set it to the key that signs receipts.');
}

if (isProgram('workers/audit')) await runProgram(() => audit(process.argv.slice(2)));
