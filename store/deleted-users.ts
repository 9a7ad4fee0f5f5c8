import type { Database, Transaction } from './database.js';
import { escapedInIds, textsOf, usersMentionedIn, withPlainIds } from './mentioned-users.js';
import type { ReferenceHashes } from './reference-hashes.js';
import { lockWithoutUser, type UserTransactions } from './user-transactions.js';

/**
 * For how many days after a deletion the reference alone refuses an event. The service repeats an event for a day and a bit, and sends events
 * again for 60 days on request; after that the reference is somebody else's.
 */
const referenceRefusedDays = 62;

/** True if the user's data were deleted, so later data are refused. Within a transaction of the user. */
export async function isDeleted(transaction: Transaction, userId: string): Promise<boolean> {
  const rows = await transaction.query('select 1 as found from health_data.deleted_users where user_id = $1', [userId]);
  return rows.length > 0;
}

/** The same for a message without a user in the usual place, by any id in its body. */
export async function namesDeleted(transaction: Transaction, hashes: ReferenceHashes, body: string): Promise<boolean> {
  const { userIds, clientUserIds } = usersMentionedIn(body);
  const clientUserHashes = clientUserIds.flatMap((reference) => hashes.all(reference));
  if (userIds.length + clientUserHashes.length === 0) return false;
  const rows = await transaction.query(
    `select 1 as found from health_data.deleted_users
     where user_id in (select jsonb_array_elements_text($1::jsonb))
       or client_user_hash in (select jsonb_array_elements_text($2::jsonb))
         and deleted_at > now() - make_interval(days => ${referenceRefusedDays}) limit 1`,
    [JSON.stringify(userIds), JSON.stringify(clientUserHashes)],
  );
  return rows.length > 0;
}

/** The fields in which the service names a user and their work. */
const idFields = [
  'id',
  'user_id',
  'order_id',
  'job_id',
  'appointment_id',
  'parent_id',
  'resolved_user_id',
  'resolved_order_id',
];

/** In rows. Keeps every statement short, however much a user has. */
const chunk = 20_000;

const tablesOfUsers = ['samples', 'summaries', 'workout_streams', 'history_notices', 'connections', 'rejected_events'];

/** A user who is deleted, and other keys to rejected events about the user. */
export interface UserToDelete {
  userId: string;
  clientUserId?: string;
  /** Ids of the user's orders, jobs and the like. */
  workIds?: readonly string[];
}

/**
 * Deletes all data of a user and refuses later data. The refusal comes first and stays, so an interrupted deletion is
 * finished by calling this again.
 */
export async function deleteUser(
  database: Database,
  transactions: UserTransactions,
  hashes: ReferenceHashes,
  { userId, clientUserId, workIds = [] }: UserToDelete,
): Promise<void> {
  await transactions.run(userId, async (transaction) => {
    await lockWithoutUser(transaction);
    await transaction.query(
      `insert into health_data.deleted_users as kept (user_id, client_user_hash) values ($1, $2)
       on conflict (user_id) do update set client_user_hash = coalesce(excluded.client_user_hash, kept.client_user_hash)`,
      [userId, clientUserId === undefined ? null : hashes.kept(clientUserId)],
    );
  });
  for (const table of tablesOfUsers) await deleteFrom(database, table, userId);
  const ofReference = textsOfReference(clientUserId);
  const ofUser = textsOfIds([userId, ...workIds]);
  await deleteRejectedMentioning(database, ofUser);
  await deleteRejectedAbout(database, { userId, ofUser, ofReference });
  await database.scrub(tablesOfUsers.map((table) => `health_data.${table}`));
}

/** The texts by which a rejected event that names no user is found. */
export function textsOfIds(ids: readonly string[]): string[] {
  return [...new Set(ids.flatMap((id) => textsOf(id, idFields)))];
}

/** The same of the product's own id of a user. */
export function textsOfReference(clientUserId: string | undefined): string[] {
  return clientUserId ? textsOf(clientUserId, ['client_user_id']) : [];
}

/** The rows that name the user, tombstone excepted. */
export async function countUser(database: Database, userId: string): Promise<number> {
  const counts = tablesOfUsers.map((table) => `(select count(*) from health_data.${table} where user_id = $1)`);
  const [row] = await database.query<{ rows: string }>(`select (${counts.join(' + ')})::text as rows`, [userId]);
  return Number(row?.rows);
}

async function deleteFrom(database: Database, table: string, userId: string): Promise<void> {
  let deleted: number;
  do {
    const rows = await database.query(
      `delete from health_data.${table} where ctid = any (array(
         select ctid from health_data.${table} where user_id = $1 limit ${chunk}))
       returning 1 as deleted`,
      [userId],
    );
    deleted = rows.length;
  } while (deleted === chunk);
}

/**
 * In rows. Their whole bodies are searched, 2 MiB each at most by default, at some 200 MB/s (measured): a few seconds, far
 * from the limit for a statement.
 */
const searchedAtOnce = 200;

/** Each text reads the bodies once more: this many keep a statement that short. */
const textsAtOnce = 5;

/** An unreadable event may name the user anywhere; `deleteRejectedAbout` reads those that spell an id in another way. Events that arrive in the meantime are refused by the tombstone. */
async function deleteRejectedMentioning(database: Database, texts: readonly string[]): Promise<void> {
  for (let after: string | null = '0'; after !== null;) {
    let last: string | null = null;
    for (let from = 0; from < texts.length; from += textsAtOnce) {
      const searched = await deletePage(database, texts.slice(from, from + textsAtOnce), after);
      // What is deleted makes room for later rows, which the first texts have not been looked for in yet.
      if (from === 0) last = searched;
    }
    after = last;
  }
}

interface Traces {
  userId: string;
  /** One of these texts is enough. */
  ofUser: readonly string[];
  /** Texts that may be about somebody else, to whom the product has given the reference since. */
  ofReference: readonly string[];
}

/** Deletes what only a look at the whole body shows to be about the user: by the reference, or with characters of an id spelled by number. */
async function deleteRejectedAbout(database: Database, traces: Traces): Promise<void> {
  for await (const id of rejectedThatMayContain(database, traces.ofReference))
    await deleteIfAbout(database, traces, id);
}

/** The ids of waiting rejected events that contain one of the texts, or an id with characters spelled by number. */
export async function* rejectedThatMayContain(
  database: Database,
  texts: readonly string[],
): AsyncGenerator<string, void, undefined> {
  for (let after: string | null = '0'; after !== null;) {
    const candidates = new Map<string, boolean>();
    for (let from = 0; from === 0 || from < texts.length; from += textsAtOnce) {
      const rows: { id: string; isCandidate: boolean }[] = await database.query(
        `select id::text, body ~* '${escapedInIds}' or exists (
           select 1 from (select lower(body) as lowered offset 0) as said, jsonb_array_elements_text($1::jsonb) as spelled
           where position(lower(spelled) in lowered) > 0) as "isCandidate"
         from (select id, body from health_data.rejected_events
           where state = 'waiting' and id > $2::bigint order by id limit ${searchedAtOnce}) as searched order by searched.id`,
        [JSON.stringify(texts.slice(from, from + textsAtOnce)), after],
      );
      // A row that has come since the first texts were looked for is on the next page.
      for (const { id, isCandidate } of rows) {
        if (from === 0 || candidates.has(id)) candidates.set(id, isCandidate || candidates.get(id) === true);
      }
    }
    for (const [id, isCandidate] of candidates) if (isCandidate) yield id;
    after = [...candidates.keys()].at(-1) ?? null;
  }
}

/** One body at a time: each may have 2 MiB and more. */
async function deleteIfAbout(database: Database, traces: Traces, id: string): Promise<void> {
  const [event] = await database.query<{ user: string | null; body: string | null }>(
    `select user_id as user, body from health_data.rejected_events where id = $1::bigint and state = 'waiting'`,
    [id],
  );
  if (!event || !isAbout(traces, event)) return;
  await database.query(`delete from health_data.rejected_events where id = $1::bigint and state = 'waiting'`, [id]);
}

export function isAbout(
  { userId, ofUser, ofReference }: Traces,
  event: { user: string | null; body: string | null },
): boolean {
  const body = withPlainIds(event.body ?? '');
  const lowered = body.toLowerCase();
  const isIn = (text: string) => lowered.includes(text.toLowerCase());
  if (ofUser.some(isIn)) return true;
  const named = [...usersMentionedIn(body).userIds, ...(event.user === null ? [] : [event.user])];
  return ofReference.some(isIn) && named.every((id) => id === userId);
}

/** Deletes from the next rows those that contain one of the texts. Returns the id of the last row; null if there is none. */
async function deletePage(database: Database, texts: readonly string[], after: string): Promise<string | null> {
  const rows = await database.query<{ last: string | null }>(
    `with searched as (
         select id from health_data.rejected_events
         where state = 'waiting' and id > $2::bigint order by id limit ${searchedAtOnce}
       ), deleted as (
         delete from health_data.rejected_events where id in (select id from searched) and exists (
           select 1 from (select lower(body) as lowered offset 0) as said, jsonb_array_elements_text($1::jsonb) as spelled
           where position(lower(spelled) in lowered) > 0)
       )
       select max(id)::text as last from searched`,
    [JSON.stringify(texts), after],
  );
  return rows[0]?.last ?? null;
}
