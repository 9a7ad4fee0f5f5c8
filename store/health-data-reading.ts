import { exactUtcInstant, isCalendarDate } from '../service/timestamps.js';
import { type Database, isoOf, type Parameter } from './database.js';

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

/**
 * In the order of their days.
 * @throws TypeError for a day that does not exist
 */
export async function summaries(database: Database, query: SummaryQuery): Promise<StoredSummary[]> {
  const { userId, resource = null } = query;
  const from = query.from === undefined ? null : dayOf('summaries: from', query.from);
  const to = query.to === undefined ? null : dayOf('summaries: to', query.to);
  return database.query<StoredSummary>(
    `select user_id as "userId", resource, summary_id as id,
       to_char(day, 'YYYY-MM-DD') as day, provider, source_type as "sourceType",
       ${isoOf('received_at')} as "receivedAt", data
     from health_data.summaries
     where user_id = $1 and ($2::text is null or resource = $2)
       and ($3::date is null or day >= $3::date) and ($4::date is null or day <= $4::date)
     order by summaries.day, resource, summary_id`,
    [userId, resource, from, to],
  );
}

/** As many as fit into memory many times over, also with large samples. */
const page = 5_000;

/**
 * Ordered by their instants, a page at a time. Rows that are written in the meantime may or may not be included.
 *
 * @throws TypeError for an unreadable instant, when the first row is requested
 */
export async function* samples(database: Database, query: SampleQuery): AsyncGenerator<StoredSample, void, undefined> {
  const to = instantOf('samples: to', query.to);
  let after: Parameter[] = [instantOf('samples: from', query.from), '', ''];
  let comparison = '>='; // no sample has an empty provider: the first page begins with the first instant
  for (;;) {
    const rows = await database.query<StoredSample>(
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

function dayOf(field: string, text: string): string {
  // PostgreSQL has no year 0.
  if (isCalendarDate(text) && !text.startsWith('0000')) return text;
  throw new TypeError(`${field} is not a calendar date that exists, YYYY-MM-DD`);
}

function instantOf(field: string, text: string): string {
  const instant = exactUtcInstant(text);
  if (instant !== undefined) return instant;
  throw new TypeError(`${field} is not an instant in ISO 8601, such as 2026-01-05T10:00:00Z`);
}

export async function workoutStream(
  database: Database,
  { userId, workoutId }: { userId: string; workoutId: string },
): Promise<StoredStream | undefined> {
  const rows = await database.query<StoredStream>(
    `select workout_id as "workoutId", notice, ${isoOf('noticed_at')} as "noticedAt",
       stream, ${isoOf('fetched_at')} as "fetchedAt"
     from health_data.workout_streams where user_id = $1 and workout_id = $2`,
    [userId, workoutId],
  );
  return rows[0];
}

/** Says if a workout's stream must be fetched from the service. */
export interface StreamStanding {
  /** `due`: it was never fetched, or a notice has come since. `user_deleted`: the user's data were deleted. */
  standing: 'due' | 'current' | 'user_deleted';
  /** When the latest notice came, which a stream that is fetched from now on covers; null if none came. */
  notice: string | null;
}

export async function streamStanding(
  database: Pick<Database, 'query'>,
  { userId, workoutId }: { userId: string; workoutId: string },
): Promise<StreamStanding> {
  const [found] = await database.query<{ isDeleted: boolean; isCurrent: boolean | null; notice: string | null }>(
    `select exists (select 1 from health_data.deleted_users where user_id = $1) as "isDeleted",
       fetched_at is not null and fetched_for is not distinct from noticed_at as "isCurrent",
       ${isoOf('noticed_at')} as notice
     from (select 1 as one) as always
     left join health_data.workout_streams on user_id = $1 and workout_id = $2`,
    [userId, workoutId],
  );
  const { isDeleted = false, isCurrent = false, notice = null } = found ?? {};
  return { standing: isDeleted ? 'user_deleted' : isCurrent === true ? 'current' : 'due', notice };
}

export async function connections(database: Database, userId: string): Promise<StoredConnection[]> {
  return database.query<StoredConnection>(
    `select provider, event_type as "eventType", ${isoOf('received_at')} as "receivedAt", data
     from health_data.connections where user_id = $1 order by provider`,
    [userId],
  );
}

export async function historyNotices(database: Database, userId: string): Promise<StoredHistoryNotice[]> {
  return database.query<StoredHistoryNotice>(
    `select resource, provider, source_type as "sourceType", ${isoOf('received_at')} as "receivedAt", data
     from health_data.history_notices where user_id = $1 order by resource, provider, source_type`,
    [userId],
  );
}
