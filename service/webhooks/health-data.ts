import { z } from 'zod';
import { canonicalId } from '../canonical-id.js';
import { type ConnectionEventReceived, type HealthDataReceived, type SourceRead, sourceOf } from './events.js';
import * as fields from '../fields.js';
import { anyZone, exactUtcInstant, isAhead, isCalendarDate } from '../timestamps.js';
import { omitNullish } from '../json-object.js';

/**
 * The content of an event about a user's health data. Its shape decides what it is, because the list of resources
 * grows: data with a list of samples is a batch of samples, other data is a summary. Nothing is refused here: an
 * unreadable id or timestamp counts as missing, and the store decides what that means.
 */
export type HealthDataRead =
  | SummaryRead
  | SamplesRead
  | StreamNoticeRead
  | HistoryNoticeRead
  | ConnectionRead
  | NotRead;

interface AboutUser {
  eventType: string;
  userId?: string;
  source: SourceRead;
  /** As it was sent. */
  data: unknown;
}

/** A day, a night, a workout and the like: one object, sent again whenever it changes. */
interface SummaryRead extends AboutUser {
  kind: 'summary';
  /** For instance `activity`. */
  resource: string;
  id?: string;
  /** The calendar date that it counts to, YYYY-MM-DD. */
  day?: string;
  /** Its version, if stated: an instant in UTC, microseconds. */
  updatedAt?: string;
}

/** A batch of a timeseries. */
interface SamplesRead extends AboutUser {
  kind: 'samples';
  /** For instance `glucose`. */
  resource: string;
  /** In the order in which they were sent. */
  samples: SampleRead[];
}

export interface SampleRead {
  /** `timestamp`, or else `start`: an instant in UTC, microseconds. Missing if it cannot be read. */
  at?: string;
  /** As it was sent. */
  data: unknown;
}

/** A workout's stream can be read at the service from now on. */
interface StreamNoticeRead extends AboutUser {
  kind: 'stream_notice';
  workoutId?: string;
}

/** The past of a resource has been fetched from a provider; its data came, or comes, by events of their own. */
interface HistoryNoticeRead extends AboutUser {
  kind: 'history_notice';
  resource: string;
}

/** A provider was connected, or its connection broke. */
interface ConnectionRead extends AboutUser {
  kind: 'connection';
}

/** The type or the shape is not known. */
interface NotRead extends AboutUser {
  kind: 'unknown';
  /** The fault, without a value of the event. */
  problem: string;
}

const eventTypePattern = /^(daily|historical)\.data\.([^.]+)\.(created|updated)$/i;

/**
 * Only the fields that are read here; a field of the wrong type counts as absent, as everywhere (docs/internals/lab-service.md).
 */
const summarySchema = z.object({
  id: fields.text,
  calendar_date: fields.text,
  date: fields.text,
  updated_at: fields.text,
  data: z.unknown().optional(),
});
const sampleSchema = z.object({ timestamp: z.unknown().optional(), start: z.unknown().optional() });
const streamNoticeSchema = z.object({ workout_id: fields.text });

/** Reads an event's content. Never throws, and reads only known fields. */
export function readHealthData(event: HealthDataReceived | ConnectionEventReceived): HealthDataRead {
  const { eventType, userId, data } = event;
  const about = { eventType, source: sourceOf(data), data, ...(userId !== undefined && { userId }) };
  if (event.kind === 'connection') return { kind: 'connection', ...about };
  const [, sentRange, resource] = eventTypePattern.exec(eventType) ?? [];
  const range = sentRange?.toLowerCase();
  if (resource === undefined) return { kind: 'unknown', ...about, problem: 'the event type is not known' };

  const fields = summarySchema.safeParse(data).data;
  const sent = fields?.data;
  // The id inside `message` differs from `workout_id` in real notices: the field is right (docs/internals/lab-service.md).
  const id = streamNoticeSchema.safeParse(data).data?.workout_id;
  const workout = omitNullish({ workoutId: id == null ? undefined : canonicalId(id) });
  // Without a workout it announces, like any resource, that the past was fetched.
  if (resource === 'workout_stream' && (range === 'daily' || workout.workoutId !== undefined)) {
    return { kind: 'stream_notice', ...about, ...workout };
  }
  if (Array.isArray(sent)) return { kind: 'samples', ...about, resource, samples: sent.map(readSample) };
  // A notice of the past has no data; a deployment that sends some with it is not to lose it.
  if (range === 'historical' && fields?.id == null) return { kind: 'history_notice', ...about, resource };
  if (!fields) return { kind: 'unknown', ...about, problem: 'data is neither a summary nor a batch of samples' };
  return { kind: 'summary', ...about, resource, ...summaryOf(fields) };
}

function summaryOf({ id, calendar_date: day, date, updated_at: updated }: z.output<typeof summarySchema>) {
  const days = [day, date].map((text) => text?.slice(0, 10) ?? '');
  const known = days.find(isCalendarDate);
  const stated = updated == null ? undefined : exactUtcInstant(updated);
  // A wrong clock wrote it, and it would hide every later version. One without its zone may seem up to a day ahead.
  const updatedAt = isAhead(stated, Date.now() + anyZone) ? undefined : stated;
  return omitNullish({ id, day: known, updatedAt });
}

function readSample(data: unknown): SampleRead {
  const { timestamp, start } = sampleSchema.safeParse(data).data ?? {};
  // Only if there is none: an unreadable timestamp must not be replaced by another one.
  const sent = timestamp == null || timestamp === '' ? start : timestamp;
  const at = typeof sent === 'string' ? exactUtcInstant(sent) : undefined;
  return at === undefined ? { data } : { at, data };
}
