import { createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { AuditedRow, Verified } from '../client/command-line/answers.js';
import type { CommandLine } from '../client/command-line/command-line.js';
import { UsageError } from '../client/command-line/failures.js';
import { readText } from '../client/command-line/input.js';
import { moment, table } from '../client/command-line/output.js';
import { jsonIn } from '../service/json-object.js';
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
import { openStore } from '../store/health-data-store.js';
import { auditEventOf } from './audit-fhir.js';
import { StartFailed } from './process.js';
import { readAuditConfig } from './settings/config.js';

/** The options of all its commands. */
interface AuditOptions extends AuditFilter {
  fhir?: true;
  heads?: string[];
  histories?: string;
  key?: string;
  years: number;
}

interface Auditing {
  commandLine: CommandLine;
  trail: AuditTrail;
  hashes: AuditHashes;
  receiptKey: KeyObject | undefined;
  taskQueue: string;
  options: AuditOptions;
  /** Of `import`. */
  file: string;
}

/** Each returns the exit status. */
const commands = { list, export: exportRows, import: importReads, verify, heads, remove };
export type AuditCommand = keyof typeof commands;

/**
 * `labops audit`.
 * @returns the exit status: 1 if the trail is not intact
 * @throws ConfigInvalid, UsageError, StoreFailed, StartFailed
 */
export async function audit(
  command: AuditCommand,
  options: AuditOptions,
  [file = '']: readonly string[],
  commandLine: CommandLine,
): Promise<number> {
  const { terminal } = commandLine;
  const { databaseUrl, auditKeys, receiptKey, taskQueue, warnings } = readAuditConfig();
  for (const warning of warnings) terminal.err(`${warning}\n`);
  const store = await openStore({ databaseUrl, poolSize: 1 });
  try {
    return await commands[command]({
      ...{ commandLine, trail: store.audit, hashes: new AuditHashes(() => auditKeys) },
      ...{ receiptKey, taskQueue, options, file },
    });
  } finally {
    await store.close();
  }
}

async function list({ commandLine, trail, hashes, options }: Auditing): Promise<number> {
  const rows: AuditedRow[] = [];
  for await (const row of trail.rows(options, hashes)) rows.push(answerOf(row));
  const cells = ({ at, actor, action, outcome, details }: AuditedRow) => [
    ...[moment(at), actor ?? '-', action, outcome],
    Object.keys(details).length === 0 ? '' : JSON.stringify(details),
  ];
  const inWords = () => table(['When', 'Actor', 'Action', 'Outcome', 'Details'], rows.map(cells));
  commandLine.print({ rows }, () => (rows.length === 0 ? 'No rows.' : inWords()), rows);
  return 0;
}

async function exportRows({ commandLine, trail, hashes, options }: Auditing): Promise<number> {
  for await (const row of trail.rows(options, hashes)) {
    const answer = options.fhir ? auditEventOf(row) : answerOf(row);
    commandLine.printLine(answer, () => JSON.stringify(answer));
  }
  return 0;
}

function answerOf(row: AuditRow): AuditedRow {
  return { ...row, details: JSON.parse(row.details) as AuditedRow['details'] };
}

const readRecord = z.object({
  at: z.iso.datetime({ precision: 3 }),
  actor: z.string().optional(),
  what: z.string().regex(/^[\w.-]+( [\w.-]+)*$/),
  subject: z.string().optional(),
});

/** All of the file, or nothing: it is read before anything is written. */
async function importReads({ commandLine, trail, hashes, file }: Auditing): Promise<number> {
  const lines = (await readText(commandLine.terminal, file)).split('\n');
  const entries = lines.flatMap((line, index): AuditEntry[] => {
    if (line === '') return [];
    const { success, data } = readRecord.safeParse(jsonIn(line));
    if (!success) throw new UsageError(`Line ${index + 1} of ${file} is not a record of a read: nothing was added.`);
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
  commandLine.print({ found, added }, () => `${added} of ${found} reads are added`);
  return 0;
}

/** Signed texts name their kind, so a receipt or exported heads do not pass as a checkpoint. */
const kinds = { heads: 'labops audit heads', checkpoint: 'labops audit checkpoint' };

async function verify(auditing: Auditing): Promise<number> {
  const verified = await verifiedTrail(auditing);
  auditing.commandLine.print(verified, () => textOfVerified(verified));
  return verified.intact ? 0 : 1;
}

async function verifiedTrail(auditing: Auditing): Promise<Verified> {
  const { commandLine, trail, hashes, options } = auditing;
  const histories = options.histories === undefined ? undefined : await recover(auditing, options.histories);
  const checkpoint = await trail.checkpoint();
  const key = await publicKey(auditing, checkpoint !== undefined || options.heads !== undefined);
  const removed = checkpoint === undefined ? {} : chainsIn(checkpoint, kinds.checkpoint, key, 'The last checkpoint');
  const exported: Heads[] = [];
  for (const file of options.heads ?? [])
    exported.push(chainsIn(await readText(commandLine.terminal, file), kinds.heads, key, file));
  const { rows, writers, faults } = await verifyChains(trail.chains(), hashes, { removed, heads: exported });
  return { rows, writers, intact: faults.length === 0, faults, ...(histories && { histories }) };
}

function textOfVerified({ rows, writers, intact, faults, histories }: Verified): string {
  return [
    ...(histories ? [`${histories.added} of ${histories.found} commands were missing and are added`] : []),
    ...faults.map(sentenceOf),
    `${rows} rows of ${writers} writers: ${intact ? 'intact' : 'NOT intact'}`,
  ].join('\n');
}

async function recover({ trail, hashes, taskQueue }: Auditing, since: string) {
  const [{ LabOperations }, { commandsInHistories }] = await Promise.all([
    import('../client/index.js'),
    import('./audit-recovery.js'),
  ]);
  const lab = await LabOperations.connect();
  try {
    return await addAll({ trail, hashes }, 'history', commandsInHistories(lab.temporal, taskQueue, since));
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
  { commandLine, receiptKey, options: { key: file } }: Auditing,
  isNeeded: boolean,
): Promise<KeyObject | string> {
  if (file !== undefined) return publicKeyIn(await readText(commandLine.terminal, file), file);
  if (receiptKey) return createPublicKey(receiptKey);
  if (isNeeded) throw new UsageError('To verify what was signed, give the public key as --key, or set RECEIPT_KEY.');
  return '';
}

function publicKeyIn(text: string, file: string): KeyObject {
  try {
    return createPublicKey(text);
  } catch (error) {
    throw new UsageError(`The file ${file} has no public key.`, { cause: error });
  }
}

/** @throws StartFailed if it is not signed */
function chainsIn(jws: string, kind: string, key: KeyObject | string, where: string): Heads {
  const said = verifiedPayload(jws, key) as { kind?: unknown; chains?: Heads } | undefined;
  if (said?.kind === kind && said.chains) return said.chains;
  throw new StartFailed(`${where} is not signed with this key, or was changed: it does not count.`);
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

async function heads({ commandLine, trail, receiptKey }: Auditing): Promise<number> {
  const signed = signJws(required(receiptKey), { ...now(), kind: kinds.heads, chains: await trail.heads() });
  commandLine.print({ heads: signed }, () => signed);
  return 0;
}

/** Verifies before it removes anything: a checkpoint would make every earlier fault good. */
async function remove(auditing: Auditing): Promise<number> {
  const { commandLine, trail, receiptKey, options } = auditing;
  const key = required(receiptKey);
  const verified = await verifiedTrail(auditing);
  if (!verified.intact) {
    commandLine.print(verified, () => textOfVerified(verified));
    throw new StartFailed('Nothing was removed, because the trail is not intact.');
  }
  const checkpoint = await trail.checkpoint();
  const end = new Date();
  end.setUTCFullYear(end.getUTCFullYear() - options.years);
  const before = end.toISOString();
  const removed = await trail.remove(
    before,
    checkpoint === undefined ? {} : chainsIn(checkpoint, kinds.checkpoint, createPublicKey(key), 'The last checkpoint'),
    (chains) => signJws(key, { ...now(), kind: kinds.checkpoint, before, chains }),
  );
  const inWords = () => `${textOfVerified(verified)}\n${removed} rows from before ${before} were removed`;
  commandLine.print({ ...verified, removed, before }, inWords);
  return 0;
}

function now(): { iat: number } {
  return { iat: Math.floor(Date.now() / 1000) };
}

function required(key: KeyObject | undefined): KeyObject {
  if (key) return key;
  throw new UsageError('RECEIPT_KEY is missing: set it to the key that signs receipts.');
}
