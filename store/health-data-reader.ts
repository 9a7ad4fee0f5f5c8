import { canonicalId } from '../service/canonical-id.js';
import { type OnRead, reporterOf } from '../service/reads.js';
import type { Database } from './database.js';
import { ofUser, ofWorkout } from './keys.js';
import { postgres } from './postgres.js';
import {
  connections,
  historyNotices,
  type SampleQuery,
  samples,
  type StoredConnection,
  type StoredHistoryNotice,
  type StoredSample,
  type StoredStream,
  type StoredSummary,
  summaries,
  type SummaryQuery,
  workoutStream,
} from './health-data-reading.js';

import { type ExportedRow, userRows } from './user-export.js';

export { StoreFailed } from './database.js';
export type { ExportedRow } from './user-export.js';
export type { OnRead, ReadRecord } from '../service/reads.js';
export type {
  SampleQuery,
  StoredConnection,
  StoredHistoryNotice,
  StoredSample,
  StoredStream,
  StoredSummary,
  SummaryQuery,
} from './health-data-reading.js';

export interface HealthDataPlace {
  /** The address for a role that only reads, `lab_reader` (docs/operations.md), or the worker's DATABASE_URL. */
  databaseUrl: string;
  /** The most connections at once. Default 10. */
  poolSize?: number;
  /** As in `LabOperationsOptions`: called before the data is returned. */
  onRead?: OnRead;
}

/**
 * Opens the health data for a product backend, once, when it starts: `@lab-operations/client/health-data`, which needs
 * the package `pg`. It connects on first use, and again after an outage. It never writes: worker, ingress or `labops migrate` make the tables.
 */
export function openHealthData({ databaseUrl, poolSize, onRead }: HealthDataPlace): HealthDataReader {
  return new HealthDataReader(postgres(databaseUrl, poolSize), { onRead });
}

/** Reads health data of users. Every method may reject with StoreFailed. */
export class HealthDataReader {
  readonly #database: Database;
  readonly #onRead: OnRead | undefined;
  readonly #report: ReturnType<typeof reporterOf>;

  constructor(database: Database, { onRead, actor }: { onRead?: OnRead | undefined; actor?: string } = {}) {
    this.#database = database;
    this.#onRead = onRead;
    this.#report = reporterOf({ onRead, actor });
  }

  /** The same reader, whose reads are those of an actor. Closing it closes nothing. */
  as(actor: string): HealthDataReader {
    const database = { ...this.#database, close: () => Promise.resolve() };
    return new HealthDataReader(database, { onRead: this.#onRead, actor });
  }

  /**
   * Summaries in the order of their days.
   * @throws TypeError for a day that does not exist
   */
  async summaries(query: SummaryQuery): Promise<StoredSummary[]> {
    return this.#read('summaries', query.userId, summaries(this.#database, ofUser(query)));
  }

  /**
   * Samples ordered by their instants, fetched a page at a time.
   * @throws TypeError for an unreadable instant, when the first sample is requested
   */
  samples(query: SampleQuery): AsyncGenerator<StoredSample, void, undefined> {
    this.#report('healthData.samples', canonicalId(query.userId));
    return samples(this.#database, ofUser(query));
  }

  /** A workout's notice, and its stream once it was fetched; `undefined` if there is neither. */
  async workoutStream(workout: { userId: string; workoutId: string }): Promise<StoredStream | undefined> {
    return this.#read('workoutStream', workout.userId, workoutStream(this.#database, ofWorkout(workout)));
  }

  /** The user's connections with the last event of each. */
  async connections(userId: string): Promise<StoredConnection[]> {
    return this.#read('connections', userId, connections(this.#database, canonicalId(userId)));
  }

  /** The resources whose past has been fetched, each with its last notice. */
  async historyNotices(userId: string): Promise<StoredHistoryNotice[]> {
    return this.#read('historyNotices', userId, historyNotices(this.#database, canonicalId(userId)));
  }

  /**
   * All that the database holds of a user, rejected events too, a few rows at a time. Needs the worker's DATABASE_URL: `lab_reader` must not
   * read rejected events.
   *
   * @param known the `ids` of what `lab.users.export` gives, and your own id of the user: rejected events that name only one of them are in
   * it, too
   */
  export(
    userId: string,
    known: { workIds?: readonly string[]; clientUserId?: string | undefined } = {},
  ): AsyncGenerator<ExportedRow, void, undefined> {
    this.#report('healthData.export', canonicalId(userId));
    return userRows(this.#database, canonicalId(userId), known);
  }

  async #read<Rows>(what: string, userId: string, reading: Promise<Rows>): Promise<Rows> {
    const rows = await reading;
    this.#report(`healthData.${what}`, canonicalId(userId));
    return rows;
  }

  /** Ends the connections. */
  async close(): Promise<void> {
    await this.#database.close();
  }
}
