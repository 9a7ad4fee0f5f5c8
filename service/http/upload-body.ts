import { Readable } from 'node:stream';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** A request body that is too large to hold: a stream of bytes with something before and something after it. */
export interface Upload {
  /** The names of its fields. */
  fields: readonly string[];
  contentType: string;
  head: Buffer;
  bytes: AsyncIterable<Uint8Array>;
  tail: Buffer;
  /** The length of `bytes`, if known: sent as Content-Length, else the body is sent in chunks. */
  size?: number;
}

/** Pieces that are written at once. Small enough that a slow connection shows progress, large enough to cost nothing. */
const pieceBytes = 64 * 1024;

/**
 * A running upload. It remembers what the exchange needs to know about a failure: if the stream itself failed, and if
 * the last chunk was given to the connection; before that the service has no complete request.
 */
export class UploadBody {
  readonly stream: Readable;
  /** Content-Length of the whole body, if the size is known. */
  readonly length: number | undefined;
  /** Called for each piece that the connection takes. */
  onProgress: () => void = () => undefined;
  #failure: { error: unknown } | undefined;
  #isHandedOver = false;

  constructor(upload: Upload) {
    const { head, tail, size } = upload;
    this.length = size === undefined ? undefined : head.length + size + tail.length;
    this.stream = Readable.from(this.#pieces(upload), { objectMode: true, highWaterMark: 1 });
    // The stream's error is reported through `failure`; after the connection has dropped the stream, nobody listens to
    // it.
    this.stream.on('error', () => undefined);
  }

  /** The error that the bytes' own iterator threw, if any. */
  get failure(): { error: unknown } | undefined {
    return this.#failure;
  }

  /** True if the last chunk was given to the connection: from then on the service may have the whole request. */
  get isHandedOver(): boolean {
    return this.#isHandedOver;
  }

  /** Ends the stream and, if they were started, its bytes. */
  stop(): void {
    this.stream.destroy();
  }

  async *#pieces({ head, bytes, tail }: Upload): AsyncGenerator<Uint8Array, void, undefined> {
    this.onProgress();
    yield head;
    for await (const chunk of this.#watched(bytes)) {
      for (let start = 0; start < chunk.length; start += pieceBytes) {
        // Lets an early answer be read before the next write: a service that refuses a file closes the connection, and
        // a write into that fails before the refusal was seen (on loopback 9 of 10 refusals were lost without this).
        await turnOfTheLoop();
        this.onProgress();
        yield chunk.subarray(start, start + pieceBytes);
      }
    }
    this.#isHandedOver = true;
    this.onProgress();
    yield tail;
  }

  /** Not `for await`: an error that the consumer throws into a generator must not look like a failure of the bytes. */
  async *#watched(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    const iterator = bytes[Symbol.asyncIterator]();
    let isOver = false;
    try {
      for (;;) {
        const next = await iterator.next().catch((error: unknown) => {
          isOver = true;
          this.#failure = { error };
          throw error;
        });
        isOver = next.done === true;
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      if (!isOver) await iterator.return?.();
    }
  }
}
