import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils.js';

/** The identity in every recorded history: process ids and host names must not be published. */
export const recordedIdentity = 'recorded';

/**
 * A history as it is kept in the repository: the JSON of Temporal's own tools, an event a line, without what differs
 * from machine to machine and what a replay never reads. Payloads are decoded, so a change is readable and nothing
 * hides in base64.
 */
export function writeHistory(history: History): string {
  const { events } = JSON.parse(historyToJSON(history)) as { events: unknown[] };
  return `{"events":[\n${events.map((event) => JSON.stringify(event, kept)).join(',\n')}\n]}\n`;
}

/** What `Worker.runReplayHistory` takes. */
export function readHistory(text: string): object {
  return JSON.parse(text, (key, value: unknown) =>
    key === 'payloads' ? (value as unknown[]).map(packed) : value,
  ) as object;
}

const dropped = new Set(['taskId', 'requestId', 'stackTrace', 'workerVersion', 'meteringMetadata', 'userMetadata']);

function kept(key: string, value: unknown): unknown {
  if (dropped.has(key) || value === null || value === '') return undefined;
  if (key === 'identity') return recordedIdentity;
  if (key === 'payloads') return (value as Payload[]).map(unpacked);
  // A sticky queue is named after the worker's process.
  if (key === 'taskQueue' && isStickyQueue(value)) return { name: value.normalName, kind: 'TASK_QUEUE_KIND_NORMAL' };
  return value;
}

function isStickyQueue(value: unknown): value is { normalName: string } {
  return typeof value === 'object' && value !== null && 'normalName' in value && value.normalName !== '';
}

interface Payload {
  metadata: { encoding: string };
  data?: string;
}

const jsonEncoding = Buffer.from('json/plain').toString('base64');

/** Anything other than JSON, such as nothing at all, stays as it is. */
function unpacked(payload: Payload): object {
  if (payload.metadata.encoding !== jsonEncoding) return payload;
  return { json: JSON.parse(Buffer.from(payload.data ?? '', 'base64').toString('utf8')) as unknown };
}

function packed(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !('json' in payload)) return payload;
  const data = Buffer.from(JSON.stringify(payload.json)).toString('base64');
  return { metadata: { encoding: jsonEncoding }, data };
}
