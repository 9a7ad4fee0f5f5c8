import { once } from 'node:events';
import { createSecureServer, createServer, type SecureServerOptions, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Client, Connection, ServiceError, type ClientOptions } from '@temporalio/client';
import { onTestFinished } from 'vitest';

/** A status of gRPC. */
export interface GrpcStatus {
  code: number;
  details: string;
  /** A `google.rpc.Status`, which names the failure's type. */
  failure?: Uint8Array;
}

/** As Temporal's client rejects: gRPC's error is the cause of its own. */
export function grpcError(code: number, details = 'invented'): ServiceError {
  const cause = Object.assign(new Error(`${code} ${details}`), { code, details, metadata: {} });
  return new ServiceError('Temporal answers', { cause });
}

type AnswerOf = (method: string) => GrpcStatus | Uint8Array | 'silence' | undefined;

/**
 * A client of a server that answers calls as `serverAnsweringWith` says. The client makes each call once, so the effect of a single
 * answer can be seen. Both end with the test.
 */
export async function clientAnsweredWith(
  answer: AnswerOf,
  options: Omit<ClientOptions, 'connection'> = {},
): Promise<Client> {
  const port = await serverAnsweringWith(answer);
  // The system may give a later server the port of an earlier one, whose connections must not be taken for its own.
  const channelArgs = { 'grpc.use_local_subchannel_pool': 1 };
  const connection = Connection.lazy({ address: `127.0.0.1:${port}`, interceptors: [], channelArgs });
  onTestFinished(() => connection.close());
  return new Client({ ...options, connection });
}

/**
 * The port of a server that answers calls with the function's result: a status, a message, nothing for an empty message, or silence for
 * no answer at all. It ends with the test.
 *
 * @param tls its certificate, if it speaks TLS
 */
export async function serverAnsweringWith(answer: AnswerOf, tls?: SecureServerOptions): Promise<number> {
  const server = tls ? createSecureServer(tls) : createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => sessions.add(session)).on('sessionError', () => undefined);
  server.on('stream', (stream, { ':path': path = '' }) => {
    const head = { ':status': 200, 'content-type': 'application/grpc' };
    const given = answer(path.slice(path.lastIndexOf('/') + 1));
    if (given === 'silence') return;
    if (given && 'code' in given) {
      const { code, details, failure } = given;
      const type = failure && { 'grpc-status-details-bin': Buffer.from(failure).toString('base64') };
      const status = { 'grpc-status': code, 'grpc-message': encodeURIComponent(details), ...type };
      stream.respond({ ...head, ...status }, { endStream: true });
      return;
    }
    stream.respond(head, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
    const message = given ?? new Uint8Array();
    const frame = Buffer.alloc(5); // not compressed, and the length
    frame.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([frame, message]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const session of sessions) session.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
