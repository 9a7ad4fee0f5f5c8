import type { Transaction } from './database.js';
import type { Entry, SampleBatch, SummaryRow } from './keys.js';

/**
 * Writes an event's rows, in one statement however many samples there are. The last received wins: new rows replace
 * existing ones, whatever the clocks say, because events of one user are written one after the other. Only a replayed
 * event compares the times, so it replaces nothing newer.
 *
 * @param receivedAt when a replayed event was first received, ISO 8601; null: now
 */
export async function write(transaction: Transaction, entry: Entry, receivedAt: string | null): Promise<void> {
  switch (entry.table) {
    case 'summaries':
      return writeSummary(transaction, entry.row, receivedAt);
    case 'samples':
      return writeSamples(transaction, entry.row, receivedAt);
    case 'workout_streams': {
      const { userId, workoutId, provider, data } = entry.row;
      await transaction.query(writeStreamNotice, [userId, workoutId, provider, json(data), receivedAt]);
      return;
    }
    case 'history_notices': {
      const { userId, resource, provider, sourceType, data } = entry.row;
      await transaction.query(writeHistoryNotice, [userId, resource, provider, sourceType, json(data), receivedAt]);
      return;
    }
    case 'connections': {
      const { userId, provider, eventType, data } = entry.row;
      await transaction.query(writeConnection, [userId, provider, eventType, json(data), receivedAt]);
    }
  }
}

/**
 * A later version replaces an earlier one (specification, "Summary events"). Webhooks are repeated and overtake each
 * other, so if both versions state when they were made (`updated_at`; not documented for summaries), that decides.
 */
async function writeSummary(transaction: Transaction, row: SummaryRow, receivedAt: string | null): Promise<void> {
  const { userId, resource, summaryId, provider, sourceType, day, updatedAt, data } = row;
  await transaction.query(
    `insert into health_data.summaries as kept
       (user_id, resource, summary_id, provider, source_type, day, updated_at, data, received_at)
     values ($1, $2, $3, $4, $5, $6::date, $7::timestamptz, $8::jsonb, coalesce($9::timestamptz, now()))
     on conflict (user_id, resource, summary_id) do update set
       provider = excluded.provider, source_type = excluded.source_type, day = excluded.day,
       updated_at = excluded.updated_at, data = excluded.data, received_at = excluded.received_at
     where excluded.updated_at > kept.updated_at
       or ((kept.updated_at is null or excluded.updated_at is null or excluded.updated_at = kept.updated_at)
         and ($9::timestamptz is null or excluded.received_at >= kept.received_at))`,
    [userId, resource, summaryId, provider, sourceType, day, updatedAt, json(data), receivedAt],
  );
}

async function writeSamples(transaction: Transaction, batch: SampleBatch, receivedAt: string | null): Promise<void> {
  const { userId, resource, provider, sourceType, samples } = batch;
  if (samples.length === 0) return;
  await transaction.query(
    `insert into health_data.samples as kept
       (user_id, resource, sampled_at, provider, source_type, data, received_at)
     select $1, $2, sample.at, $3, $4, sample.data, coalesce($6::timestamptz, now())
     from jsonb_to_recordset($5::jsonb) as sample (at timestamptz, data jsonb)
     on conflict (user_id, resource, sampled_at, provider, source_type) do update set
       data = excluded.data, received_at = excluded.received_at
     where $6::timestamptz is null or excluded.received_at >= kept.received_at`,
    [userId, resource, provider, sourceType, json(samples), receivedAt],
  );
}

const writeStreamNotice = `
  insert into health_data.workout_streams as kept (user_id, workout_id, provider, notice, noticed_at)
  values ($1, $2, $3, $4::jsonb, coalesce($5::timestamptz, now()))
  on conflict (user_id, workout_id) do update set
    provider = excluded.provider, notice = excluded.notice, noticed_at = excluded.noticed_at
  where $5::timestamptz is null or kept.noticed_at is null or excluded.noticed_at >= kept.noticed_at`;

const writeHistoryNotice = `
  insert into health_data.history_notices as kept (user_id, resource, provider, source_type, data, received_at)
  values ($1, $2, $3, $4, $5::jsonb, coalesce($6::timestamptz, now()))
  on conflict (user_id, resource, provider, source_type) do update set
    data = excluded.data, received_at = excluded.received_at
  where $6::timestamptz is null or excluded.received_at >= kept.received_at`;

const writeConnection = `
  insert into health_data.connections as kept (user_id, provider, event_type, data, received_at)
  values ($1, $2, $3, $4::jsonb, coalesce($5::timestamptz, now()))
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

export interface StreamToWrite {
  userId: string;
  workoutId: string;
  stream: unknown;
  /** The time of the latest notice that was known before the service was called, as `streamStanding` returned it. */
  notice: string | null;
}

function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}
