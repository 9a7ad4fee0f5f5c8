import { randomUUID } from 'node:crypto';
import { readEvent } from '../../service/webhooks/events.js';
import { readHealthData } from '../../service/webhooks/health-data.js';
import { all } from '../rig/all.js';
import type { Acceptance } from '../../store/messages.js';
import type { HealthDataStore } from '../../store/health-data-store.js';
import type { StoredSample } from '../../store/health-data-reader.js';

/** The store receives a webhook's body, as from the ingress. */
export async function receive(
  store: HealthDataStore,
  event: object,
  { id = randomUUID(), receivedAt }: { id?: string; receivedAt?: string } = {},
): Promise<Acceptance> {
  const read = readEvent(event);
  if (read.kind !== 'health_data' && read.kind !== 'connection') throw new Error(`${read.kind} is not for the store`);
  const message = { id, body: JSON.stringify(event), ...(receivedAt !== undefined && { receivedAt }) };
  return store.accept(readHealthData(read), message);
}

export const source = { name: 'Invented Watch', slug: 'invented_watch', logo: 'https://logos.example.com/1.png' };

/** A batch of glucose samples of the user; values are invented. */
export function glucose(userId: string, samples: readonly unknown[], changes: Record<string, unknown> = {}) {
  const data = { user_id: userId, source, source_id: 7, data: samples, ...changes };
  return { event_type: 'daily.data.glucose.created', user_id: userId, client_user_id: 'Testperson', data };
}

export function sample(timestamp: string, value: number): Record<string, unknown> {
  return { timestamp, timezone_offset: 0, type: 'automatic', unit: 'mmol/L', value };
}

/** A day of activity; values are invented. */
export function activity(userId: string, id: string, changes: Record<string, unknown> = {}) {
  const data = { id, user_id: userId, source, calendar_date: '2026-01-05', steps: 1000, medium: null, ...changes };
  return { event_type: 'daily.data.activity.updated', user_id: userId, data };
}

export async function valuesOf(store: HealthDataStore, userId: string, resource = 'glucose'): Promise<unknown[]> {
  return (await samplesOf(store, userId, resource)).map(({ data }) => (data as { value?: unknown }).value);
}

export const samplesOf = (store: HealthDataStore, userId: string, resource: string): Promise<StoredSample[]> =>
  all(store.samples({ userId, resource, from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' }));
