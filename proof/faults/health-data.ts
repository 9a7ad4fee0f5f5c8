import { randomUUID } from 'node:crypto';
import { DatabaseError, Pool } from 'pg';
import type { Scene, Story } from './product.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/** What is stored about a user. */
export interface Stored {
  /** Of each stored day. */
  steps: unknown[];
  samples: number;
  /** How many streams of workouts were fetched. */
  streams: number;
}

export interface HealthData {
  of(userId: string): Promise<Stored>;
  close(): Promise<void>;
}

const storedBy = `select
  (select coalesce(json_agg(data -> 'steps'), '[]') from health_data.summaries where user_id = $1) as steps,
  (select count(*)::int from health_data.samples where user_id = $1) as samples,
  (select count(stream)::int from health_data.workout_streams where user_id = $1) as streams`;

const nothing: Stored = { steps: [], samples: 0, streams: 0 };

/** PostgreSQL's code. The first program to start makes the tables, which takes a while on a busy machine. */
const undefinedTable = '42P01';

/** Reads the tables as they are, past the proxies. */
export function openHealthData(databaseUrl: string): HealthData {
  const pool = new Pool({ connectionString: databaseUrl, max: 4 });
  return {
    of: async (userId) => {
      try {
        const { rows } = await pool.query<Stored>(storedBy, [userId]);
        return rows[0] ?? nothing;
      } catch (error) {
        if (error instanceof DatabaseError && error.code === undefinedTable) return nothing;
        throw error;
      }
    },
    close: async () => pool.end(),
  };
}

const day = '2026-01-05';
const batch = { kind: 'samples', count: 50 } as const;
const all: Stored = { steps: [2_000], samples: 2 * batch.count, streams: 1 };

/** Resolves to the user once all that the watch has sent is stored. */
async function storedOf({ caller, control, health, newUser, pause }: Scene): Promise<string> {
  if (!health) throw new Error('There is no database.');
  const userId = await newUser();
  const summary = { kind: 'summary', id: randomUUID(), calendar_date: day } as const;
  await control.sendHealthData(userId, { ...summary, fields: { steps: 1_000, updated_at: `${day}T12:00:00Z` } });
  await control.sendHealthData(userId, { ...batch, from: `${day}T00:00:00Z` });
  await pause();
  const later = { steps: 2_000, updated_at: `${day}T20:00:00Z` };
  await control.sendHealthData(userId, { ...summary, fields: later, event: 'updated' });
  await control.sendHealthData(userId, { ...batch, from: `${day}T12:00:00Z` });
  await control.sendHealthData(userId, { kind: 'workout_stream' });
  while (JSON.stringify(await health.of(userId)) !== JSON.stringify(all)) await caller.pause(500);
  return userId;
}

/** They need a database. */
export const healthStories: Readonly<Record<string, Story>> = {
  /** What a watch sends is stored once, whatever is repeated or overtaken on its way. */
  'health data': {
    outcome: 'stored',
    play: async (scene) => {
      await storedOf(scene);
      return { outcome: 'stored' };
    },
  },

  /** When a deletion is final nothing is left, and nothing comes back: the end of the run reads again. */
  'health data erased': {
    outcome: 'deleted',
    play: async (scene) => {
      const { caller, operations, graceMs } = scene;
      const request = { userId: await storedOf(scene), policy: { ...resolvePolicy('deletion'), grace: graceMs } };
      const handle = await caller.command('delete', async (options) =>
        operations.users.requestDeletion(request, options),
      );
      return caller.read(async (options) => handle.result(options));
    },
  },
};
