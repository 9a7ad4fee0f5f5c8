import type { Database, Transaction } from './database.js';

/** A message as it came. */
export interface ReceivedMessage {
  /** The same in every delivery of one message. */
  id: string;
  /** The whole event as it was sent: kept aside when not all of it can be stored. */
  body: string;
  /** When it first came, ISO 8601; given where an event is replayed. By default now, by the database's clock. */
  receivedAt?: string;
}

/** The sender repeats a message for a day and a bit; a person may have it sent again for some days after that. */
const rememberedDays = 30;

/** As many as are deleted in well under a second. */
const mostAtOnce = 10_000;

/** Remembers a message; false when it was taken before. Waits for another transaction that is taking it right now. */
export async function isNew(transaction: Transaction, messageId: string): Promise<boolean> {
  const rows = await transaction.query(
    `insert into health_data.received_messages (message_id) values ($1)
     on conflict (message_id) do nothing returning message_id`,
    [messageId],
  );
  return rows.length === 1;
}

/** How often a store forgets old messages, while it takes new ones. */
const forgetEveryMs = 3_600_000;

/** Forgets messages that nobody sends again, beside the work of the store that is waited for. */
export class OldMessages {
  readonly #database: Database;
  #begunAt = -Infinity;
  #forgetting: Promise<void> | undefined;
  #isClosed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Call it with every message: it begins when the last time is long ago. */
  forgetNowAndThen(): void {
    const now = performance.now();
    if (this.#forgetting || this.#isClosed || now - this.#begunAt < forgetEveryMs) return;
    this.#begunAt = now;
    // A failure is heard by whoever asks the database next, and the next message tries it again.
    const again = () => {
      this.#begunAt = -Infinity;
    };
    this.#forgetting = this.#forgetAll()
      .catch(again)
      .finally(() => {
        this.#forgetting = undefined;
      });
  }

  /** Settles when nothing is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#forgetting;
  }

  async #forgetAll(): Promise<void> {
    let forgotten: number;
    do {
      forgotten = await forgetSome(this.#database);
    } while (forgotten === mostAtOnce && !this.#isClosed);
  }
}

async function forgetSome(database: Database): Promise<number> {
  const rows = await database.query(
    `delete from health_data.received_messages where message_id in (
       select message_id from health_data.received_messages
       where received_at < now() - make_interval(days => ${rememberedDays})
       order by received_at limit ${mostAtOnce})
     returning 1 as forgotten`,
  );
  return rows.length;
}
