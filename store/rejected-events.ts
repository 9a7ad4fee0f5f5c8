import { type Database, isoOf, type Transaction } from './database.js';
import { keyPart, userKey } from './keys.js';
import type { ReceivedMessage } from './messages.js';

/** An event that could not be stored completely, or not handled. */
export interface RejectedEvent {
  /** Ascending: later ones are greater. */
  id: string;
  messageId: string;
  /** Null if it has none, or one that cannot be a type. */
  eventType: string | null;
  userId: string | null;
  /** The fault, without a value of the event. */
  reason: string;
  /** ISO 8601. */
  receivedAt: string;
  state: 'waiting' | 'replayed' | 'discarded' | 'expired';
  settledAt: string | null;
  discardReason: string | null;
}

/** A replayed event for its handler: unchanged, with the time at which it was received. */
export type ReplayedMessage = Required<ReceivedMessage>;

/** The event does not exist. */
export class RejectedEventNotFound extends Error {
  override readonly name = 'RejectedEventNotFound';

  constructor(id: string) {
    super(`There is no rejected event ${id}`);
  }
}

/** The event was replayed or discarded already, or waited for too long. */
export class RejectedEventSettled extends Error {
  override readonly name = 'RejectedEventSettled';

  constructor(id: string, state: string) {
    super(`The rejected event ${id} is ${state} already; its content is no longer kept.`);
  }
}

interface RejectedEventFilter {
  /** Default `waiting`. */
  state?: RejectedEvent['state'];
  /** Only events of exactly this type. */
  eventType?: string;
  /** Only events whose reason begins so, such as `not_handled`. */
  reason?: string;
  /** Only what comes after this event, the last of the page before. */
  after?: string;
  /** Default 100, at most 1,000. */
  limit?: number;
}

const columns = `id::text, message_id as "messageId", event_type as "eventType", user_id as "userId", reason,
  ${isoOf('received_at')} as "receivedAt", state, ${isoOf('settled_at')} as "settledAt",
  discard_reason as "discardReason"`;

/** For how many days a rejected event waits by default. A body may hold anything, a patient's name too. */
export const defaultRejectedDays = 90;

/** Bodies of 2 MiB and more are freed in a second or so. */
const expiredAtOnce = 200;

const highestId = '9223372036854775807';

/** The events that wait for a person: list, read, replay after the cause has been fixed, or discard. */
export class RejectedEvents {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The latest first, without their content. */
  async list(filter: RejectedEventFilter = {}): Promise<RejectedEvent[]> {
    const { state = 'waiting', eventType = null, reason = null, after = highestId, limit = 100 } = filter;
    if (!isId(after)) throw new TypeError('`after` is the id of a rejected event');
    const most = Math.min(Math.max(1, Math.trunc(limit)), 1000);
    return this.#database.query<RejectedEvent>(
      `select ${columns} from health_data.rejected_events
       where state = $1 and id < $2::bigint
         and ($3::text is null or event_type = $3) and ($4::text is null or starts_with(reason, $4))
       order by rejected_events.id desc limit ${most}`,
      [state, after, eventType, reason],
    );
  }

  /**
   * One event with its body as it was sent; null once it waits no longer.
   * @throws RejectedEventNotFound
   */
  async get(id: string): Promise<RejectedEvent & { body: string | null }> {
    const rows = isId(id)
      ? await this.#database.query<RejectedEvent & { body: string | null }>(
          `select ${columns}, body from health_data.rejected_events where id = $1::bigint`,
          [id],
        )
      : [];
    if (!rows[0]) throw new RejectedEventNotFound(id);
    return rows[0];
  }

  /** How many wait, or how many are in another state. */
  async count(state: RejectedEvent['state'] = 'waiting'): Promise<number> {
    const rows = await this.#database.query<{ count: number }>(
      `select count(*)::int as count from health_data.rejected_events where state = $1`,
      [state],
    );
    return rows[0]?.count ?? 0;
  }

  /**
   * Expires events that were received more than `days` ago, some at a time. Their content is erased; the rows stay.
   *
   * @returns true if there may be no more
   */
  async expire(days: number): Promise<boolean> {
    const rows = await this.#database.query(
      `update health_data.rejected_events set state = 'expired', settled_at = now(), body = null
       where state = 'waiting' and id in (
         select id from health_data.rejected_events
         where state = 'waiting' and received_at < now() - make_interval(days => $1::int)
         order by id limit ${expiredAtOnce})
       returning id`,
      [days],
    );
    return rows.length < expiredAtOnce;
  }

  /**
   * Discards the event. Its content is erased at once; the row stays, with the reason.
   *
   * @param reason for later readers; nothing personal
   * @throws RejectedEventNotFound, RejectedEventSettled
   */
  async discard(id: string, reason: string): Promise<void> {
    if (reason.trim() === '') throw new TypeError('Discarding an event needs a reason');
    if (!(await this.#settle(id, 'discarded', reason))) throw await this.#whySettled(id);
  }

  /**
   * Handles the event again. It counts as received when it was first received, so it replaces nothing newer. Its
   * message id is its own, the same for every replay: a replay that was interrupted after its work was done does
   * nothing a second time. Parts that still cannot be stored become a new rejected event.
   *
   * @param handle does what the webhook handler would do with it; if it rejects, the event keeps waiting
   * @throws RejectedEventNotFound, RejectedEventSettled, and what `handle` rejects with
   */
  async replay(id: string, handle: (message: ReplayedMessage) => Promise<unknown>): Promise<void> {
    const { messageId, body, state, receivedAt } = await this.get(id);
    if (state !== 'waiting' || body === null) throw new RejectedEventSettled(id, state);
    // No transaction meanwhile: PGlite has one connection, and the handling may well need it.
    await handle({ id: `${messageId}/replay/${id}`, body, receivedAt });
    if (!(await this.#settle(id, 'replayed', null))) throw await this.#whySettled(id);
  }

  async #settle(id: string, state: 'replayed' | 'discarded', reason: string | null): Promise<boolean> {
    if (!isId(id)) return false;
    const rows = await this.#database.query(
      `update health_data.rejected_events
       set state = $2, settled_at = now(), discard_reason = $3, body = null
       where id = $1::bigint and state = 'waiting' returning id`,
      [id, state, reason],
    );
    return rows.length > 0;
  }

  async #whySettled(id: string): Promise<Error> {
    const { state } = await this.get(id);
    return new RejectedEventSettled(id, state);
  }
}

/** The facts about an event that is stored aside. */
export interface EventToReject {
  eventType?: string | undefined;
  userId?: string | undefined;
  /** The fault, without a value of the event. */
  reason: string;
}

/**
 * Stores an event among the rejected ones. Values that cannot be part of a key are left out of the columns; the body
 * has them. A NUL, which JSON does not have but other bodies may, becomes U+FFFD: PostgreSQL's texts have no NUL, and
 * the sender would repeat it in vain.
 */
export async function storeRejected(
  transaction: Transaction,
  { eventType, userId, reason }: EventToReject,
  { id, body, receivedAt = null }: { id: string; body: string; receivedAt?: string | null },
): Promise<void> {
  await transaction.query(
    `insert into health_data.rejected_events (message_id, event_type, user_id, reason, body, received_at)
     values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, now()))`,
    [id, keyPart(eventType) ?? null, userKey(userId) ?? null, reason, body.replaceAll('\0', '\ufffd'), receivedAt],
  );
}

function isId(text: string): boolean {
  return /^\d{1,18}$/.test(text) || text === highestId;
}
