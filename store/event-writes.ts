import { type Database, type Parameter, StoreFailed } from './database.js';
import type { Entry } from './keys.js';
import { writing } from './health-data-writing.js';
import type { Acceptance } from './messages.js';

type Table = Entry['table'];

const mostTogether = 100;

/** In characters. A larger event is itself many rows, and nobody waits for it. */
const largestTogether = 20_000;

interface Waiting {
  event: string;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** `alone`: nothing was done, because another process has the user's lock, or the database refuses a value of one of the events. */
type Answer = Acceptance | 'alone';

/**
 * Takes and writes an event with one statement, and those that come while it runs with the next, because a commit is what they cost
 * most. They are of different users, and none waits for another's lock.
 */
export class EventWrites {
  readonly #database: Database;
  readonly #waiting = new Map<Table, Waiting[]>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Settles when the event is durable. Of one user one event may be on its way at a time. */
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
      const running = this.#waiting.get(table);
      const waiting = running ?? [];
      waiting.push({ event, resolve, reject });
      if (!running) void this.#run(table, waiting);
    });
  }

  async #run(table: Table, waiting: Waiting[]): Promise<void> {
    this.#waiting.set(table, waiting);
    while (waiting.length > 0) {
      const together = waiting.splice(0, mostTogether);
      try {
        const answers = await this.#send<Answer>(
          table,
          together.map(({ event }) => event),
          false,
        );
        for (const [index, { resolve }] of together.entries()) resolve(answers[index] ?? 'alone');
      } catch (error) {
        const isRefused = error instanceof StoreFailed && error.isDataRefused;
        for (const { resolve, reject } of together) {
          if (isRefused) resolve('alone');
          else reject(error);
        }
      }
    }
    this.#waiting.delete(table);
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
