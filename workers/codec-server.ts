import { createHash, timingSafeEqual } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isWorthALine } from '../client/webhooks/endpoint.js';
import {
  createPayloadCodec,
  EncryptionKeyUnknown,
  isEncrypted,
  keyIdOf,
  workflowIdOf,
  PayloadNotAuthentic,
} from '../client/encryption/payload-codec.js';
import type { KeyRing } from '../client/encryption/key-ring.js';
import type { LiveKeys } from '../client/encryption/live-keys.js';
import { isActor } from '../protocol/ids.js';
import { auditHashes, type AuditWriter, startAuditWriter } from './audit-writer.js';
import { liveKeys, undecryptedName } from './encryption.js';
import { type CodecServerConfig, readCodecServerConfig } from './settings/config.js';
import { boundedServer, closeWithin, type HttpLimits, httpLimits, listen } from './listening.js';
import { createLog } from './log.js';
import { observeConversions } from './monitoring/metrics.js';
import { answerReadiness, type Monitoring, type Readiness, startMonitoring } from './monitoring/server.js';
import { type StoreAccess, storeOnDemand } from '../store/store-access.js';
import { isProgram, runProgram, shutdownRequested } from './process.js';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** Temporal refuses payloads above 2 MB; a request holds those of one event, in base64. */
const bodyLimit = 16 * 1024 * 1024;

/** How long a browser remembers that it may ask. */
const preflightSeconds = 600;

export interface RunningCodecServer {
  /** Its URL, without a trailing slash: the Web UI's codec endpoint. */
  url: string;
  /** Takes no new connections, lets requests under way finish within the grace, and closes the rest. */
  close(): Promise<void>;
}

/**
 * Starts the codec server in this process: Temporal's remote codec protocol (POST `/decode` and `/encode`), which the Web
 * UI calls from the browser, and the `temporal` command line with `--codec-endpoint`.
 * @throws StartFailed in one line when it cannot listen
 */
export async function startCodecServer(
  config: CodecServerConfig,
  log: Logger,
  { limits = httpLimits, monitoring }: { limits?: HttpLimits; monitoring?: Monitoring | undefined } = {},
): Promise<RunningCodecServer> {
  for (const warning of config.warnings) log.warn(warning);
  let isStopping = false;
  // It has its keys, or it would not have started.
  const ready = async (): Promise<Readiness> => ({ status: isStopping ? 'stopping' : 'ready' });
  monitoring?.watch({ ready });
  const keys = await liveKeys(config, log);
  const store = trailStore(config);
  const hashes = auditHashes({ ...config, keys });
  const audit = store && startAuditWriter('codec-server', { store, hashes, log, registry: monitoring?.registry });
  const app = routes(config, log, { limits, ready, monitoring, audit, codec: readableCodec(keys ?? config.keyRing) });
  const { host, port, shutdownGraceSeconds } = config;
  const url = await listen(app, { host, port, settings: { host: 'CODEC_HOST', port: 'CODEC_PORT' } });
  return {
    url,
    close: async () => {
      isStopping = true;
      keys?.stop();
      await closeWithin(app, shutdownGraceSeconds * 1000);
      await audit?.close();
      await store?.close();
    },
  };
}

/** Of the database it uses the audit trail alone, one statement at a time. Who has none does not load the drivers. */
function trailStore({ databaseUrl }: CodecServerConfig): StoreAccess | undefined {
  if (databaseUrl === undefined) return undefined;
  return storeOnDemand(async () =>
    (await import('../store/health-data-store.js')).openStore({ databaseUrl, poolSize: 1 }),
  );
}

const directions = ['encode', 'decode'] as const;
type Direction = (typeof directions)[number];

interface Serving {
  limits: HttpLimits;
  ready: () => Promise<Readiness>;
  codec: PayloadCodec;
  monitoring: Monitoring | undefined;
  audit: AuditWriter | undefined;
}

/** The codec for people: what cannot be decrypted says so, and one payload that somebody forged does not hide a whole history. */
function readableCodec(keys: KeyRing | LiveKeys): PayloadCodec {
  const codec = createPayloadCodec(keys);
  const readable = async (payload: Payload): Promise<Payload[]> => {
    try {
      return await codec.decode([payload]);
    } catch (error) {
      const isForged = error instanceof PayloadNotAuthentic;
      if (!isForged && !(error instanceof EncryptionKeyUnknown)) throw error;
      const what = isForged
        ? 'not authentic: changed, or encrypted with other bytes under the name of'
        : 'no longer readable:';
      const data = Buffer.from(JSON.stringify(`${what} key ${error.keyId}`));
      return [{ metadata: { encoding: Buffer.from('json/plain'), [undecryptedName]: Buffer.from(error.keyId) }, data }];
    }
  };
  return {
    encode: (payloads, context) => codec.encode(payloads, context),
    decode: async (payloads) => (await Promise.all(payloads.map(readable))).flat(),
  };
}

function routes(config: CodecServerConfig, log: Logger, serving: Serving): FastifyInstance {
  const { limits, ready, monitoring, codec, audit } = serving;
  const app = boundedServer(limits, { bodyLimit });
  const count = monitoring && observeConversions(monitoring.registry);
  app.get('/health', () => ({ status: 'up' }));
  app.get('/ready', async (_request, reply) => answerReadiness(reply, await ready()));
  for (const direction of directions) {
    app.options(`/${direction}`, {
      onRequest: async (request, reply) => {
        requireOrigin(config, request, reply);
        reply.header('access-control-allow-methods', 'POST');
        reply.header('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '');
        reply.header('access-control-max-age', preflightSeconds);
        return reply.code(204).send();
      },
      handler: () => undefined, // never reached: the hook has answered
    });
    app.post(`/${direction}`, {
      // A hook before any parsing, as above: nothing is read from callers without access.
      onRequest: async (request, reply) => {
        requireOrigin(config, request, reply);
        requireToken(config, direction, request);
      },
      onResponse: async (_request, reply) => count?.(direction, reply.statusCode),
      handler: async (request) => {
        const payloads = readPayloads(request.body);
        const converted = await (direction === 'encode'
          ? codec.encode(payloads, placeOf(request))
          : codec.decode(payloads));
        const ours = direction === 'encode' ? converted : payloads.filter((_, n) => isReadable(converted[n]));
        const encrypted = ours.filter(isEncrypted);
        const facts = { payloads: converted.length, keyIds: [...new Set(encrypted.map(keyIdOf))] };
        const subjects = [...new Set(encrypted.map(workflowIdOf))].filter((id) => id !== '');
        const user = userOf(config, request);
        log.info({ direction, ...facts, subjects, ...(user !== undefined && { user }) }, 'converted');
        audit?.record({
          action: `codec.${direction}`,
          ...(isActor(user) && { actor: user }),
          ...{ subjects, outcome: 'done' },
          details: { ...facts, ...(user !== undefined && !isActor(user) && { user: 'not an id' }) },
        });
        return { payloads: converted.map(jsonOf) };
      },
    });
  }
  const refusals = new Map<number, number>();
  app.setErrorHandler(async (error, _request, reply) => {
    const status = statusOf(error);
    if (status >= 500 || !(error instanceof Error)) {
      log.error({ status, err: error }, 'The codec server failed');
      return reply.code(status).send({ message: 'The codec server failed; its log says why' });
    }
    // Anybody can cause these.
    const times = (refusals.get(status) ?? 0) + 1;
    refusals.set(status, times);
    if (isWorthALine(times)) log.warn({ status, times }, error.message);
    return reply.code(status).send({ message: error.message });
  });
  return app;
}

/** A request that is not answered with payloads. Its message goes to the asker and to the log. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

/** Our refusals and fastify's own (a body that is too large, or not JSON) carry theirs. */
function statusOf(error: unknown): number {
  const status: unknown = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' ? status : 500;
}

/**
 * Pages of other origins are refused; it is not enough to keep them from reading the answer. Programs send no origin;
 * if no token is required, every program on this machine may ask.
 */
function requireOrigin({ allowedOrigins }: CodecServerConfig, request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  reply.header('vary', 'Origin');
  if (!allowedOrigins.includes(origin)) {
    throw new Refused(403, 'This page is not allowed to read payloads: add its origin to CODEC_ALLOWED_ORIGINS');
  }
  reply.header('access-control-allow-origin', origin);
  // The Web UI can be configured to send cookies, for a proxy in front of this server that knows who may see payloads.
  reply.header('access-control-allow-credentials', 'true');
}

/** The people who may read need not be allowed to write. The token for `/encode` also reads: the command line sends one for both. */
function requireToken({ token, encodeToken }: CodecServerConfig, direction: Direction, request: FastifyRequest): void {
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const isGiven = (expected: string | undefined) =>
    expected !== undefined && timingSafeEqual(digest(given), digest(expected));
  if (isGiven(encodeToken)) return;
  // Before a query without arguments the command line asks to encode nothing, by `{}`.
  const isEmpty = request.headers['content-length'] === '2';
  if (direction === 'encode' && !isEmpty) {
    if (encodeToken === undefined)
      throw new Refused(403, 'This server only decodes: to encode, set CODEC_ENCODE_TOKEN');
    throw new Refused(401, `${noToken} CODEC_ENCODE_TOKEN of this server`);
  }
  if (token !== undefined && !isGiven(token)) throw new Refused(401, `${noToken} CODEC_TOKEN of this server`);
}

const noToken = 'The header Authorization: Bearer … is missing, or is not the';

/** The command line names its namespace, and no workflow. */
function placeOf(request: FastifyRequest): NonNullable<Parameters<PayloadCodec['encode']>[1]> {
  const namespace = request.headers['x-namespace'];
  if (typeof namespace === 'string' && namespace !== '') return { type: 'activity', namespace, isLocal: false };
  throw new Refused(400, 'The header X-Namespace is missing: what is encoded belongs to a namespace');
}

/** False for what takes the place of a payload that cannot be decrypted: the ids that it names may be any text. */
function isReadable(converted: Payload | undefined): boolean {
  return converted?.metadata?.[undecryptedName] === undefined;
}

const longestUser = 200;

/** Who asks, as the proxy says. */
function userOf({ userHeader }: CodecServerConfig, { headers }: FastifyRequest): string | undefined {
  const user = userHeader === undefined ? undefined : headers[userHeader.toLowerCase()];
  return typeof user === 'string' ? user.slice(0, longestUser) : undefined;
}

/** A digest has the same length whatever is given, as the comparison requires. */
function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** Bounds on what a request costs: a short text can ask for a large list. */
const mostPayloads = 1_000;
const mostMetadata = 100;

/** As protobuf writes bytes in JSON, in both of its alphabets. */
const base64 = z
  .string()
  .regex(/^[A-Za-z0-9+/_-]*={0,2}$/)
  .transform((text) => Uint8Array.from(Buffer.from(text, 'base64')));

const payloadSchema = z.object({
  metadata: z
    .unknown()
    .refine((given) => Object.keys(given ?? {}).length <= mostMetadata)
    .pipe(z.record(z.string(), base64).nullish()),
  data: base64.nullish(),
});

const bodySchema = z.object({
  payloads: z.array(z.unknown()).max(mostPayloads).pipe(z.array(payloadSchema)).default([]),
});

function readPayloads(body: unknown): Payload[] {
  const { success, data } = bodySchema.safeParse(body);
  if (success) return data.payloads.map(({ metadata = null, data: bytes = null }) => ({ metadata, data: bytes }));
  const form = '{ "payloads": [{ "metadata": {…}, "data": "…" }] } with values in base64';
  throw new Refused(400, `The body is not ${form}, at most ${mostPayloads} payloads`);
}

function jsonOf(payload: Payload): Record<string, unknown> {
  return PayloadMessage.toObject(PayloadMessage.create(payload), { bytes: String, longs: String });
}

async function main(): Promise<void> {
  const config = readCodecServerConfig();
  const log = createLog(config, 'codec-server');
  const requested = shutdownRequested();
  const monitoring = await startMonitoring(config.monitoring, log);
  const server = await startCodecServer(config, log, { monitoring });
  const { allowedOrigins, token, keyRing } = config;
  const keys = keyRing.map(({ id }) => id);
  log.info({ url: server.url, allowedOrigins, demandsToken: token !== undefined, keys }, 'codec server started');
  const signal = await requested;
  log.info({ signal }, 'codec server stops: requests under way may finish');
  await server.close();
  await monitoring?.close();
  log.info('codec server stopped');
}

if (isProgram('workers/codec-server')) await runProgram(main);
