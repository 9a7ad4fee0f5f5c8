/** The first part of a user's advisory lock; the second is a hash of the id. */
export const userLocks = 540_239_104;

/**
 * The first migration: docs/health-data.md describes the tables. Keys are texts of at most 256 bytes (keys.ts), so
 * every key fits into an index. A missing part of a key is an empty text, because null equals nothing.
 */
export const tables = `
  create table health_data.summaries (
    user_id text not null,
    resource text not null,
    summary_id text not null,
    provider text not null,
    source_type text not null,
    day date,
    updated_at timestamptz,
    data jsonb not null,
    received_at timestamptz not null,
    primary key (user_id, resource, summary_id)
  );
  create index summaries_by_day on health_data.summaries (user_id, day);

  create table health_data.samples (
    user_id text not null,
    resource text not null,
    sampled_at timestamptz not null,
    provider text not null,
    source_type text not null,
    data jsonb not null,
    received_at timestamptz not null,
    primary key (user_id, resource, sampled_at, provider, source_type)
  );

  create table health_data.workout_streams (
    user_id text not null,
    workout_id text not null,
    provider text not null,
    notice jsonb,
    noticed_at timestamptz,
    stream jsonb,
    fetched_at timestamptz,
    primary key (user_id, workout_id)
  );

  create table health_data.history_notices (
    user_id text not null,
    resource text not null,
    provider text not null,
    source_type text not null,
    data jsonb not null,
    received_at timestamptz not null,
    primary key (user_id, resource, provider, source_type)
  );

  create table health_data.connections (
    user_id text not null,
    provider text not null,
    event_type text not null,
    data jsonb not null,
    received_at timestamptz not null,
    primary key (user_id, provider)
  );

  create table health_data.received_messages (
    message_id text primary key,
    received_at timestamptz not null default now()
  );
  create index received_messages_by_age on health_data.received_messages (received_at);

  create table health_data.rejected_events (
    id bigint generated always as identity primary key,
    message_id text not null,
    event_type text,
    user_id text,
    reason text not null,
    body text,
    received_at timestamptz not null,
    state text not null default 'waiting' check (state in ('waiting', 'replayed', 'discarded')),
    settled_at timestamptz,
    discard_reason text
  );
  create index rejected_events_waiting on health_data.rejected_events (id) where state = 'waiting';
  create index rejected_events_by_user on health_data.rejected_events (user_id);

  create table health_data.deleted_users (
    user_id text primary key,
    deleted_at timestamptz not null default now()
  );
`;

/** The second: the notice that a stream was fetched for, identified by the time at which it came. */
export const streamVersions = `
  alter table health_data.workout_streams add column fetched_for timestamptz;
`;

/** The third: recognises events that name a deleted user by the product's reference alone (mentioned-users.ts). */
export const deletedClientUsers = `
  alter table health_data.deleted_users add column client_user_hash text;
  create index deleted_users_by_client_user on health_data.deleted_users (client_user_hash)
    where client_user_hash is not null;
`;

/**
 * The fourth: rejected events that waited for too long. Hashes that were made without a key are removed: the reference
 * could be found by trying.
 */
export const expiredEvents = `
  alter table health_data.rejected_events drop constraint rejected_events_state_check;
  alter table health_data.rejected_events add constraint rejected_events_state_check
    check (state in ('waiting', 'replayed', 'discarded', 'expired'));
  create index rejected_events_expired on health_data.rejected_events (id) where state = 'expired';
  update health_data.deleted_users set client_user_hash = null;
`;

/** In the order in which they are made canonical: the tombstones last, because they say which rows must go. */
const tablesWithUsers = [
  { table: 'summaries', rest: ['resource', 'summary_id'], at: 'received_at' },
  { table: 'samples', rest: ['resource', 'sampled_at', 'provider', 'source_type'], at: 'received_at' },
  { table: 'workout_streams', rest: ['workout_id'], at: `greatest(noticed_at, fetched_at, '-infinity')` },
  { table: 'history_notices', rest: ['resource', 'provider', 'source_type'], at: 'received_at' },
  { table: 'connections', rest: ['provider'], at: 'received_at' },
  { table: 'deleted_users', rest: [], at: 'client_user_hash is not null desc, deleted_at' },
];

/** The users of a table whose id is a UUID in another spelling. Skips from user to user: a user may have millions of samples. */
const respelled = (table: string): string => `
    insert into respelled
      with recursive users as (
        select min(user_id) as user_id from health_data.${table}
        union all
        select (select min(user_id) from health_data.${table} where user_id > users.user_id) from users
        where users.user_id is not null
      )
      select user_id, health_data.canonical_id(user_id) from users
      where user_id <> health_data.canonical_id(user_id)
      on conflict do nothing;`;

/** Of two rows for the same thing the one that came last stays. */
const oneSpelling = ({ table, rest, at }: (typeof tablesWithUsers)[number]): string => `
    truncate respelled;
    ${respelled(table)}
    delete from health_data.${table} as kept using (
      select ctid, row_number() over (
        partition by health_data.canonical_id(user_id)${rest.map((column) => `, ${column}`).join('')} order by ${at} desc, user_id
      ) as place
      from health_data.${table}
      where user_id in (select given from respelled union all select canonical from respelled)
    ) as ranked where kept.ctid = ranked.ctid and ranked.place > 1;
    update health_data.${table} as kept set user_id = canonical from respelled where user_id = given;`;

/**
 * The sixth: a UUID has one spelling (service/canonical-id.ts). Rows of a deleted user that the deletion missed because they had another
 * one are deleted.
 */
export const oneSpellingOfUsers = `
  create function health_data.canonical_id(given text) returns text language sql immutable as $$
    select case when digits ~ '^[0-9a-f]{32}$'
      then regexp_replace(digits, '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '\\1-\\2-\\3-\\4-\\5') else given end
    from (select replace(regexp_replace(lower(given), '^[\\s{]*(urn:)?(uuid:)?[\\s{]*([0-9a-f-]+)[\\s}]*$', '\\3'), '-', '') as digits) as read
  $$;
  create temporary table respelled (given text primary key, canonical text not null) on commit drop;
  delete from health_data.workout_streams as kept using (
    select ctid, row_number() over (
      partition by user_id, health_data.canonical_id(workout_id) order by greatest(noticed_at, fetched_at, '-infinity') desc
    ) as place
    from health_data.workout_streams
  ) as ranked where kept.ctid = ranked.ctid and ranked.place > 1;
  update health_data.workout_streams set workout_id = health_data.canonical_id(workout_id)
    where workout_id <> health_data.canonical_id(workout_id);
  ${tablesWithUsers.map(oneSpelling).join('')}
  update health_data.rejected_events set user_id = health_data.canonical_id(user_id)
    where user_id <> health_data.canonical_id(user_id);
  ${['samples', 'summaries', 'workout_streams', 'history_notices', 'connections', 'rejected_events']
    .map(
      (table) => `delete from health_data.${table} where user_id in (select user_id from health_data.deleted_users);`,
    )
    .join(' ')}
  drop function health_data.canonical_id(text);
`;

/**
 * The fifth: takes a message of a known user within the statement that writes it, so one round trip does it all. Once the lock is
 * held (user-transactions.ts) each statement of the function sees what was committed meanwhile, which the statement around it does not.
 * The limit is shorter than the time that the caller waits: what was given up must not be written later.
 */
export const takeMessage = `
  create function health_data.take_message(taken_id text, of_user text) returns text
  language plpgsql set lock_timeout = '50s' as $$
  begin
    perform pg_advisory_xact_lock(${userLocks}, hashtext(of_user));
    insert into health_data.received_messages (message_id) values (taken_id) on conflict (message_id) do nothing;
    if not found then
      return 'repeated';
    end if;
    if exists (select from health_data.deleted_users where user_id = of_user) then
      return 'user_deleted';
    end if;
    return 'stored';
  end $$;
`;
