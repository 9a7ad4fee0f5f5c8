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
import { gunzipSync } from 'node:zlib';

/** A way to Temporal that can be cut. It counts the calls that pass. */
export interface Proxy {
  address: string;
  /** Resets every connection; then nothing listens at the address any more. What was held is lost. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** Keeps the calls of these gRPC methods, such as `SignalWorkflowExecution`, from their server until the way is cut. */
  hold(...methods: string[]): void;
  /** The held calls' messages, as text that names can be found in. */
  held(): string[];
  /** How many calls of this method have come. */
  count(method: string): number;
}

/** @param target `host:port` */
export async function startProxy(target: string): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const onward = new WeakMap<Http2Session, ClientHttp2Session>();
  const counts = new Map<string, number>();
  const held: string[] = [];
  let holding: string[] = [];
  const server = createServer();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    const there = connect(`http://${target}`);
    onward.set(session, there);
    there.on('error', () => session.destroy());
    session.on('error', () => there.destroy()).on('close', () => there.destroy());
  });
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    const path = headers[':path'] ?? '';
    const method = path.slice(path.lastIndexOf('/') + 1);
    counts.set(method, (counts.get(method) ?? 0) + 1);
    stream.on('error', () => stream.destroy());
    if (holding.includes(method)) void messageOf(stream).then((message) => held.push(message));
    else passOn(stream, headers, stream.session && onward.get(stream.session));
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    open: () => listen(port),
    close: async () => {
      holding = [];
      if (!server.listening) return;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
    hold: (...methods) => {
      holding = methods;
    },
    held: () => held,
    count: (method) => counts.get(method) ?? 0,
  };
}

function passOn(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, there: ClientHttp2Session | null | undefined) {
  if (!there || there.destroyed) return stream.destroy();
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
  return stream.pipe(call);
}

/** The one message of a call, without the five bytes before it. */
async function messageOf(stream: ServerHttp2Stream): Promise<string> {
  const chunks: Buffer[] = [];
  let missing = Infinity;
  // The caller's end of the stream may come with the answer only.
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    const all = Buffer.concat(chunks);
    if (all.length >= 5) missing = all.readUInt32BE(1) + 5 - all.length;
    if (missing <= 0) break;
  }
  const [head, ...rest] = Buffer.concat(chunks);
  const body = Buffer.from(rest.slice(4));
  return (head === 1 ? gunzipSync(body) : body).toString('latin1');
}
