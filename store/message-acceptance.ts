import type { HealthDataRead } from '../service/webhooks/health-data.js';
import { StoreFailed, type Transaction } from './database.js';
import { isDeleted, namesDeleted } from './deleted-users.js';
import type { EventWrites } from './event-writes.js';
import { keyed, userKey } from './keys.js';
import type { ReferenceHashes } from './reference-hashes.js';
import { type Acceptance, isNew, type ReceivedMessage } from './messages.js';
import { type EventToReject, storeRejected } from './rejected-events.js';
import type { UserTransactions } from './user-transactions.js';
import { write } from './health-data-writing.js';

/** The dependencies of taking a message. */
interface Taking {
  transactions: UserTransactions;
  /** By which a tombstone is recognised. */
  hashes: ReferenceHashes;
}

/** Takes a message in one transaction: the rows with keys, the rest, and the fact that the message was taken. */
export async function accept(
  { transactions, hashes, writes }: Taking & { writes: EventWrites },
  read: HealthDataRead,
  message: ReceivedMessage,
): Promise<Acceptance> {
  const { entry, problem } = keyed(read);
  const { eventType, userId } = read;
  const aside = (reason: string): EventToReject => ({ eventType, userId, reason });
  try {
    // Nearly all messages come this way, which does in one statement what `once` and `write` do.
    if (entry && problem === undefined) {
      return await transactions.inLine(entry.row.userId, () => writes.write(entry, message));
    }
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
