import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { openStore } from '../../store/health-data-store.js';
import type { HealthDataRead } from '../../service/webhooks/health-data.js';
import { requirePostgres, startPostgres } from '../../test/rig/postgres.js';
import { inParallel, type Measure, interleaved } from './rounds.js';

const eventsPerShot = 1_000;
const atOnce = 10;
const samplesPerBatch = 12;
const at = '2026-01-05T08:00:00.000Z';
const keys = parseKeyRing(`bench:${Buffer.from('invented-key-for-tombstones-0001').toString('base64')}`);

const bareTables = `
  create table bare_summaries (user_id text, resource text, summary_id text, data jsonb, primary key (user_id, resource, summary_id));
  create table bare_samples (user_id text, resource text, sampled_at timestamptz, data jsonb, primary key (user_id, resource, sampled_at))`;

/** What the project does beyond it: a lock for the user, memory of the message, and the refusal of deleted users' data. */
export const store: Measure = {
  name: 'store',
  title: `Health data in PostgreSQL, ${atOnce} writers: events per second against a bare upsert`,
  async run(_stage, { rounds }) {
    const server = await startPostgres(await requirePostgres('store'));
    const pool = new Pool({ connectionString: server.url, max: atOnce });
    // The server may end before the pool's last connections have.
    pool.on('error', () => undefined);
    const kept = await openStore({ databaseUrl: server.url }, { referenceKeys: keys });
    try {
      await pool.query(bareTables);
      const accept = (read: HealthDataRead) => kept.accept(read, { id: randomUUID(), body: JSON.stringify(read) });
      const [one, many] = ['summaries, bare', `summaries, bare, ${atOnce} a statement`];
      const bareSamplesName = `${samplesPerBatch} samples, bare`;
      return await interleaved(rounds, [
        { name: one, shot: () => rateOf(() => bareSummary(pool)) },
        { name: many, shot: () => rateOf(() => bareSummaries(pool), atOnce) },
        { name: 'summaries, project', against: [one, many], shot: () => rateOf(() => accept(summary())) },
        { name: bareSamplesName, shot: () => rateOf(() => bareSamples(pool)) },
        {
          ...{ name: `${samplesPerBatch} samples, project`, against: bareSamplesName },
          shot: () => rateOf(() => accept(samples())),
        },
      ]);
    } finally {
      await pool.end();
      await kept.close();
      await server.stop();
    }
  },
};

/** @param events written by a call of `write` */
async function rateOf(write: () => Promise<unknown>, events = 1): Promise<Record<string, number>> {
  const before = performance.now();
  await inParallel(eventsPerShot / events, atOnce / events, write);
  return { 'events/s': (eventsPerShot / (performance.now() - before)) * 1000 };
}

/** One of many users, at random: writes of one user wait for each other. */
function someUser(): string {
  return `00000000-0000-4000-8000-${String(Math.floor(Math.random() * 5000)).padStart(12, '0')}`;
}

/** Invented; a day's activity, about 300 bytes. */
function summary(): HealthDataRead {
  const data = {
    id: randomUUID(),
    calendar_date: '2026-01-05',
    steps: 8123,
    calories_total: 2210.5,
    notes: 'x'.repeat(160),
  };
  const about = {
    eventType: 'daily.data.activity.created',
    userId: someUser(),
    source: { provider: 'invented' },
    data,
  };
  return { kind: 'summary', ...about, resource: 'activity', id: data.id, day: data.calendar_date };
}

function samples(): HealthDataRead & { kind: 'samples' } {
  const start = Date.parse(at) + Math.floor(Math.random() * 1e9) * 1000;
  const list = Array.from({ length: samplesPerBatch }, (_, index) => {
    const timestamp = new Date(start + index * 60_000).toISOString();
    return { at: timestamp, data: { timestamp, value: 61 + index, unit: 'bpm' } };
  });
  const about = { eventType: 'daily.data.heartrate.created', userId: someUser(), source: { provider: 'invented' } };
  return { kind: 'samples', ...about, data: list.map(({ data }) => data), resource: 'heartrate', samples: list };
}

async function bareSummary(pool: Pool): Promise<void> {
  const { data, userId } = summary();
  const id = randomUUID();
  await pool.query(
    `insert into bare_summaries values ($1, $2, $3, $4::jsonb)
     on conflict (user_id, resource, summary_id) do update set data = excluded.data`,
    [userId, 'activity', id, JSON.stringify(data)],
  );
}

async function bareSummaries(pool: Pool): Promise<void> {
  const rows = Array.from({ length: atOnce }, () => {
    const { data, userId } = summary();
    return { user_id: userId, resource: 'activity', summary_id: randomUUID(), data };
  });
  await pool.query(
    `insert into bare_summaries select * from jsonb_populate_recordset(null::bare_summaries, $1::jsonb)
     on conflict (user_id, resource, summary_id) do update set data = excluded.data`,
    [JSON.stringify(rows)],
  );
}

async function bareSamples(pool: Pool): Promise<void> {
  const { samples: list, userId } = samples();
  await pool.query(
    `insert into bare_samples select $1, $2, sample.at, sample.data
     from jsonb_to_recordset($3::jsonb) as sample (at timestamptz, data jsonb)
     on conflict (user_id, resource, sampled_at) do update set data = excluded.data`,
    [userId, 'heartrate', JSON.stringify(list)],
  );
}
