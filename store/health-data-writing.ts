import { type Database, isoOf, type Transaction } from './database.js';
import type { Entry } from './keys.js';

/** Writes an event's rows, in one statement however many samples there are. */
export async function write(transaction: Transaction, { table, row }: Entry, receivedAt: string | null): Promise<void> {
  await transaction.query(writing(table), [JSON.stringify([row]), receivedAt]);
}

/**
 * The statement that writes rows of several users. The last received wins: new rows replace existing ones, whatever the clocks say,
 * because events of one user are written one after the other. Only a replayed event compares the times, so it replaces nothing newer.
 *
 * `$1`: a list of rows (keys.ts) as JSON; `$2`: when a replayed event was first received, ISO 8601, null: now.
 *
 * @param acceptance SQL of ours that says for each row if it is `stored`; what else it says is only returned, in the order of the rows
 */
export function writing(table: Entry['table'], acceptance = `'stored'`): string {
  const { columns, write: insert } = statements[table];
  return `
    with event as materialized (
      select position, fields.* from jsonb_array_elements($1::jsonb) with ordinality as each (element, position),
        jsonb_to_record(element) as fields ("messageId" text, "userId" text, ${columns})),
    taken as materialized (select position, ${acceptance} as acceptance from event),
    stored as (select event.* from event join taken using (position) where acceptance = 'stored'),
    written as (${insert})
    select acceptance from taken order by position`;
}

const came = 'coalesce($2::timestamptz, now())';

/** A JSON null arrives as SQL's null; this turns it back. */
const content = `coalesce(data, 'null'::jsonb)`;

const statements: Record<Entry['table'], { columns: string; write: string }> = {
  /*
   * A later version replaces an earlier one (specification, "Summary events"). Webhooks are repeated and overtake each
   * other, so if both versions state when they were made (`updated_at`; not documented for summaries), that decides.
   */
  summaries: {
    columns: `resource text, "summaryId" text, provider text, "sourceType" text, day date, "updatedAt" timestamptz, data jsonb`,
    write: `
      insert into health_data.summaries as kept
        (user_id, resource, summary_id, provider, source_type, day, updated_at, data, received_at)
      select "userId", resource, "summaryId", provider, "sourceType", day, "updatedAt", ${content}, ${came} from stored
      on conflict (user_id, resource, summary_id) do update set
        provider = excluded.provider, source_type = excluded.source_type, day = excluded.day,
        updated_at = excluded.updated_at, data = excluded.data, received_at = excluded.received_at
      where excluded.updated_at > kept.updated_at
        or ((kept.updated_at is null or excluded.updated_at is null or excluded.updated_at = kept.updated_at)
          and ($2::timestamptz is null or excluded.received_at >= kept.received_at))`,
  },
  samples: {
    columns: `resource text, provider text, "sourceType" text, samples jsonb`,
    write: `
      insert into health_data.samples as kept
        (user_id, resource, sampled_at, provider, source_type, data, received_at)
      select "userId", resource, sample.at, provider, "sourceType", sample.data, ${came}
      from stored, jsonb_to_recordset(samples) as sample (at timestamptz, data jsonb)
      on conflict (user_id, resource, sampled_at, provider, source_type) do update set
        data = excluded.data, received_at = excluded.received_at
      where $2::timestamptz is null or excluded.received_at >= kept.received_at`,
  },
  workout_streams: {
    columns: `"workoutId" text, provider text, data jsonb`,
    write: `
      insert into health_data.workout_streams as kept (user_id, workout_id, provider, notice, noticed_at)
      select "userId", "workoutId", provider, ${content}, ${came} from stored
      on conflict (user_id, workout_id) do update set
        provider = excluded.provider, notice = excluded.notice, noticed_at = excluded.noticed_at
      where $2::timestamptz is null or kept.noticed_at is null or excluded.noticed_at >= kept.noticed_at`,
  },
  history_notices: {
    columns: `resource text, provider text, "sourceType" text, data jsonb`,
    write: `
      insert into health_data.history_notices as kept (user_id, resource, provider, source_type, data, received_at)
      select "userId", resource, provider, "sourceType", ${content}, ${came} from stored
      on conflict (user_id, resource, provider, source_type) do update set
        data = excluded.data, received_at = excluded.received_at
      where $2::timestamptz is null or excluded.received_at >= kept.received_at`,
  },
  connections: {
    columns: `provider text, "eventType" text, data jsonb`,
    write: `
      insert into health_data.connections as kept (user_id, provider, event_type, data, received_at)
      select "userId", provider, "eventType", ${content}, ${came} from stored
      on conflict (user_id, provider) do update set
        event_type = excluded.event_type, data = excluded.data, received_at = excluded.received_at
      where $2::timestamptz is null or excluded.received_at >= kept.received_at`,
  },
};

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

/**
 * A stream replaces the one that was fetched before, except one that answers the latest notice if this one does not: a
 * delayed attempt must not restore old data. The notice may be missing: it is not needed for fetching.
 */
export async function writeStream(
  transaction: Transaction,
  { userId, workoutId, stream, notice }: StreamToWrite,
): Promise<void> {
  await transaction.query(
    `insert into health_data.workout_streams as kept (user_id, workout_id, provider, stream, fetched_at, fetched_for)
     values ($1, $2, '', $3::jsonb, now(), $4::timestamptz)
     on conflict (user_id, workout_id) do update set
       stream = excluded.stream, fetched_at = excluded.fetched_at, fetched_for = excluded.fetched_for
     where kept.fetched_at is null
       or kept.fetched_for is distinct from kept.noticed_at
       or excluded.fetched_for is not distinct from kept.noticed_at`,
    [userId, workoutId, JSON.stringify(stream ?? null), notice],
  );
}

interface StreamToWrite {
  userId: string;
  workoutId: string;
  stream: unknown;
  /** The time of the latest notice that was known before the service was called, as `streamStanding` returned it. */
  notice: string | null;
}
