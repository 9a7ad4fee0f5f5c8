import { createHmac, hkdfSync, type KeyObject } from 'node:crypto';
import { canonicalId } from '../service/canonical-id.js';
import { type Database, isoOf, serverAnswer, type Transaction } from './database.js';

/*
 * The append-only table of who did what (docs/internals/decisions/0024-an-audit-trail-outside-temporal.md). Each writer, which is one run of a
 * process, has a chain of its own: a row has its place in the chain, the keyed hash of the row before it, and its own.
 */

/** An action of somebody. Ids of persons and of their work are in `subjects` and `event` only, which are stored as keyed hashes. */
export interface AuditEntry {
  /** ISO 8601 in UTC, to the millisecond. */
  at: string;
  /** An opaque id, which is stored as it is. Absent if nobody is known. */
  actor?: string;
  action: string;
  subjects: readonly string[];
  outcome: string;
  /** More facts, never of a person. */
  details?: Readonly<Record<string, string | number | readonly string[]>>;
  /** Identifies what happened: of several entries with the same one, one is stored. */
  event?: string;
}

/** An entry as it is stored. */
export interface AuditRow {
  writer: string;
  /** From 1, without a gap. */
  sequence: number;
  /** ISO 8601 in UTC, to the microsecond. */
  at: string;
  actor: string | null;
  action: string;
  /** Keyed hashes. */
  subjects: string[];
  outcome: string;
  /** JSON. */
  details: string;
  event: string | null;
  /** The key of all hashes of the row. */
  keyId: string;
  /** The hash of the row before; empty for the first. */
  previous: string;
  hash: string;
}

/** A row of a chain, such as its last. */
type Head = Pick<AuditRow, 'sequence' | 'hash'>;
/** By their writers. */
export type Heads = Record<string, Head>;

function headsOf(rows: readonly (Head & { writer: string })[]): Heads {
  return Object.fromEntries(rows.map(({ writer, sequence, hash }) => [writer, { sequence, hash }]));
}

interface AuditKey {
  readonly id: string;
  readonly key: KeyObject;
}

const purposes = {
  id: 'lab-operations: ids in the audit trail',
  chain: 'lab-operations: chain of the audit trail',
};

/** Hashes under keys that are kept outside the database; the first one makes new ones. */
export class AuditHashes {
  readonly #keys: () => readonly AuditKey[];
  readonly #derived = new WeakMap<KeyObject, Record<keyof typeof purposes, Buffer>>();

  constructor(keys: () => readonly AuditKey[]) {
    this.#keys = keys;
  }

  /** Undefined without a key: then nothing can be stored. */
  get keyId(): string | undefined {
    return this.#keys()[0]?.id;
  }

  /** The hash of an id under one key, however it is spelled. */
  idUnder(keyId: string, id: string): string {
    return this.#hash('id', keyId, canonicalId(id)) ?? '';
  }

  /** The hashes of an id under every key. */
  idUnderAny(id: string): string[] {
    return this.#keys().map((key) => this.idUnder(key.id, id));
  }

  /** The hash of a row; undefined if its key is not here. */
  ofRow(row: Omit<AuditRow, 'hash'>): string | undefined {
    const { writer, sequence, at, actor, action, subjects, outcome, details, event, keyId, previous } = row;
    const text = [writer, sequence, at, actor, action, subjects, outcome, details, event, keyId, previous];
    return this.#hash('chain', keyId, JSON.stringify(text));
  }

  #hash(purpose: keyof typeof purposes, keyId: string, text: string): string | undefined {
    const key = this.#keys().find(({ id }) => id === keyId)?.key;
    return key && createHmac('sha256', this.#derivedFrom(key)[purpose]).update(text).digest('base64url');
  }

  #derivedFrom(key: KeyObject): Record<keyof typeof purposes, Buffer> {
    const made = this.#derived.get(key);
    if (made) return made;
    const of = (purpose: string) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
    const derived = { id: of(purposes.id), chain: of(purposes.chain) };
    this.#derived.set(key, derived);
    return derived;
  }
}

/** The chain of one writer. */
export class AuditChain {
  readonly #writer: string;
  readonly #hashes: AuditHashes;
  #head = { sequence: 0, hash: '' };
  /** The last row of an attempt that failed: the database may have committed it. */
  #attempted: AuditRow | undefined;

  /** @param writer a name that no other chain has or had */
  constructor(writer: string, hashes: AuditHashes) {
    this.#writer = writer;
    this.#hashes = hashes;
  }

  /**
   * Stores entries, all or none. After a failure it has to be repeated with the same entries.
   *
   * @param how.areNew true if their events are hardly ever there: then they are inserted without a look, in one round trip
   * @returns how many were not there yet
   * @throws StoreFailed
   */
  async append(database: Database, entries: readonly AuditEntry[], { areNew = false } = {}): Promise<number> {
    if (areNew && !this.#attempted) {
      const rows = this.#rowsOf(entries);
      this.#attempted = rows.at(-1);
      try {
        await database.write(insertRows, [JSON.stringify(rows)]);
        return this.#goOnFrom(this.#attempted);
      } catch (error) {
        if (serverAnswer(error) !== uniqueViolation) throw error;
      }
    }
    const last = await database.transaction(async (transaction) => {
      if (this.#attempted && (await isStored(transaction, this.#attempted))) return this.#attempted;
      const rows = this.#rowsOf(entries, await this.#storedEvents(transaction, entries));
      this.#attempted = rows.at(-1);
      if (rows.length > 0) await transaction.query(insertRows, [JSON.stringify(rows)]);
      return this.#attempted;
    });
    return this.#goOnFrom(last);
  }

  #goOnFrom(last: AuditRow | undefined): number {
    const { sequence } = this.#head;
    this.#attempted = undefined;
    if (last) this.#head = last;
    return this.#head.sequence - sequence;
  }

  #rowsOf(entries: readonly AuditEntry[], stored = new Set<string>()): AuditRow[] {
    const { keyId } = this.#hashes;
    if (keyId === undefined) throw new TypeError('The audit trail has no key');
    const rows: AuditRow[] = [];
    for (const { at, actor, action, subjects, outcome, details = {}, event } of entries) {
      if (event !== undefined && stored.has(event)) continue;
      if (event !== undefined) stored.add(event);
      const { sequence, hash: previous } = rows.at(-1) ?? this.#head;
      const row = {
        writer: this.#writer,
        sequence: sequence + 1,
        at: at.replace('Z', '000Z'),
        actor: actor ?? null,
        action,
        subjects: [...new Set(subjects)].map((id) => this.#hashes.idUnder(keyId, id)),
        outcome,
        details: JSON.stringify(details),
        event: event === undefined ? null : this.#hashes.idUnder(keyId, event),
        keyId,
        previous,
      };
      rows.push({ ...row, hash: this.#hashes.ofRow(row) ?? '' });
    }
    return rows;
  }

  /** A command is handled again if a worker ends before Temporal has its answer; the row may have an earlier key. */
  async #storedEvents(transaction: Transaction, entries: readonly AuditEntry[]): Promise<Set<string>> {
    const byHash = new Map(
      entries.flatMap(({ event }) =>
        event === undefined ? [] : this.#hashes.idUnderAny(event).map((hash) => [hash, event] as const),
      ),
    );
    if (byHash.size === 0) return new Set();
    const found = await transaction.query<{ event: string }>(
      'select event from health_data.audit_trail where event in (select jsonb_array_elements_text($1::jsonb))',
      [JSON.stringify([...byHash.keys()])],
    );
    return new Set(found.flatMap(({ event }) => byHash.get(event) ?? []));
  }
}

async function isStored(transaction: Transaction, { writer, sequence, hash }: AuditRow): Promise<boolean> {
  const found = await transaction.query(
    'select 1 as found from health_data.audit_trail where writer = $1 and sequence = $2 and hash = $3',
    [writer, sequence, hash],
  );
  return found.length > 0;
}

const insertRows = `insert into health_data.audit_trail
    (writer, sequence, at, actor, action, subjects, outcome, details, event, key_id, previous, hash)
  select * from jsonb_to_recordset($1::jsonb) as given (writer text, sequence integer, at timestamptz, actor text,
    action text, subjects jsonb, outcome text, details text, event text, "keyId" text, previous text, hash text)`;

const uniqueViolation = '23505';

/** Which rows are read, all of them by default. */
export interface AuditFilter {
  actor?: string | undefined;
  /** The id of a user, or a workflow's ID. */
  subject?: string | undefined;
  /** ISO 8601, inclusive. */
  from?: string | undefined;
  /** ISO 8601, exclusive. */
  to?: string | undefined;
}

const columns = `writer, sequence, ${isoOf('at')} as at, actor, action, subjects, outcome, details, event,
  key_id as "keyId", previous, hash`;

const readAtOnce = 1_000;

/** The table, for auditors. */
export class AuditTrail {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @returns how many were not there yet @throws StoreFailed */
  async append(chain: AuditChain, entries: readonly AuditEntry[], how?: { areNew?: boolean }): Promise<number> {
    return chain.append(this.#database, entries, how);
  }

  /** The end of every chain. Kept elsewhere, it shows later that a chain was cut. */
  async heads(): Promise<Heads> {
    // One look into the index for each chain, and none at the rows between.
    const rows = await this.#database.query<Head & { writer: string }>(
      `with recursive heads as (
         (select writer, sequence, hash from health_data.audit_trail order by writer desc, sequence desc limit 1)
         union all
         select before.* from heads, lateral (select writer, sequence, hash from health_data.audit_trail
           where writer < heads.writer order by writer desc, sequence desc limit 1) as before)
       select * from heads order by writer`,
    );
    return headsOf(rows);
  }

  /**
   * Removes the rows from before a time, as far as nothing later precedes them in their chain, and leaves a checkpoint.
   *
   * @param before ISO 8601
   * @param removedBefore what the last checkpoint says
   * @param sign signs where each chain begins now
   * @returns the number of rows
   */
  async remove(before: string, removedBefore: Heads, sign: (removed: Heads) => string): Promise<number> {
    return this.#database.transaction(async (transaction) => {
      const last = await transaction.query<Head & { writer: string }>(
        `select removable.writer, removable.sequence, hash
         from (select writer, coalesce(min(sequence) filter (where at >= $1::timestamptz) - 1, max(sequence)) as sequence
           from health_data.audit_trail group by writer) as removable
         join health_data.audit_trail using (writer, sequence)`,
        [before],
      );
      if (last.length === 0) return 0;
      await transaction.query('insert into health_data.audit_checkpoints (signed) values ($1)', [
        sign({ ...removedBefore, ...headsOf(last) }),
      ]);
      const removed = await transaction.query(
        `delete from health_data.audit_trail as trail
         using jsonb_to_recordset($1::jsonb) as last (writer text, sequence integer)
         where trail.writer = last.writer and trail.sequence <= last.sequence returning 1 as removed`,
        [JSON.stringify(last)],
      );
      return removed.length;
    });
  }

  /** The last checkpoint, as it was signed. */
  async checkpoint(): Promise<string | undefined> {
    const [row] = await this.#database.query<{ signed: string }>(
      'select signed from health_data.audit_checkpoints order by id desc limit 1',
    );
    return row?.signed;
  }

  /** By time, the earliest first. */
  async *rows({ actor, subject, from, to }: AuditFilter, hashes: AuditHashes): AsyncGenerator<AuditRow> {
    const subjects = subject === undefined ? null : JSON.stringify(hashes.idUnderAny(subject).map((hash) => [hash]));
    let after: (string | number)[] = ['-infinity', '', 0];
    for (;;) {
      const page = await this.#database.query<AuditRow>(
        `select ${columns} from health_data.audit_trail
         where (audit_trail.at, writer, sequence) > ($1::timestamptz, $2::text, $3::integer)
           and ($4::text is null or actor = $4)
           and ($5::jsonb is null or subjects @> any (array(select jsonb_array_elements($5::jsonb))))
           and ($6::timestamptz is null or audit_trail.at >= $6) and ($7::timestamptz is null or audit_trail.at < $7)
         order by audit_trail.at, writer, sequence limit ${readAtOnce}`,
        [...after, actor ?? null, subjects, from ?? null, to ?? null],
      );
      yield* page;
      const last = page.at(-1);
      if (!last || page.length < readAtOnce) return;
      after = [last.at, last.writer, last.sequence];
    }
  }

  /** Chain by chain, in the order of each. */
  async *chains(): AsyncGenerator<AuditRow> {
    let after: (string | number)[] = ['', 0];
    for (;;) {
      const page = await this.#database.query<AuditRow>(
        `select ${columns} from health_data.audit_trail where (writer, sequence) > ($1::text, $2::integer)
         order by writer, sequence limit ${readAtOnce}`,
        after,
      );
      yield* page;
      const last = page.at(-1);
      if (!last || page.length < readAtOnce) return;
      after = [last.writer, last.sequence];
    }
  }
}

/** A fault of the trail. `missing`: rows up to `upTo` are not there; `not_authentic`: a row was changed or inserted. */
export interface AuditFault {
  fault: 'missing' | 'not_authentic' | 'key_missing';
  writer: string;
  sequence: number;
  upTo?: number;
}

export interface AuditFindings {
  rows: number;
  writers: number;
  faults: AuditFault[];
}

/** Facts from outside the table. */
interface KnownOfChains {
  /** The last row of each chain that was removed because it was old. */
  removed?: Heads;
  /** Rows that were there at some time. */
  heads?: readonly Heads[];
}

/** Looks through all chains, in their order. */
export async function verifyChains(
  chains: AsyncIterable<AuditRow>,
  hashes: AuditHashes,
  { removed = {}, heads = [] }: KnownOfChains = {},
): Promise<AuditFindings> {
  const found: AuditFindings = { rows: 0, writers: 0, faults: [] };
  const writers = new Set<string>();
  const last = new Map(Object.entries(removed));
  for await (const row of chains) {
    const { writer, sequence } = row;
    found.rows += 1;
    writers.add(writer);
    const before = last.get(writer) ?? { sequence: 0, hash: '' };
    const isNext = sequence === before.sequence + 1;
    if (sequence > before.sequence + 1)
      found.faults.push({ fault: 'missing', writer, sequence: before.sequence + 1, upTo: sequence - 1 });
    const hash = hashes.ofRow(row);
    const isOther = heads.some((of) => of[writer]?.sequence === sequence && of[writer].hash !== row.hash);
    if (hash === undefined) found.faults.push({ fault: 'key_missing', writer, sequence });
    else if (hash !== row.hash || isOther || sequence <= before.sequence || (isNext && row.previous !== before.hash))
      found.faults.push({ fault: 'not_authentic', writer, sequence });
    last.set(writer, row);
  }
  for (const [writer, { sequence: upTo }] of heads.flatMap((of) => Object.entries(of))) {
    const { sequence } = last.get(writer) ?? { sequence: 0 };
    if (sequence < upTo) found.faults.push({ fault: 'missing', writer, sequence: sequence + 1, upTo });
  }
  return { ...found, writers: writers.size };
}
