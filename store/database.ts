import { type ErrorKind, unavailable } from '../service/lab-operations-error.js';

/** The store's interface to a database. PostgreSQL and PGlite both implement it, and get the same SQL. */
export interface Database {
  /** One statement on its own. */
  query<Row extends object>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /**
   * Committed when the work resolves, rolled back when it rejects. All of its statements must go through the given
   * transaction.
   */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Runs one of the few statements that write, prepared. It takes one of the connections for transactions, so reads keep theirs. */
  write<Row extends object>(sql: string, parameters: readonly Parameter[]): Promise<Row[]>;
  /**
   * Removes deleted rows of these tables from the files too, if that does not happen by itself.
   *
   * @param tables our own names, never a caller's
   */
  scrub(tables: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface Transaction {
  query<Row extends object>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** Several statements without parameters. */
  script(sql: string): Promise<void>;
}

/**
 * Texts, numbers and null only: everything else would be turned into SQL differently by the two drivers. Lists and
 * objects go in as JSON.
 */
export type Parameter = string | number | null;

/**
 * The database failed. The drivers' errors quote rows and parameters, in `message`, `detail`, `where` and `params`:
 * this error has only the code, and none of theirs as its cause.
 */
export class StoreFailed extends unavailable('StoreFailed', 'Repeat the call once the database answers again.') {
  /** PostgreSQL's five characters (SQLSTATE), or the operating system's code such as ECONNREFUSED. */
  readonly databaseCode: string | undefined;

  constructor(message: string, databaseCode?: string) {
    super(message);
    this.databaseCode = databaseCode;
  }

  override get kind(): ErrorKind {
    if (this.isDataRefused) return 'refused';
    return /^(28|3D|42501)/.test(this.databaseCode ?? '') ? 'misconfigured' : super.kind;
  }

  /** True if the data were refused, and would be again: SQLSTATE's classes of data exceptions and exceeded limits. */
  get isDataRefused(): boolean {
    return this.databaseCode !== undefined && /^(22|54)...$/.test(this.databaseCode);
  }
}

/** The database can never store what the service sends: a name, or an emoji in a note, would be refused forever. */
export class DatabaseNotUtf8 extends StoreFailed {
  static override readonly kind = 'misconfigured';
  static override readonly remedy = "Create one with encoding 'UTF8' from template0, and set DATABASE_URL to it.";
  readonly problem: string;

  constructor(encoding: string) {
    const problem = `The database has the encoding ${encoding}, and only UTF8 can hold what the service sends.`;
    super(`${problem} ${DatabaseNotUtf8.remedy}`);
    this.problem = problem;
  }
}

/** @throws DatabaseNotUtf8 */
export async function requireUtf8(database: Database): Promise<void> {
  const [row] = await database.query<{ server_encoding: string }>('show server_encoding');
  if (row !== undefined && row.server_encoding !== 'UTF8') throw new DatabaseNotUtf8(row.server_encoding);
}

/** The message of these classes is about the connection, the access or the server, never about a row. */
const loggableStates = /^(08|28|3D|3F|53|57|58)|^42501$/;

const missingRight = '42501';

/** The driver's error as one that can be logged. */
export function storeFailure(error: unknown): StoreFailed {
  if (error instanceof StoreFailed) return error;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return new StoreFailed('The database failed.');
  const code = codeOf(first);
  if (code === undefined || !isSqlState(code)) return new StoreFailed(`The database failed: ${first.message}`, code);
  const remedy =
    code === missingRight ? ' (`labops migrate` gives the roles of deploy/database-roles.sql their rights)' : '';
  const reason = loggableStates.test(code) ? `: ${first.message}${remedy}` : '';
  return new StoreFailed(`The database refused a statement (SQLSTATE ${code})${reason}`, code);
}

/** The SQLSTATE, if the server itself answered; otherwise the state of the connection is not known. */
export function serverAnswer(error: unknown): string | undefined {
  const code = codeOf(error);
  return code !== undefined && isSqlState(code) ? code : undefined;
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof StoreFailed) return error.databaseCode;
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code);
}

/** An instant as the store gives it out: ISO 8601 in UTC with microseconds. */
export function isoOf(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** @throws StoreFailed for every error of the work */
export async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw storeFailure(error);
  }
}
