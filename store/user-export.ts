import type { Database, Parameter } from './database.js';
import { isAbout, rejectedThatMayContain, textsOfIds, textsOfReference } from './deleted-users.js';

/** A row that is about a user: `kind` is its table, and the rest its columns. Times are ISO 8601. */
export interface ExportedRow {
  kind: keyof typeof tables;
  [column: string]: unknown;
}

interface Table {
  /** The columns that tell two rows of one user apart, with their types. */
  key: Readonly<Record<string, string>>;
  /** So many fit into memory many times over. */
  page: number;
}

const tables = {
  connections: { key: { provider: 'text' }, page: 100 },
  history_notices: { key: { resource: 'text', provider: 'text', source_type: 'text' }, page: 100 },
  summaries: { key: { resource: 'text', summary_id: 'text' }, page: 200 },
  samples: {
    key: { resource: 'text', sampled_at: 'timestamptz', provider: 'text', source_type: 'text' },
    page: 2_000,
  },
  workout_streams: { key: { workout_id: 'text' }, page: 5 },
  rejected_events: { key: { id: 'bigint' }, page: 5 },
  deleted_users: { key: { user_id: 'text' }, page: 1 },
} satisfies Record<string, Table>;

/**
 * Everything that the tables hold of a user.
 * @param userId as we write it
 * @param known by which rejected events may name the user alone: the ids of the user's orders and the like, and the product's own id
 */
export async function* userRows(
  database: Database,
  userId: string,
  known: { workIds?: readonly string[]; clientUserId?: string | undefined },
): AsyncGenerator<ExportedRow, void, undefined> {
  for (const [kind, { key, page }] of Object.entries(tables) as [ExportedRow['kind'], Table][]) {
    const columns = Object.keys(key);
    const next = Object.values(key).map((type, index) => `$${index + 2}::${type}`);
    let after: Parameter[] | undefined;
    do {
      const rows: { row: Record<string, unknown>; after: string[] }[] = await database.query(
        `select to_jsonb(held) as row, jsonb_build_array(${columns.map((column) => `${column}::text`).join(', ')}) as after
         from health_data.${kind} as held
         where user_id = $1 ${after ? `and (${columns.join(', ')}) > (${next.join(', ')})` : ''}
         order by ${columns.join(', ')} limit ${page}`,
        [userId, ...(after ?? [])],
      );
      for (const { row } of rows) yield { kind, ...row };
      after = rows.length < page ? undefined : rows.at(-1)?.after;
    } while (after);
  }
  yield* rejectedMentioning(database, userId, known);
}

/**
 * An event that could not be read may contain an id of the user anywhere: those that a deletion erases for it, but for one that names
 * only the user's work beside another person. One at a time.
 */
async function* rejectedMentioning(
  database: Database,
  userId: string,
  { workIds = [], clientUserId }: Parameters<typeof userRows>[2],
): AsyncGenerator<ExportedRow, void, undefined> {
  const ofReference = [...textsOfIds(workIds), ...textsOfReference(clientUserId)];
  const traces = { userId, ofUser: textsOfIds([userId]), ofReference };
  for await (const id of rejectedThatMayContain(database, [...traces.ofUser, ...traces.ofReference])) {
    const [found] = await database.query<{ row: { user_id: string | null; body: string | null } }>(
      `select to_jsonb(held) as row from health_data.rejected_events as held
       where id = $1::bigint and user_id is distinct from $2`,
      [id, userId],
    );
    if (found && isAbout(traces, { user: found.row.user_id, body: found.row.body }))
      yield { kind: 'rejected_events', ...found.row };
  }
}
