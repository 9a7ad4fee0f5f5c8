import type { Transaction } from './database.js';

/** A writer reads what it needs to go on with its chain, and to store nothing twice: hashes. Nobody but the owner changes or removes a row. */
const appendable = 'insert, select (writer, sequence, hash, event)';

/**
 * The roles of deploy/database-roles.sql, and what each may do with each table: what its process's statements need. The ingress, which
 * strangers reach, reads neither streams nor the content of rejected events, and neither makes nor removes a tombstone. It has nothing to do with the audit trail.
 */
const rights = {
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

/** Gives those of the roles that exist their rights, and returns their names. Rights that they have already stay. */
export async function giveRights(transaction: Transaction): Promise<string[]> {
  const found = await transaction.query<{ role: keyof typeof rights }>(
    `select rolname as role from pg_catalog.pg_roles
     where rolname in (select jsonb_array_elements_text($1::jsonb)) order by rolname`,
    [JSON.stringify(Object.keys(rights))],
  );
  for (const { role } of found) {
    const onTables = Object.entries(rights[role]).map(
      ([table, some]) => `grant ${some} on health_data.${table} to ${role};`,
    );
    await transaction.script(`grant usage on schema health_data to ${role}; ${onTables.join(' ')}`);
  }
  return found.map(({ role }) => role);
}
