import type { Database, Transaction } from './database.js';

/** A message as it came. */
export interface ReceivedMessage {
  /** The same in every delivery of one message. */
  id: string;
  /** The whole event as it was sent: kept aside when not all of it can be stored. */
  body: string;
  /** When it first came, ISO 8601; given if an event is replayed. By default now, by the database's clock. */
  receivedAt?: string;
}

/**
 * The result of a message. `stored`: all of it. `set_aside`: a part could not be stored, so the message also waits
 * among the rejected events. `repeated`: it was taken before, and nothing changed. `user_deleted`: nothing of it was
 * stored.
 */
export type Acceptance = 'stored' | 'set_aside' | 'repeated' | 'user_deleted';

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

/** True if a message was taken in the last so many seconds, by the database's clock. */
export async function wasTaken(database: Database, messageId: string, withinSeconds: number): Promise<boolean> {
  const rows = await database.query(
    `select 1 as taken from health_data.received_messages
     where message_id = $1 and received_at > now() - make_interval(secs => $2)`,
    [messageId, withinSeconds],
  );
  return rows.length === 1;
}

/** Remembers a message that another system took, from now on if it was known already. */
export async function rememberMessage(database: Database, messageId: string): Promise<void> {
  await database.query(
    `insert into health_data.received_messages (message_id) values ($1)
     on conflict (message_id) do update set received_at = now()`,
    [messageId],
  );
}

/** Removes some of the messages that are too old to be repeated, and returns true if there may be no more. */
export async function forgetOldMessages(database: Database): Promise<boolean> {
  const rows = await database.query(
    `delete from health_data.received_messages where message_id in (
       select message_id from health_data.received_messages
       where received_at < now() - make_interval(days => ${rememberedDays})
       order by received_at limit ${mostAtOnce})
     returning 1 as forgotten`,
  );
  return rows.length < mostAtOnce;
}
