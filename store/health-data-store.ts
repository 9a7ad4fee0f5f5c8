import { AuditTrail } from './audit-trail.js';
import { canonicalId } from '../service/canonical-id.js';
import type { HealthDataRead } from '../service/webhooks/health-data.js';
import { accept, setAside } from './message-acceptance.js';
import { type Database, StoreFailed } from './database.js';
import { countUser, deleteUser, isDeleted, type UserToDelete } from './deleted-users.js';
import { EventWrites } from './event-writes.js';
import { keyPart, ofWorkout, whyUnstorable } from './keys.js';
import { HealthDataReader } from './health-data-reader.js';
import { type Chore, Housekeeping } from './housekeeping.js';
import { type Acceptance, forgetOldMessages, type ReceivedMessage, rememberMessage, wasTaken } from './messages.js';
import { postgres } from './postgres.js';
import { ReferenceHashes, type ReferenceKeys } from './reference-hashes.js';
import { type EventToReject, RejectedEvents, defaultRejectedDays } from './rejected-events.js';
import { requireTables } from './schema-state.js';
import { UserTransactions } from './user-transactions.js';
import { streamStanding, type StreamStanding, writeStream } from './health-data-writing.js';

/**
 * The place of the data: a PostgreSQL server, or a directory that this process alone has open.
 * `poolSize`: the most connections for writing, and as many again for reading. Default 10.
 */
export type StorePlace = { databaseUrl: string; poolSize?: number } | { directory: string };

export interface StoreOptions {
  /**
   * Keys from outside the database, the same for all who use it. With them a tombstone recognises the product's own
   * reference of a deleted user; without them it keeps nothing of it.
   */
  referenceKeys?: ReferenceKeys;
  /** The number of days after which a rejected event that is still waiting is erased. Default 90. */
  rejectedEventsDays?: number;
}

/**
 * Opens the store and brings its tables up to date, if its user may.
 * @throws StoreFailed when the database cannot be reached or refuses; TablesOutdated; DatabaseNotUtf8; DirectoryInUse
 */
export async function openStore(place: StorePlace, options: StoreOptions = {}): Promise<HealthDataStore> {
  const database =
    'databaseUrl' in place ? postgres(place.databaseUrl, place.poolSize) : await openDirectory(place.directory);
  try {
    await requireTables(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  return new HealthDataStore(database, options);
}

/** Its engine is loaded only here: the image, whose processes have PostgreSQL, does without. */
async function openDirectory(directory: string): Promise<Database> {
  const { pglite } = await import('./pglite.js');
  return pglite(directory);
}

/** Health data of users, and the events that could not be handled. Every method may reject with StoreFailed. */
export class HealthDataStore extends HealthDataReader {
  readonly rejected: RejectedEvents;
  readonly audit: AuditTrail;
  readonly #database: Database;
  readonly #transactions: UserTransactions;
  readonly #writes: EventWrites;
  readonly #hashes: ReferenceHashes;
  readonly #housekeeping: Housekeeping;

  constructor(database: Database, { referenceKeys, rejectedEventsDays = defaultRejectedDays }: StoreOptions = {}) {
    super(database);
    this.#database = database;
    this.#transactions = new UserTransactions(database);
    this.#writes = new EventWrites(database);
    this.#hashes = new ReferenceHashes(referenceKeys);
    const rejected = new RejectedEvents(database);
    this.rejected = rejected;
    this.audit = new AuditTrail(database);
    const chores: Chore[] = [() => forgetOldMessages(database), () => rejected.expire(rejectedEventsDays)];
    this.#housekeeping = new Housekeeping(chores);
  }

  /** Takes an event, once for each message id, all or nothing. Settles when it is durable. */
  async accept(event: HealthDataRead, message: ReceivedMessage): Promise<Acceptance> {
    this.#housekeeping.nowAndThen();
    return accept({ transactions: this.#transactions, hashes: this.#hashes, writes: this.#writes }, event, message);
  }

  /** Stores an unhandled event among the rejected ones, once for each message id. */
  async setAside(event: EventToReject, message: ReceivedMessage): Promise<Acceptance> {
    this.#housekeeping.nowAndThen();
    return setAside({ transactions: this.#transactions, hashes: this.#hashes }, event, message);
  }

  /** True if a message was taken in the last so many seconds, by any process. */
  async wasTaken(messageId: string, withinSeconds: number): Promise<boolean> {
    return wasTaken(this.#database, messageId, withinSeconds);
  }

  /** Remembers a message of which nothing is kept here, because Temporal took it. */
  async rememberMessage(messageId: string): Promise<void> {
    this.#housekeeping.nowAndThen();
    await rememberMessage(this.#database, messageId);
  }

  /**
   * Stores the stream of a workout, replacing an earlier one.
   *
   * @param stream.notice what `streamStanding` returned before the service was called. Default: the latest notice
   * @returns `user_deleted` if the user's data were deleted; `unstorable` if PostgreSQL cannot store it
   */
  async writeStream(stream: {
    userId: string;
    workoutId: string;
    stream: unknown;
    notice?: string | null;
  }): Promise<'stored' | 'user_deleted' | 'unstorable'> {
    const written = ofWorkout(stream);
    for (const field of ['userId', 'workoutId'] as const) {
      if (keyPart(stream[field]) === undefined) throw new TypeError(`writeStream: ${field} cannot be a key`);
    }
    if (whyUnstorable(stream.stream) !== undefined) return 'unstorable';
    try {
      return await this.#transactions.run(written.userId, async (transaction) => {
        if (await isDeleted(transaction, written.userId)) return 'user_deleted';
        const { notice = (await streamStanding(transaction, written)).notice } = written;
        await writeStream(transaction, { ...written, notice });
        return 'stored';
      });
    } catch (error) {
      // It would be refused each time.
      if (error instanceof StoreFailed && error.isDataRefused) return 'unstorable';
      throw error;
    }
  }

  /** Says if a workout's stream must be fetched from the service. Ask before each fetch: the answer belongs to it. */
  async streamStanding(workout: { userId: string; workoutId: string }): Promise<StreamStanding> {
    return streamStanding(this.#database, ofWorkout(workout));
  }

  /**
   * Deletes all data of the user, rejected events included, and refuses later data. Repeat it until it resolves: it
   * continues where it was interrupted.
   *
   * @param ids.clientUserId the product's own reference: finds rejected events that contain nothing else of the user
   * @param ids.workIds ids of the user's orders, transactions, jobs and appointments: the same
   */
  async deleteUserData(userId: string, ids: Omit<UserToDelete, 'userId'> = {}): Promise<void> {
    if (keyPart(userId) === undefined) throw new TypeError('deleteUserData: this cannot be the id of a user');
    await deleteUser(this.#database, this.#transactions, this.#hashes, { ...ids, userId: canonicalId(userId) });
  }

  /** How many rows are about the user, without the tombstone. */
  async countUserData(userId: string): Promise<number> {
    return countUser(this.#database, canonicalId(userId));
  }

  /** How many rejected events wait, and how many waited for too long. */
  async standing(): Promise<{ rejectedEvents: number; expiredRejectedEvents: number }> {
    // Also if no message comes: probes do.
    this.#housekeeping.nowAndThen();
    const [rejectedEvents, expiredRejectedEvents] = [await this.rejected.count(), await this.rejected.count('expired')];
    return { rejectedEvents, expiredRejectedEvents };
  }

  /** Settles when the database answers. */
  async ping(): Promise<void> {
    await this.#database.query('select 1 as up');
  }

  /** Ends the connections, and frees a directory. */
  override async close(): Promise<void> {
    await this.#housekeeping.close();
    await super.close();
  }
}
