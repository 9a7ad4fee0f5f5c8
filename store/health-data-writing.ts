import type { Statement, Transaction } from './database.js';
import type { Entry } from './keys.js';

/**
 * Writes an event's rows, in one statement however many samples there are. The last received wins: new rows replace
 * existing ones, whatever the clocks say, because events of one user are written one after the other. Only a replayed
 * event compares the times, so it replaces nothing newer.
 *
 * @param receivedAt when a replayed event was first received, ISO 8601; null: now
 */
export async function write(transaction: Transaction, entry: Entry, receivedAt: string | null): Promise<void> {
  const { sql, parameters } = writing(entry, receivedAt, 'true');
  await transaction.query(sql, parameters);
}

/**
 * The statement of `write`.
 * @param gate the condition that it writes under, in SQL of ours
 */
export function writing(entry: Entry, receivedAt: string | null, gate: string): Statement {
  switch (entry.table) {
    case 'summaries': {
      const { userId, resource, summaryId, provider, sourceType, day, updatedAt, data } = entry.row;
      const parameters = [userId, resource, summaryId, provider, sourceType, day, updatedAt, json(data), receivedAt];
      return { sql: writeSummary(gate), parameters };
    }
    case 'samples': {
      const { userId, resource, provider, sourceType, samples } = entry.row;
      const parameters = [userId, resource, provider, sourceType, json(samples), receivedAt];
      return { sql: writeSamples(gate), parameters };
    }
    case 'workout_streams': {
      const { userId, workoutId, provider, data } = entry.row;
      return { sql: writeStreamNotice(gate), parameters: [userId, workoutId, provider, json(data), receivedAt] };
    }
    case 'history_notices': {
      const { userId, resource, provider, sourceType, data } = entry.row;
      const parameters = [userId, resource, provider, sourceType, json(data), receivedAt];
      return { sql: writeHistoryNotice(gate), parameters };
    }
    case 'connections': {
      const { userId, provider, eventType, data } = entry.row;
      return { sql: writeConnection(gate), parameters: [userId, provider, eventType, json(data), receivedAt] };
    }
    default:
      return entry satisfies never;
  }
}

/**
 * A later version replaces an earlier one (specification, "Summary events"). Webhooks are repeated and overtake each
 * other, so if both versions state when they were made (`updated_at`; not documented for summaries), that decides.
 */
const writeSummary = (gate: string) => `
  insert into health_data.summaries as kept
    (user_id, resource, summary_id, provider, source_type, day, updated_at, data, received_at)
  select $1, $2, $3, $4, $5, $6::date, $7::timestamptz, $8::jsonb, coalesce($9::timestamptz, now()) where ${gate}
  on conflict (user_id, resource, summary_id) do update set
    provider = excluded.provider, source_type = excluded.source_type, day = excluded.day,
    updated_at = excluded.updated_at, data = excluded.data, received_at = excluded.received_at
  where excluded.updated_at > kept.updated_at
    or ((kept.updated_at is null or excluded.updated_at is null or excluded.updated_at = kept.updated_at)
      and ($9::timestamptz is null or excluded.received_at >= kept.received_at))`;

const writeSamples = (gate: string) => `
  insert into health_data.samples as kept
    (user_id, resource, sampled_at, provider, source_type, data, received_at)
  select $1, $2, sample.at, $3, $4, sample.data, coalesce($6::timestamptz, now())
  from jsonb_to_recordset($5::jsonb) as sample (at timestamptz, data jsonb) where ${gate}
  on conflict (user_id, resource, sampled_at, provider, source_type) do update set
    data = excluded.data, received_at = excluded.received_at
  where $6::timestamptz is null or excluded.received_at >= kept.received_at`;

const writeStreamNotice = (gate: string) => `
  insert into health_data.workout_streams as kept (user_id, workout_id, provider, notice, noticed_at)
  select $1, $2, $3, $4::jsonb, coalesce($5::timestamptz, now()) where ${gate}
  on conflict (user_id, workout_id) do update set
    provider = excluded.provider, notice = excluded.notice, noticed_at = excluded.noticed_at
  where $5::timestamptz is null or kept.noticed_at is null or excluded.noticed_at >= kept.noticed_at`;

const writeHistoryNotice = (gate: string) => `
  insert into health_data.history_notices as kept (user_id, resource, provider, source_type, data, received_at)
  select $1, $2, $3, $4, $5::jsonb, coalesce($6::timestamptz, now()) where ${gate}
  on conflict (user_id, resource, provider, source_type) do update set
    data = excluded.data, received_at = excluded.received_at
  where $6::timestamptz is null or excluded.received_at >= kept.received_at`;

const writeConnection = (gate: string) => `
  insert into health_data.connections as kept (user_id, provider, event_type, data, received_at)
  select $1, $2, $3, $4::jsonb, coalesce($5::timestamptz, now()) where ${gate}
  on conflict (user_id, provider) do update set
    event_type = excluded.event_type, data = excluded.data, received_at = excluded.received_at
  where $5::timestamptz is null or excluded.received_at >= kept.received_at`;

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
    [userId, workoutId, json(stream), notice],
  );
}

interface StreamToWrite {
  userId: string;
  workoutId: string;
  stream: unknown;
  /** The time of the latest notice that was known before the service was called, as `streamStanding` returned it. */
  notice: string | null;
}

function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}
