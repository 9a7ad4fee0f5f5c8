import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket, type ConnectionOptions } from 'node:tls';
import { proxyFor } from '../service/http/proxy.config.js';

/** The settings of a connection to Temporal that both kinds of the SDK's connections have. */
interface Described {
  address?: string | undefined;
  tls?: boolean | TemporalTls | null | undefined;
  apiKey?: unknown;
}

interface TemporalTls {
  serverNameOverride?: string | undefined;
  serverRootCACertificate?: Uint8Array | undefined;
  clientCertPair?: { crt: Uint8Array; key: Uint8Array } | undefined;
}

/** Long enough for a connection across the world. */
const enoughMs = 3_000;

/** The first words of an HTTP/2 client, and empty settings. A server that lets the client in answers with its own. */
const greeting = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');

/**
 * The reason why no connection to Temporal succeeds; undefined if one does. The SDK's client says only that time is up, and its native
 * core prints the inside of its libraries, so this takes the same steps again: the proxy, the host, TLS and the certificates.
 */
export async function connectionFault(
  { address = '127.0.0.1:7233', tls, apiKey }: Described,
  longestMs = enoughMs,
): Promise<string | undefined> {
  // As the SDK decides it: a key is sent by TLS unless the settings say otherwise.
  const usesTls = tls ?? apiKey !== undefined;
  const limitMs = Math.min(enoughMs, longestMs);
  const signal = AbortSignal.timeout(limitMs);
  const opened: Socket[] = [];
  const open = async (): Promise<Socket> => {
    const socket = await reach(address, signal);
    opened.push(socket);
    return socket;
  };
  try {
    if (usesTls !== false) {
      await greet(await encrypted(await open(), address, optionsOf(usesTls), signal), signal);
      return undefined;
    }
    const plain = await open();
    if (await succeeds(greet(plain, signal))) return undefined;
    const withTls = encrypted(await open(), address, { rejectUnauthorized: false }, signal);
    return (await succeeds(withTls)) ? 'the server uses TLS' : 'the server does not answer';
  } catch (error) {
    return signal.aborted ? `no answer within ${limitMs / 1000} seconds` : reasonIn(error);
  } finally {
    for (const socket of opened) socket.destroy();
  }
}

/** True if a fault does not pass within seconds: nobody listens there, or the name does not exist. EAI_AGAIN, the answer of a name server that is away, does pass. */
export function isFinalFault(fault: string | undefined): boolean {
  return /\b(ECONNREFUSED|ENOTFOUND)\b/.test(fault ?? '');
}

async function reach(address: string, signal: AbortSignal): Promise<Socket> {
  const { hostname, port } = new URL(`grpc://${address}`);
  const proxy = proxyFor(`grpc://${address}`)?.url;
  if (proxy === undefined) {
    const socket = connectPlain({ host: bare(hostname), port: Number(port || 7233) });
    await once(socket, 'connect', { signal });
    return socket;
  }
  const path = `${hostname}:${port || 7233}`;
  const credentials = [proxy.username, proxy.password].map((part) => decodeURIComponent(part)).join(':');
  const auth = proxy.username === '' ? {} : { auth: credentials };
  const tunnel = request({
    host: bare(proxy.hostname),
    port: proxy.port || 80,
    method: 'CONNECT',
    path,
    signal,
    ...auth,
  });
  tunnel.end();
  const [{ statusCode }, socket] = (await once(tunnel, 'connect', { signal })) as [IncomingMessage, Socket];
  if (statusCode === 200) return socket;
  socket.destroy();
  throw new Error(`the proxy answers ${statusCode}`);
}

async function encrypted(
  socket: Socket,
  address: string,
  options: ConnectionOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const host = bare(new URL(`grpc://${address}`).hostname);
  const name = options.servername ?? host;
  const secure = connectTls({
    ...options,
    socket,
    host: name,
    servername: isIP(name) === 0 ? name : '',
    ALPNProtocols: ['h2'],
  });
  await once(secure, 'secureConnect', { signal });
  return secure;
}

function optionsOf(tls: true | TemporalTls): ConnectionOptions {
  if (tls === true) return {};
  const { serverNameOverride: servername, serverRootCACertificate: ca, clientCertPair } = tls;
  return {
    ...(servername !== undefined && { servername }),
    ...(ca && { ca: Buffer.from(ca) }),
    ...(clientCertPair && { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) }),
  };
}

const closedAfterTls =
  'the server closes the connection after the TLS handshake: it may refuse the client’s certificate';

/** A server refuses a client's certificate only after the handshake: nothing but its answer shows that it let the client in. */
async function greet(socket: Socket, signal: AbortSignal): Promise<void> {
  socket.on('error', () => undefined);
  socket.write(greeting);
  const closed = once(socket, 'close', { signal }).then((): never => {
    throw new Error(socket instanceof TLSSocket ? closedAfterTls : 'the server closes the connection');
  });
  const [first] = (await Promise.race([once(socket, 'data', { signal }), closed])) as [Buffer];
  // A server that uses TLS answers plain text with an alert.
  if (first[0] === 0x15) throw new Error('the server uses TLS');
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** OpenSSL's own words, without the place in its source. */
function reasonIn(error: unknown): string {
  const {
    reason,
    message = '',
    code = 'unknown error',
  } = error as { reason?: string; message?: string; code?: string };
  return code.startsWith('ERR_SSL_') && reason !== undefined ? reason : message || code;
}
