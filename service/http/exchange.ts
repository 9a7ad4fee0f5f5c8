import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type CallFacts, AnswerLost, AnswerUnreadable, ServiceUnreachable } from '../errors.js';
import type { UploadBody } from './upload-body.js';

/** An answer as received; with a status other than 2xx the body may be truncated, because the status decides. */
export interface RawAnswer {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  /** If there is a `stream`, only its first bytes. */
  body: Buffer;
  /** The whole body, if it was requested as a stream, is and longer than its first bytes. */
  stream?: Readable;
}

type Head = Pick<RawAnswer, 'status' | 'headers'>;

/** Requests the body of a success as a stream. */
interface StreamLimits {
  /** The answer comes when so many bytes are there. They are held, so the caller can look at them. */
  firstBytes: number;
  /** Milliseconds from the answer to the body's last byte: a stream that nobody reads holds a connection. */
  timeoutMs: number;
}

export interface ExchangeLimits {
  /** The proxy, as it follows an address in a message; empty without one. */
  through: string;
  /** Milliseconds for the whole exchange, the wait for a free connection included; for a stream until its first bytes. */
  timeoutMs: number;
  maxResponseBytes: number;
  /** Ends the exchange; that of a stream only until its first bytes. */
  signal?: AbortSignal | undefined;
  stream?: StreamLimits | undefined;
  /** The request's body if it is a stream. */
  upload?: UploadBody | undefined;
  /** Milliseconds for the whole answer, from the moment at which an upload was handed over. Default: undici's own timeouts. */
  answerTimeoutMs?: number | undefined;
  /** Milliseconds in which an upload that has started must have accepted another chunk. */
  idleTimeoutMs: number;
}

/**
 * Sends one request and collects its answer.
 *
 * It uses `dispatch` instead of `request`, because only there undici reports when it starts to write: a failure before
 * that moment means that nothing was sent and the request may be repeated; after it the outcome is unknown.
 */
export async function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  call: CallFacts,
  limits: ExchangeLimits,
): Promise<RawAnswer> {
  limits.signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(call, limits, resolve, reject));
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: CallFacts;
  readonly #limits: ExchangeLimits;
  readonly #resolve: (answer: RawAnswer | Promise<RawAnswer>) => void;
  readonly #reject: (reason: unknown) => void;
  #timer: NodeJS.Timeout;
  #idleTimer: NodeJS.Timeout | undefined;
  #answerTimer: NodeJS.Timeout | undefined;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #head: Head | undefined;
  #stream: Readable | undefined;
  #settled = false;

  constructor(
    call: CallFacts,
    limits: ExchangeLimits,
    resolve: (answer: RawAnswer | Promise<RawAnswer>) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#call = call;
    this.#limits = limits;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(
      () => this.#fail(`had no complete answer within ${limits.timeoutMs} ms`),
      limits.timeoutMs,
    );
    limits.signal?.addEventListener('abort', this.#onAbort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection: stopped here, the request is never written.
    if (this.#settled) controller.abort(new Error('given up before it was sent'));
    else {
      this.#controller = controller;
      this.#watchUpload();
    }
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: RawAnswer['headers']): void {
    if (status < 200) return;
    this.#head = { status, headers };
    // A stream that would break off is not begun.
    const isStream = this.#limits.stream !== undefined && status < 300;
    if (isStream && Number(headers['content-length']) > this.#limits.maxResponseBytes) this.#refuseSize();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#limits.maxResponseBytes) this.#refuseSize();
    else if (this.#stream === undefined) this.#collect(controller, chunk);
    else if (!this.#stream.push(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#stream === undefined) this.#answer();
    else this.#settle(() => this.#stream?.push(null));
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#fail(`failed (${codeOf(error)})`, error);
  }

  readonly #onAbort = (): void => {
    this.#settle(() => this.#reject(this.#limits.signal?.reason));
  };

  #collect(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    const { stream } = this.#limits;
    const head = this.#head;
    if (this.#settled || stream === undefined || head === undefined || head.status >= 300) return;
    if (this.#size >= stream.firstBytes) this.#open(controller, head, stream);
  }

  /** From here on only the time of the stream, its size and its reader end it. */
  #open(controller: Dispatcher.DispatchController, head: Head, { timeoutMs }: StreamLimits): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fail(`was not read to its end within ${timeoutMs} ms`), timeoutMs);
    this.#limits.signal?.removeEventListener('abort', this.#onAbort);
    const body = Buffer.concat(this.#chunks.splice(0));
    const stream = new Readable({
      read: () => controller.resume(),
      destroy: (error, done) => {
        this.#settle(() => undefined);
        done(error);
      },
    });
    // An answer that breaks off before anybody reads it must not end the process: the reader finds the error.
    stream.on('error', () => undefined);
    stream.push(body);
    this.#stream = stream;
    this.#resolve({ ...head, body, stream });
  }

  #refuseSize(): void {
    const problem = `answered more than ${this.#limits.maxResponseBytes} bytes`;
    this.#answerOr(() => new AnswerUnreadable({ ...this.#call, ...this.#status() }, problem));
  }

  /** Once everything is handed over it is the answer that has to come. */
  #watchUpload(): void {
    const { upload, idleTimeoutMs } = this.#limits;
    if (upload === undefined) return;
    const timer = setTimeout(() => this.#fail(`made no progress within ${idleTimeoutMs} ms`), idleTimeoutMs);
    this.#idleTimer = timer;
    upload.onProgress = () => {
      if (!upload.isHandedOver && !this.#settled) {
        timer.refresh();
        return;
      }
      clearTimeout(timer);
      if (!this.#settled) this.#awaitAnswer();
    };
  }

  #awaitAnswer(): void {
    const { answerTimeoutMs } = this.#limits;
    if (answerTimeoutMs === undefined) return;
    const problem = `had no complete answer ${answerTimeoutMs} ms after its last byte`;
    this.#answerTimer = setTimeout(() => this.#fail(problem), answerTimeoutMs);
  }

  #fail(problem: string, cause?: Error): void {
    const { upload } = this.#limits;
    this.#answerOr(() => {
      if (this.#stream !== undefined) {
        return new AnswerLost({ ...this.#call, ...this.#status() }, `broke off after ${this.#size} bytes: ${problem}`);
      }
      if (upload?.failure !== undefined) return upload.failure.error;
      if (this.#controller === undefined)
        return new ServiceUnreachable(this.#call, `was not sent${this.#limits.through}: ${problem}`, { cause });
      if (upload?.isHandedOver === false) {
        return new ServiceUnreachable(this.#call, `was not sent completely: ${problem}`);
      }
      // Without its cause: a parser's error carries the piece of the answer that it could not read.
      return new AnswerLost({ ...this.#call, ...this.#status() }, `was sent, outcome unknown: ${problem}`);
    });
  }

  /** A refusal whose explanation broke off is still a refusal; a success that broke off is none. */
  #answerOr(error: () => unknown): void {
    if (this.#head !== undefined && this.#head.status >= 300) this.#answer();
    else if (this.#stream === undefined) this.#settle(() => this.#reject(error()));
    else this.#stream.destroy(error() as Error);
  }

  #answer(): void {
    const head = this.#head;
    if (head === undefined) return;
    this.#settle(() => this.#resolve({ ...head, body: Buffer.concat(this.#chunks) }));
  }

  #settle(outcome: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#answerTimer);
    this.#limits.signal?.removeEventListener('abort', this.#onAbort);
    outcome();
    // Frees the connection of an answer that is no longer needed; without effect once the answer has ended.
    this.#controller?.abort(new Error('given up'));
    this.#limits.upload?.stop();
  }

  #status(): { status?: number } {
    return this.#head === undefined ? {} : { status: this.#head.status };
  }
}

/** A code such as ECONNREFUSED; the message itself is left out, because parsers quote unreadable text. */
function codeOf(error: Error & { code?: unknown }): string {
  return typeof error.code === 'string' ? error.code : error.name;
}
