import { Client, type Dispatcher } from 'undici';
import { codingsOf, type ByteSource } from './content.js';
import { retryAfterMs } from '../../service/http/refusals.js';
import { codeOf, ReportFileRefused, ReportFileUnavailable } from './errors.js';
import { headersFor, namesHost, type HeaderSet, publicLookup, requirePublicLiteral, type Resolve } from './hosts.js';

const mostRedirects = 5;
const redirectStatuses = [301, 302, 303, 307, 308];

interface RemoteLimits {
  /** Hosts that may have addresses that are not public, and may be sent headers in the clear. */
  allowedHosts: readonly string[];
  /** Milliseconds for a host to connect, to answer, and between two pieces of the file. */
  idleTimeoutMs: number;
  resolve: Resolve;
}

/**
 * Opens a file at a URL. Redirects are followed here, each checked like the first address; a connection goes only to
 * the address that was checked (hosts.ts), and is closed with the file.
 */
export async function openRemoteFile(
  reference: string,
  headers: HeaderSet | undefined,
  limits: RemoteLimits,
  signal?: AbortSignal,
): Promise<ByteSource> {
  let url = allowedUrl(reference);
  const budget = new DownloadBudget(limits.idleTimeoutMs);
  if (headers !== undefined && Object.keys(headersFor(headers, url, limits.allowedHosts)).length === 0) {
    throw new ReportFileRefused(
      'url_not_allowed',
      'the set of headers in headersFrom is for other hosts, or the URL is not https',
    );
  }
  for (let redirects = 0; ; redirects += 1) {
    const step = new Download(url, limits, budget, signal);
    try {
      const answer = await step.begin(headers === undefined ? {} : headersFor(headers, url, limits.allowedHosts));
      if (!redirectStatuses.includes(answer.statusCode)) return step.source(answer);
      if (redirects === mostRedirects) {
        throw new ReportFileRefused('too_many_redirects', `its host redirects more than ${mostRedirects} times`);
      }
      url = allowedUrl(String(answer.headers['location'] ?? ''), url);
    } catch (error) {
      await step.close();
      throw error;
    }
    await step.close();
  }
}

/** One request to one host, on a connection of its own. */
class Download {
  readonly #url: URL;
  readonly #client: Client;
  readonly #budget: DownloadBudget;
  readonly #signal: AbortSignal | undefined;
  #isConnected = false;
  #lastError: Error | undefined;

  constructor(url: URL, limits: RemoteLimits, budget: DownloadBudget, signal: AbortSignal | undefined) {
    const isAllowed = namesHost(limits.allowedHosts, url);
    if (!isAllowed) requirePublicLiteral(url);
    const { idleTimeoutMs } = limits;
    this.#url = url;
    this.#budget = budget;
    this.#signal = signal;
    this.#client = new Client(url.origin, {
      connect: { timeout: idleTimeoutMs, ...(isAllowed ? {} : { lookup: publicLookup(limits.resolve) }) },
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
    });
    this.#client.on('connect', () => (this.#isConnected = true));
    this.#client.on('disconnect', (_origin, _targets, error) => (this.#lastError = error));
  }

  async begin(headers: Record<string, string>): Promise<Dispatcher.ResponseData> {
    return this.#waitForHost(() =>
      this.#client.request({
        method: 'GET',
        path: this.#url.pathname + this.#url.search,
        headers: { accept: 'application/pdf, image/jpeg, image/png', 'accept-encoding': 'identity', ...headers },
        ...(this.#signal === undefined ? {} : { signal: this.#signal }),
      }),
    );
  }

  /** The file that was answered, or why there is none. */
  source({ statusCode, headers, body }: Dispatcher.ResponseData): ByteSource {
    requireFile(statusCode, headers['retry-after']);
    const { 'content-length': length, 'content-encoding': coding } = headers;
    return {
      bytes: this.#chunks(body),
      close: () => this.close(),
      ...(typeof length === 'string' ? { size: Number(length) } : {}),
      ...(coding === undefined || codingsOf(coding)?.length === 0 ? {} : { coding }),
    };
  }

  /** Ends the connection, in the middle of the file too. */
  async close(): Promise<void> {
    await this.#client.destroy();
  }

  async *#chunks(body: Dispatcher.ResponseData['body']): AsyncGenerator<Uint8Array, void, undefined> {
    const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    for (;;) {
      const next = await this.#waitForHost(() => iterator.next());
      if (next.done === true) break;
      this.#budget.received(next.value.length);
      yield next.value;
    }
    // HTTP ends a file at the announced length. A host that sends more is detected by what happens to the connection:
    // the rest is not an answer to any request. A host that has closed it meanwhile is not at fault.
    await this.#client.close();
    if (this.#lastError?.message === 'bad response') {
      throw new ReportFileRefused('unexpected_answer', 'its host sent more bytes than it announced');
    }
  }

  /** undici's errors contain addresses: the errors thrown here do not. */
  async #waitForHost<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#budget.spend(work, () => void this.close());
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (error instanceof ReportFileRefused) throw error;
      if (this.#budget.isSpent) throw new ReportFileUnavailable('too_slow', 'its host sends too slowly');
      const code = codeOf(error);
      if (code.endsWith('_TIMEOUT')) throw new ReportFileUnavailable('timeout', `its host stopped sending (${code})`);
      if (!this.#isConnected) throw new ReportFileUnavailable('unreachable', `no connection to its host (${code})`);
      throw new ReportFileUnavailable('broken_off', `the connection to its host broke (${code})`);
    }
  }
}

/** Only 200 has the file: other successes have none, or a part. */
function requireFile(status: number, retryAfter: string | string[] | undefined): void {
  if (status === 200) return;
  if (status >= 500 || [408, 425, 429].includes(status)) {
    const wait = retryAfterMs(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter);
    throw new ReportFileUnavailable('host_failed', `its host answered ${status}`, wait);
  }
  if (status === 404 || status === 410) throw new ReportFileRefused('not_found', `its host answered ${status}`);
  if ([401, 403, 407].includes(status)) throw new ReportFileRefused('access_denied', `its host answered ${status}`);
  throw new ReportFileRefused('unexpected_answer', `its host answered ${status}`);
}

/**
 * Reads the address of a file, a relative one against the URL that named it. Throws ReportFileRefused for addresses
 * that are never fetched; whether the host may be reached is checked elsewhere.
 */
export function allowedUrl(text: string, from?: URL): URL {
  if (text === '' || !URL.canParse(text, from?.href)) throw notAllowed('it leads to something that is not a URL');
  const url = new URL(text, from);
  if (!/^https?:$/.test(url.protocol)) throw notAllowed('it must be http or https');
  if (url.username + url.password !== '') throw notAllowed('it must not carry a user name or password');
  if (from?.protocol === 'https:' && url.protocol === 'http:') throw notAllowed('it leads from https to http');
  return url;
}

function notAllowed(problem: string): ReportFileRefused {
  return new ReportFileRefused('url_not_allowed', problem);
}

/**
 * 10 MiB in two minutes: slower than any file store's connection, and the time that a report of the usual limit may
 * take.
 */
const leastBytesPerMs = 10_485_760 / 120_000;

/** The tolerance for the connection's own timers, which detect a stalled host. */
const latenessMs = 1_000;

/**
 * Limits how long the hosts of one download may be waited for: twice the idle timeout, redirects included, plus the
 * time that the sent bytes take at the lowest rate. A host that sends a byte now and then never stalls, and would
 * occupy an upload's slot until its timeout. Only waiting counts: time that the service takes is not the host's fault.
 */
class DownloadBudget {
  readonly #graceMs: number;
  #waitedMs = 0;
  #received = 0;
  #isSpent = false;

  constructor(idleTimeoutMs: number) {
    this.#graceMs = 2 * idleTimeoutMs + latenessMs;
  }

  /** True once a wait was ended because the budget was spent. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  received(bytes: number): void {
    this.#received += bytes;
  }

  /** Waits for a host; `giveUp` has to make the wait end. */
  async spend<T>(wait: () => Promise<T>, giveUp: () => void): Promise<T> {
    const begun = performance.now();
    const left = this.#graceMs + this.#received / leastBytesPerMs - this.#waitedMs;
    const timer = setTimeout(
      () => {
        this.#isSpent = true;
        giveUp();
      },
      Math.max(left, 0),
    );
    try {
      return await wait();
    } finally {
      clearTimeout(timer);
      this.#waitedMs += performance.now() - begun;
    }
  }
}
