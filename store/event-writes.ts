import { type Database, type Parameter, StoreFailed } from './database.js';
import type { Entry } from './keys.js';
import { writing } from './health-data-writing.js';
import type { Acceptance } from './messages.js';

type Table = Entry['table'];

/** Of each table, so one that waits for a connection or for a row does not stop the others. */
const mostAtOnce = 2;

const mostTogether = 100;

/** In characters. A larger event is itself many rows, and nobody waits for it. */
const largestTogether = 20_000;

interface Waiting {
  event: string;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

interface Line {
  running: number;
  waiting: Waiting[];
}

/** SQLSTATE's classes that are about rows, and may be about one event's: data, constraints, limits, locks. */
const aboutRows = /^(2[123]|40|5[45])...$/;

/** `alone`: nothing was done, because another process has the user's lock, or the database refuses something of one of the events. */
type Answer = Acceptance | 'alone';

/**
 * Takes and writes an event with one statement, and those that come while statements run together with the next one, because the
 * commit costs most. They are of different users, and none waits for another's lock.
 */
export class EventWrites {
  readonly #database: Database;
  readonly #lines = new Map<Table, Line>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Settles when the event is durable. A user has at most one event under way. */
  async write({ table, row }: Entry, { id, receivedAt }: { id: string; receivedAt?: string }): Promise<Acceptance> {
    const event = JSON.stringify({ ...row, messageId: id });
    const isForAll = receivedAt === undefined && event.length <= largestTogether;
    const answer = isForAll ? await this.#together(table, event) : 'alone';
    if (answer !== 'alone') return answer;
    const [acceptance] = await this.#send<Acceptance>(table, [event], true, receivedAt);
    if (!acceptance) throw new TypeError('take_message returns a row');
    return acceptance;
  }

  #together(table: Table, event: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const line = this.#lines.get(table) ?? { running: 0, waiting: [] };
      this.#lines.set(table, line);
      line.waiting.push({ event, resolve, reject });
      if (line.running < mostAtOnce) void this.#run(table, line);
    });
  }

  async #run(table: Table, line: Line): Promise<void> {
    line.running += 1;
    while (line.waiting.length > 0) {
      const together = line.waiting.splice(0, mostTogether);
      const events = together.map(({ event }) => event);
      try {
        const answers = await this.#send<Answer>(table, events, false);
        for (const [index, { resolve }] of together.entries()) resolve(answers[index] ?? 'alone');
      } catch (error) {
        const isOfOne = error instanceof StoreFailed && aboutRows.test(error.databaseCode ?? '');
        for (const { resolve, reject } of together) {
          if (isOfOne) resolve('alone');
          else reject(error);
        }
      }
    }
    line.running -= 1;
  }

  /** @param waits for the users' locks; what does not wait is answered `alone` */
  async #send<Answered>(
    table: Table,
    events: readonly string[],
    waits: boolean,
    receivedAt?: string,
  ): Promise<Answered[]> {
    const taking = `health_data.take_message("messageId", "userId", ${String(waits)})`;
    const parameters: Parameter[] = [`[${events.join(',')}]`, receivedAt ?? null];
    const rows = await this.#database.write<{ acceptance: Answered }>(writing(table, taking), parameters);
    return rows.map(({ acceptance }) => acceptance);
  }
}
