import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';

/** A way to Temporal that can be cut. It counts the calls that pass. */
export interface Proxy {
  address: string;
  /** Resets every connection, and each new one, until it is open again: the port stays taken. What was held is lost. */
  cut(): void;
  open(): void;
  close(): Promise<void>;
  /** Keeps the calls of these gRPC methods, such as `SignalWorkflowExecution`, from their server. */
  hold(...methods: string[]): void;
  /** Lets the held calls of these methods pass, and all that come. */
  release(...methods: string[]): void;
  /** The held calls' messages, as text that names can be found in. */
  held(): string[];
  /** How many calls of this method have come. */
  count(method: string): number;
  /** The API key of the call that came last. */
  lastKey(): string | undefined;
}

/** @param target `host:port`; a function, if it is known only when somebody connects */
export async function startProxy(target: string | (() => string)): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const onward = new WeakMap<Http2Session, ClientHttp2Session>();
  const counts = new Map<string, number>();
  let lastKey: string | undefined;
  let held: HeldCall[] = [];
  let holding: string[] = [];
  let isCut = false;
  const server = createServer();
  server.on('connection', (socket: Socket) => {
    if (isCut) return void socket.resetAndDestroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    const there = connect(`http://${typeof target === 'string' ? target : target()}`);
    onward.set(session, there);
    there.on('error', () => session.destroy());
    // Temporal ends a connection that is five minutes old, once its calls have ended.
    there.on('goaway', () => session.close());
    session.on('error', () => there.destroy()).on('close', () => there.destroy());
  });
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    const path = headers[':path'] ?? '';
    const method = path.slice(path.lastIndexOf('/') + 1);
    counts.set(method, (counts.get(method) ?? 0) + 1);
    lastKey = headers.authorization?.replace(/^Bearer /, '');
    stream.on('error', () => stream.destroy());
    const there = stream.session && onward.get(stream.session);
    if (holding.includes(method))
      held.push({ method, ...hold(stream, (body) => passOn(stream, headers, there, body)) });
    else passOn(stream, headers, there, stream);
  });
  const cut = () => {
    isCut = true;
    holding = [];
    held = [];
    for (const socket of sockets) socket.resetAndDestroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    cut,
    open: () => void (isCut = false),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
    hold: (...methods) => {
      holding.push(...methods);
    },
    release: (...methods) => {
      holding = holding.filter((method) => !methods.includes(method));
      const released = held.filter(({ method }) => methods.includes(method));
      held = held.filter((each) => !released.includes(each));
      for (const { release } of released) release();
    },
    held: () => held.map(({ message }) => message()),
    count: (method) => counts.get(method) ?? 0,
    lastKey: () => lastKey,
  };
}

function passOn(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  there: ClientHttp2Session | null | undefined,
  body: Readable,
) {
  if (!there || there.closed || there.destroyed) return stream.destroy();
  const call = there.request(headers);
  let trailers: IncomingHttpHeaders = {};
  call.on('response', (head, flags) => {
    if (stream.destroyed) return;
    const isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(head, isAll ? { endStream: true } : { waitForTrailers: true });
    if (!isAll) call.pipe(stream);
  });
  call.on('trailers', (last: IncomingHttpHeaders) => {
    trailers = last;
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  call.on('error', () => stream.destroy());
  stream.on('close', () => call.destroy());
  return body.pipe(call);
}

interface HeldCall {
  method: string;
  /** What has come of it, as text. */
  message: () => string;
  release: () => void;
}

function hold(stream: ServerHttp2Stream, passOnward: (body: Readable) => void): Omit<HeldCall, 'method'> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const body = stream.pipe(new PassThrough({ highWaterMark: 4 * 2 ** 20 }));
  return { message: () => messageIn(Buffer.concat(chunks)), release: () => passOnward(body) };
}

/** The one message of a call: behind a byte for its compression and four for its length. Empty until all of it is there. */
function messageIn(call: Buffer): string {
  if (call.length < 5 || call.length < 5 + call.readUInt32BE(1)) return '';
  const body = call.subarray(5);
  return (call[0] === 1 ? gunzipSync(body) : body).toString('latin1');
}
