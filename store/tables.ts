/** The first part of a user's advisory lock; the second is a hash of the id. */
export const userLocks = 540_239_104;

/**
 * The tables of health data, which docs/health-data.md describes. Keys are texts of at most 256 bytes (keys.ts), so every key fits
 * into an index. A missing part of a key is an empty text, because null equals nothing.
 */
const healthData = `
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
    -- The notice that the stream was fetched for, identified by the time at which it came.
    fetched_for timestamptz,
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
    state text not null default 'waiting' check (state in ('waiting', 'replayed', 'discarded', 'expired')),
    settled_at timestamptz,
    discard_reason text
  );
  create index rejected_events_waiting on health_data.rejected_events (id) where state = 'waiting';
  create index rejected_events_expired on health_data.rejected_events (id) where state = 'expired';
  create index rejected_events_by_user on health_data.rejected_events (user_id);

  create table health_data.deleted_users (
    user_id text primary key,
    deleted_at timestamptz not null default now(),
    -- Recognises events that name a deleted user by the product's reference alone (mentioned-users.ts).
    client_user_hash text
  );
  create index deleted_users_by_client_user on health_data.deleted_users (client_user_hash)
    where client_user_hash is not null;
`;

/**
 * Takes a message of a known user within the statement that writes it, so one round trip does it all. Once the lock is
 * held (user-transactions.ts) each statement of the function sees what was committed meanwhile, which the statement around it does not.
 * If another process holds the lock and the caller does not wait, the answer is `alone`, and nothing is done.
 * The limit is shorter than the time that the caller waits: what was given up must not be written later.
 */
const takeMessage = `
  create function health_data.take_message(taken_id text, of_user text, waits boolean) returns text
  language plpgsql set lock_timeout = '50s' as $$
  begin
    if waits then
      perform pg_advisory_xact_lock(${userLocks}, hashtext(of_user));
    elsif not pg_try_advisory_xact_lock(${userLocks}, hashtext(of_user)) then
      return 'alone';
    end if;
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

/** The table of who did what, append-only (audit-trail.ts). */
const auditTrail = `
  create table health_data.audit_trail (
    writer text not null,
    sequence integer not null,
    at timestamptz not null,
    actor text,
    action text not null,
    subjects jsonb not null,
    outcome text not null,
    details text not null,
    event text,
    key_id text not null,
    previous text not null,
    hash text not null,
    primary key (writer, sequence)
  );
  create unique index audit_trail_by_event on health_data.audit_trail (event) where event is not null;
  create index audit_trail_by_time on health_data.audit_trail (at, writer, sequence);
  create index audit_trail_by_subject on health_data.audit_trail using gin (subjects jsonb_path_ops);

  create table health_data.audit_checkpoints (
    id bigint generated always as identity primary key,
    made_at timestamptz not null default now(),
    signed text not null
  );
`;

/** The first migration. */
export const tables = healthData + takeMessage + auditTrail;

/** A writer reads what it needs to go on with its chain, and to store nothing twice: hashes. Nobody but the owner changes or removes a row. */
const appendable = 'insert, select (writer, sequence, hash, event)';

/**
 * The roles of deploy/database-roles.sql, and what each may do with each table: what its process's statements need. The ingress, which
 * strangers reach, reads neither streams nor the content of rejected events, and neither makes nor removes a tombstone. It has nothing to do with the audit trail.
 */
export const rights = {
  lab_ingress: {
    migrations: 'select',
    // An upsert reads the columns that it writes.
    summaries: 'select, insert, update',
    samples: 'select, insert, update',
    history_notices: 'select, insert, update',
    connections: 'select, insert, update',
    workout_streams: `select (user_id, workout_id, provider, notice, noticed_at, fetched_at, fetched_for),
      insert (user_id, workout_id, provider, notice, noticed_at), update (provider, notice, noticed_at)`,
    received_messages: 'select, insert, update, delete',
    rejected_events: `select (id, state, received_at), update (state, settled_at, body),
      insert (message_id, event_type, user_id, reason, body, received_at)`,
    deleted_users: 'select',
  },
  lab_worker: {
    migrations: 'select',
    summaries: 'select, insert, update, delete',
    samples: 'select, insert, update, delete',
    history_notices: 'select, insert, update, delete',
    connections: 'select, insert, update, delete',
    workout_streams: 'select, insert, update, delete',
    received_messages: 'select, insert, delete',
    rejected_events: 'select, insert, update, delete',
    deleted_users: 'select, insert, update',
    audit_trail: appendable,
  },
  lab_codec: { migrations: 'select', audit_trail: appendable },
  // What a crash lost is added by `labops audit verify`.
  lab_auditor: { migrations: 'select', audit_trail: 'select, insert', audit_checkpoints: 'select' },
  lab_reader: {
    summaries: 'select',
    samples: 'select',
    history_notices: 'select',
    connections: 'select',
    workout_streams: 'select',
  },
};
