import { type Database, StoreFailed, type Transaction } from './database.js';
import { userLocks } from './tables.js';

/** A first connection brings years of a user's data at once; the service repeats messages beyond this limit. */
const mostInLine = 100;

/** Of all users. A database that stands still must not fill the memory with events whose senders were answered long ago. */
const mostWaiting = 1_000;

/**
 * Transactions that write, those of one user one after the other, in the order in which they came. They wait here and not
 * for the lock in the database, where each would keep a connection from everybody else's while it waits; the lock is for
 * other processes.
 */
export class UserTransactions {
  readonly #database: Database;
  readonly #lines = new Map<string, { last: Promise<unknown>; length: number }>();
  #waiting = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param userId without one nothing is waited for but deletions that begin
   * @throws StoreFailed when too many wait already, of the user's or of all
   */
  async run<Result>(userId: string | undefined, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    if (userId === undefined) {
      return this.#among(() =>
        this.#database.transaction(async (transaction) => {
          await transaction.query(`select pg_advisory_xact_lock_shared(${lockWithoutUserId})`);
          return work(transaction);
        }),
      );
    }
    return this.inLine(userId, () =>
      this.#database.transaction(async (transaction) => {
        await transaction.query(lockUser, [userId]);
        return work(transaction);
      }),
    );
  }

  /**
   * Does a user's work in the user's line.
   * @throws StoreFailed when too many wait already, of the user's or of all
   */
  async inLine<Result>(userId: string, work: () => Promise<Result>): Promise<Result> {
    return this.#among(() => this.#inLine(userId, work));
  }

  async #among<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting === mostWaiting)
      throw new StoreFailed(`${mostWaiting} writes are waiting already: try again later`);
    this.#waiting++;
    try {
      return await work();
    } finally {
      this.#waiting--;
    }
  }

  async #inLine<Result>(userId: string, work: () => Promise<Result>): Promise<Result> {
    const line = this.#lines.get(userId) ?? { last: Promise.resolve(), length: 0 };
    if (line.length === mostInLine) {
      throw new StoreFailed(`${mostInLine} writes of one user are waiting already: try again later`);
    }
    this.#lines.set(userId, line);
    line.length++;
    const mine = line.last.then(work);
    // The caller gets its failure; the next one only waits for its end.
    line.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      line.length--;
      if (line.length === 0) this.#lines.delete(userId);
    }
  }
}

/**
 * From here to the end of the transaction nothing else is written for the user, and the user is not deleted. So of two
 * events the later replaces the earlier, and no event that was being written outlives a deletion. Users whose ids have
 * the same hash also wait for each other; that is rare and harmless.
 */
const lockUser = `select pg_advisory_xact_lock(${userLocks}, hashtext($1))`;

/** Held together by all transactions that do not know their user, and alone by a deletion that begins. */
const lockWithoutUserId = 5_402_391_045;

/**
 * Waits until running writes for unknown users are finished, and makes later ones wait for this transaction: so a
 * deletion sees the former, and the latter see the deletion.
 */
export async function lockWithoutUser(transaction: Transaction): Promise<void> {
  await transaction.query(`select pg_advisory_xact_lock(${lockWithoutUserId})`);
}
