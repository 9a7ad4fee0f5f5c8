import { createSecretKey, randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AuditHashes, type AuditEntry } from '../../store/audit-trail.js';
import { StoreFailed } from '../../store/database.js';
import type { HealthDataStore } from '../../store/health-data-store.js';
import type { StoreAccess } from '../../store/store-access.js';
import { auditSinks, startAuditWriter } from '../../workers/audit-writer.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const entry = { action: 'kitOrder.cancel', subjects: [], outcome: 'done' };

/** A writer whose database works, refuses or hangs, as it is set. */
function writing() {
  const written: (readonly AuditEntry[])[] = [];
  const database = { state: 'up' as 'up' | 'down' | 'hanging' };
  const audit = {
    append: async (_chain: unknown, entries: readonly AuditEntry[]) => {
      if (database.state === 'down') throw new StoreFailed('The database failed: connect ECONNREFUSED');
      if (database.state === 'hanging') await new Promise(() => undefined);
      written.push([...entries]);
    },
  };
  const store: StoreAccess = {
    get: () => Promise.resolve({ audit } as unknown as HealthDataStore),
    close: () => Promise.resolve(),
  };
  const lines: { msg: string; rows?: number }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]);
  const log = pino({}, { write });
  const registry = new Registry();
  const hashes = new AuditHashes(() => [{ id: 'k', key: createSecretKey(randomBytes(32)) }]);
  const writer = startAuditWriter('test', { store, hashes, log, registry });
  const shown = async (name: string) => (await registry.getSingleMetric(name)?.get())?.values[0]?.value;
  return { writer, written, database, lines, shown };
}

test('rows of a burst are written together, within half a second', async () => {
  const { writer, written, shown } = writing();
  for (let row = 0; row < 3; row++) writer.record(entry);
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(500);
  expect(written).toEqual([[expect.objectContaining(entry), expect.anything(), expect.anything()]]);
  expect(await shown('labops_audit_waiting_seconds')).toBe(0);
});

test.each(['down', 'hanging'] as const)(
  'a database that is %s makes nobody wait: rows wait up to a limit, and what is beyond it is counted',
  async (state) => {
    const { writer, written, database, lines, shown } = writing();
    database.state = state;
    const attempt = 500;
    writer.record(entry);
    await vi.advanceTimersByTimeAsync(60_000);
    for (let row = 0; row < 10_100; row++) writer.record(entry);
    expect(await shown('labops_audit_lost_total')).toBe(100);
    expect(await shown('labops_audit_waiting_seconds')).toBeGreaterThanOrEqual(60);
    expect(written).toEqual([]);
    const lost = () => lines.filter(({ msg }) => msg.includes('are lost')).map(({ rows }) => rows);
    expect(lost(), 'the next attempt says it').toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    if (state === 'hanging') void writer.close();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lost(), 'in one line').toEqual([state === 'hanging' ? 10_101 : 100]);
    if (state === 'hanging') return;
    expect(lines.filter(({ msg }) => msg.includes('cannot be written yet'))).toHaveLength(1);
    database.state = 'up';
    await vi.advanceTimersByTimeAsync(10_000);
    expect(written.flat()).toHaveLength(10_001);
    expect(written.every(({ length }) => length <= attempt)).toBe(true);
  },
);

test('what failed is tried again as it was, before anything later', async () => {
  const { writer, written, database } = writing();
  database.state = 'down';
  writer.record({ ...entry, outcome: '1' });
  await vi.advanceTimersByTimeAsync(1_000);
  writer.record({ ...entry, outcome: '2' });
  database.state = 'up';
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written.map((batch) => batch.map(({ outcome }) => outcome))).toEqual([['1'], ['2']]);
});

test('the end of a process writes what waits, or counts it within seconds', async () => {
  const { writer, written } = writing();
  writer.record(entry);
  await writer.close();
  expect(written).toHaveLength(1);
  const { writer: cut, database, shown } = writing();
  database.state = 'hanging';
  cut.record(entry);
  const closed = cut.close();
  await vi.advanceTimersByTimeAsync(3_000);
  await closed;
  expect(await shown('labops_audit_lost_total')).toBe(1);
});

test('a worker without a writer takes the workflows’ reports and keeps nothing', () => {
  const { command } = auditSinks().audit;
  expect(command.callDuringReplay).toBe(false);
  expect(command.fn({} as never, { ...entry, event: 'e' })).toBeUndefined();
});
