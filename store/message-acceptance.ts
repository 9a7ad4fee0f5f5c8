import type { HealthDataRead } from '../service/webhooks/health-data.js';
import { StoreFailed, type Transaction } from './database.js';
import { isDeleted, namesDeleted } from './deleted-users.js';
import { type Entry, keyed, userKey } from './keys.js';
import type { ReferenceHashes } from './reference-hashes.js';
import { isNew, type ReceivedMessage } from './messages.js';
import { type EventToReject, storeRejected } from './rejected-events.js';
import type { UserTransactions } from './user-transactions.js';
import { write, writing } from './health-data-writing.js';

/**
 * The result of a message. `stored`: all of it. `set_aside`: a part could not be stored, so the message also waits
 * among the rejected events. `repeated`: it was taken before, and nothing changed. `user_deleted`: nothing of it was
 * stored.
 */
export type Acceptance = 'stored' | 'set_aside' | 'repeated' | 'user_deleted';

/** The dependencies of taking a message. */
interface Taking {
  transactions: UserTransactions;
  /** By which a tombstone is recognised. */
  hashes: ReferenceHashes;
}

/** Takes a message in one transaction: the rows with keys, the rest, and the fact that the message was taken. */
export async function accept(
  { transactions, hashes }: Taking,
  read: HealthDataRead,
  message: ReceivedMessage,
): Promise<Acceptance> {
  const { entry, problem } = keyed(read);
  const { eventType, userId } = read;
  const aside = (reason: string): EventToReject => ({ eventType, userId, reason });
  try {
    if (entry && problem === undefined) return await store(transactions, entry, message);
    return await once({ transactions, hashes }, userId, message, async (transaction) => {
      if (entry) await write(transaction, entry, message.receivedAt ?? null);
      if (problem === undefined) return 'stored';
      await storeRejected(transaction, aside(problem), message);
      return 'set_aside';
    });
  } catch (error) {
    // The sender would repeat it until it gives up, and would be refused each time.
    if (!(error instanceof StoreFailed && error.isDataRefused)) throw error;
    return setAside(
      { transactions, hashes },
      aside(`the database refused a value (SQLSTATE ${error.databaseCode})`),
      message,
    );
  }
}

/** Does what `once` and `write` do, in one statement: nearly all messages come this way. */
async function store(transactions: UserTransactions, entry: Entry, message: ReceivedMessage): Promise<Acceptance> {
  const { sql, parameters } = writing(entry, message.receivedAt ?? null, `(select acceptance from taken) = 'stored'`);
  const { userId } = entry.row;
  const taken = `select health_data.take_message($${parameters.length + 1}, $${parameters.length + 2}) as acceptance`;
  const [answer] = await transactions.runStatement<{ acceptance: Acceptance }>(userId, {
    sql: `with taken as materialized (${taken}), written as (${sql}) select acceptance from taken`,
    parameters: [...parameters, message.id, userId],
  });
  if (!answer) throw new TypeError('take_message returns a row');
  return answer.acceptance;
}

/** Takes an unhandled message. */
export async function setAside(taking: Taking, event: EventToReject, message: ReceivedMessage): Promise<Acceptance> {
  return once(taking, event.userId, message, async (transaction) => {
    await storeRejected(transaction, event, message);
    return 'set_aside';
  });
}

async function once(
  { transactions, hashes }: Taking,
  user: string | undefined,
  message: ReceivedMessage,
  take: (transaction: Transaction) => Promise<Acceptance>,
): Promise<Acceptance> {
  const userId = userKey(user);
  return transactions.run(userId, async (transaction) => {
    if (!(await isNew(transaction, message.id))) return 'repeated';
    const isOfDeletedUser =
      userId === undefined
        ? await namesDeleted(transaction, hashes, message.body)
        : await isDeleted(transaction, userId);
    if (isOfDeletedUser) return 'user_deleted';
    return take(transaction);
  });
}
