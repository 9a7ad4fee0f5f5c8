/** Headers that may be kept: none of them carries a secret or personal data. */
const keptHeaders = ['x-idempotency-key', 'x-idempotency-error', 'content-type', 'user-agent'] as const;
/** Older requests are forgotten. */
const mostEntries = 50_000;

export type RequestOutcome = 'pending' | 'answered' | 'dropped' | 'refused';

/** One request, without its body and its credentials. */
interface LoggedRequest {
  /** By the stand-in's clock. */
  readonly at: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** With its question mark, and `***` for the token of a link's page; empty when there was none. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The answer's status; null while pending, or if the connection was closed instead. */
  status: number | null;
  outcome: RequestOutcome;
}

/** The requests so far: enough to count creations. The control interface is not logged. */
export class RequestLog {
  #entries: LoggedRequest[] = [];

  begin(
    at: string,
    request: { method: string; url: string; headers: Readonly<Record<string, string | string[] | undefined>> },
  ): (outcome: RequestOutcome, status: number | null) => void {
    const [path = '', query] = request.url.split('?', 2);
    const headers = Object.fromEntries(
      keptHeaders.flatMap((name) => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const entry: LoggedRequest = {
      at,
      method: request.method,
      path,
      query: query === undefined ? '' : `?${query.replace(/(?<=^|&)token=[^&]*/g, 'token=***')}`,
      headers,
      status: null,
      outcome: 'pending',
    };
    this.#entries.push(entry);
    // In large steps: moving a long list for every request would cost more than the request.
    if (this.#entries.length > mostEntries * 1.2) this.#entries = this.#entries.slice(-mostEntries);
    return (outcome, status) => {
      entry.outcome = outcome;
      entry.status = status;
    };
  }

  /** In the order in which they came. */
  entries(): readonly Readonly<LoggedRequest>[] {
    return this.#entries;
  }

  clear(): void {
    this.#entries = [];
  }
}
