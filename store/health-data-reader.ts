import { canonicalId } from '../service/canonical-id.js';
import { type OnRead, reporterOf } from '../service/reads.js';
import { exactUtcInstant, isCalendarDate } from '../service/timestamps.js';
import { type Database, isoOf, type Parameter } from './database.js';
import { postgres } from './postgres.js';
import { type ExportedRow, userRows } from './user-export.js';

export { StoreFailed } from './database.js';
export type { ExportedRow } from './user-export.js';
export type { OnRead, ReadRecord } from '../service/reads.js';

export interface StoredSummary {
  userId: string;
  /** For instance `activity`. */
  resource: string;
  id: string;
  /** YYYY-MM-DD; null if the summary names no date. */
  day: string | null;
  /** The provider's slug; empty if it is not stated, as is the source's type. */
  provider: string;
  sourceType: string;
  /** ISO 8601 in UTC, microseconds; so are all instants here. */
  receivedAt: string;
  /** The summary as it was sent. */
  data: unknown;
}

export interface StoredSample {
  /** Its `timestamp`, or else its `start`. */
  at: string;
  provider: string;
  sourceType: string;
  receivedAt: string;
  /** The sample as it was sent: `value`, `unit`, `timezone_offset` and so on. */
  data: unknown;
}

export interface StoredStream {
  workoutId: string;
  /** The event that announced it, as it was sent; null if none came. */
  notice: unknown;
  noticedAt: string | null;
  /** As the service answered with it; null until it was fetched. */
  stream: unknown;
  fetchedAt: string | null;
}

export interface StoredConnection {
  provider: string;
  /** The last event of this connection: `provider.connection.created`, `.error` or another. */
  eventType: string;
  receivedAt: string;
  data: unknown;
}

/** The past of a resource has been fetched from a provider. */
export interface StoredHistoryNotice {
  resource: string;
  provider: string;
  sourceType: string;
  receivedAt: string;
  data: unknown;
}

export interface SummaryQuery {
  userId: string;
  resource?: string;
  /** Calendar dates, YYYY-MM-DD, both included. With either, summaries that name no date are left out. */
  from?: string;
  to?: string;
}

export interface SampleQuery {
  userId: string;
  resource: string;
  /** Instants in ISO 8601, in UTC if they name no zone: from this one, included, … */
  from: string;
  /** … to this one, not included. */
  to: string;
  provider?: string;
}

export interface HealthDataPlace {
  /** The address for a role that only reads, `lab_reader` (docs/operations.md), or the worker's DATABASE_URL. */
  databaseUrl: string;
  /** The most connections at once. Default 10. */
  poolSize?: number;
  /** As in `LabOperationsOptions`: called before the data is returned. */
  onRead?: OnRead;
}

/**
 * Opens the health data for a product backend, once, when it starts: `@lab-operations/client/health-data`, which needs
 * the package `pg`. It connects on first use, and again after an outage. It never writes: worker, ingress or `labops migrate` make the tables.
 */
export function openHealthData({ databaseUrl, poolSize, onRead }: HealthDataPlace): HealthDataReader {
  return new HealthDataReader(postgres(databaseUrl, poolSize), { onRead });
}

/** Reads health data of users. Every method may reject with StoreFailed. */
export class HealthDataReader {
  readonly #database: Database;
  readonly #onRead: OnRead | undefined;
  readonly #report: ReturnType<typeof reporterOf>;

  constructor(database: Database, { onRead, actor }: { onRead?: OnRead | undefined; actor?: string } = {}) {
    this.#database = database;
    this.#onRead = onRead;
    this.#report = reporterOf({ onRead, actor });
  }

  /** The same reader, whose reads are those of an actor. Closing it closes nothing. */
  as(actor: string): HealthDataReader {
    const database = { ...this.#database, close: () => Promise.resolve() };
    return new HealthDataReader(database, { onRead: this.#onRead, actor });
  }

  /**
   * Summaries in the order of their days.
   * @throws TypeError for a day that does not exist
   */
  async summaries(query: SummaryQuery): Promise<StoredSummary[]> {
    const days = [dayOf('summaries: from', query.from), dayOf('summaries: to', query.to)];
    return this.#read(
      'summaries',
      `select user_id as "userId", resource, summary_id as id,
         to_char(day, 'YYYY-MM-DD') as day, provider, source_type as "sourceType",
         ${isoOf('received_at')} as "receivedAt", data
       from health_data.summaries
       where user_id = $1 and ($2::text is null or resource = $2)
         and ($3::date is null or day >= $3::date) and ($4::date is null or day <= $4::date)
       order by summaries.day, resource, summary_id`,
      query.userId,
      ...[query.resource ?? null, ...days],
    );
  }

  /**
   * Samples ordered by their instants, fetched a page at a time. Rows that are written in the meantime may or may not be included.
   * @throws TypeError for an unreadable instant, when the first sample is requested
   */
  samples(query: SampleQuery): AsyncGenerator<StoredSample, void, undefined> {
    const userId = canonicalId(query.userId);
    this.#report('healthData.samples', userId);
    return this.#samples({ ...query, userId });
  }

  async *#samples(query: SampleQuery): AsyncGenerator<StoredSample, void, undefined> {
    const to = instantOf('samples: to', query.to);
    let after: Parameter[] = [instantOf('samples: from', query.from), '', ''];
    let comparison = '>='; // no sample has an empty provider: the first page begins with the first instant
    for (;;) {
      const rows = await this.#database.query<StoredSample>(
        `select ${isoOf('sampled_at')} as at, provider, source_type as "sourceType",
           ${isoOf('received_at')} as "receivedAt", data
         from health_data.samples
         where user_id = $1 and resource = $2 and sampled_at < $3::timestamptz
           and ($4::text is null or provider = $4)
           and (sampled_at, provider, source_type) ${comparison} ($5::timestamptz, $6::text, $7::text)
         order by sampled_at, provider, source_type limit ${page}`,
        [query.userId, query.resource, to, query.provider ?? null, ...after],
      );
      yield* rows;
      const last = rows.at(-1);
      if (!last || rows.length < page) return;
      after = [last.at, last.provider, last.sourceType];
      comparison = '>';
    }
  }

  /** A workout's notice, and its stream once it was fetched; `undefined` if there is neither. */
  async workoutStream(workout: { userId: string; workoutId: string }): Promise<StoredStream | undefined> {
    const [found] = await this.#read<StoredStream>(
      'workoutStream',
      `select workout_id as "workoutId", notice, ${isoOf('noticed_at')} as "noticedAt",
         stream, ${isoOf('fetched_at')} as "fetchedAt"
       from health_data.workout_streams where user_id = $1 and workout_id = $2`,
      workout.userId,
      canonicalId(workout.workoutId),
    );
    return found;
  }

  /** The user's connections with the last event of each. */
  async connections(userId: string): Promise<StoredConnection[]> {
    return this.#read(
      'connections',
      `select provider, event_type as "eventType", ${isoOf('received_at')} as "receivedAt", data
       from health_data.connections where user_id = $1 order by provider`,
      userId,
    );
  }

  /** The resources whose past has been fetched, each with its last notice. */
  async historyNotices(userId: string): Promise<StoredHistoryNotice[]> {
    return this.#read(
      'historyNotices',
      `select resource, provider, source_type as "sourceType", ${isoOf('received_at')} as "receivedAt", data
       from health_data.history_notices where user_id = $1 order by resource, provider, source_type`,
      userId,
    );
  }

  /**
   * All that the database holds of a user, rejected events too, a few rows at a time. Needs the worker's DATABASE_URL: `lab_reader` must not
   * read rejected events.
   *
   * @param known the `ids` of what `lab.users.export` gives, and your own id of the user: rejected events that name only one of them are in
   * it, too
   */
  export(
    userId: string,
    known: { workIds?: readonly string[]; clientUserId?: string | undefined } = {},
  ): AsyncGenerator<ExportedRow, void, undefined> {
    this.#report('healthData.export', canonicalId(userId));
    return userRows(this.#database, canonicalId(userId), known);
  }

  /** `$1` is the user. */
  async #read<Row extends object>(
    what: string,
    sql: string,
    userId: string,
    ...parameters: Parameter[]
  ): Promise<Row[]> {
    const rows = await this.#database.query<Row>(sql, [canonicalId(userId), ...parameters]);
    this.#report(`healthData.${what}`, canonicalId(userId));
    return rows;
  }

  /** Ends the connections. */
  async close(): Promise<void> {
    await this.#database.close();
  }
}

/** As many as fit into memory many times over, also with large samples. */
const page = 5_000;

function dayOf(field: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  // PostgreSQL has no year 0.
  if (isCalendarDate(text) && !text.startsWith('0000')) return text;
  throw new TypeError(`${field} is not a calendar date that exists, YYYY-MM-DD`);
}

function instantOf(field: string, text: string): string {
  const instant = exactUtcInstant(text);
  if (instant !== undefined) return instant;
  throw new TypeError(`${field} is not an instant in ISO 8601, such as 2026-01-05T10:00:00Z`);
}
