import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '@temporalio/client';
import type { Installation } from '../../service/installation.js';
import { usualTaskQueue } from '../../protocol/task-queues.js';
import { AbandonedCalls } from '../abandoned-calls.js';
import { type Encryption, installationOf, usualEncryption } from '../config.js';
import { withKeysRequired } from '../encryption/key-requirement.js';
import { withPayloadLimit } from '../payload-limit.js';
import { type AnswerName, answers } from './answers.js';
import { BodyMemory, parseObject, usualBodyDeadlineMs, usualWebhookBytes } from './body.js';
import type { WebhookAnswer } from './common-answers.js';
import type { AnswerCounts } from './counts.js';
import {
  checkOptions,
  createEndpoint,
  type Decision,
  receive,
  type Receiving,
  type RequestObserver,
  type SignedMessage,
  type WebhookLogger,
  type WebhookRequest,
} from './endpoint.js';
import type { Destinations, Routed, TakenMessages } from './destinations.js';
import type { HealthDataSink } from './health-data-events.js';
import { bytesDigest, RecentMessages } from './recent-messages.js';
import { rejectBody, type RejectedEventSink } from './rejected-events.js';
import { route, type RoutedMessage } from './route.js';

export interface WebhookHandlerOptions {
  /**
   * Orders' events go to its `kitOrder` workflows, those of lab reports to `parsingJob`. If the worker has encryption keys
   * it needs them too: see `encryption`.
   */
  temporal: Client;
  /**
   * `required`: with a client that has no encryption keys, `EncryptionKeysMissing` is thrown at once. `optional`: events are sent as they are,
   * readable in Temporal, and a worker that requires encryption drops them. Default: `required` if NODE_ENV is production; elsewhere
   * a handler without keys asks before it sends an event whether the workers encrypt (once a minute), and answers 503 if so.
   */
  encryption?: Encryption;
  /** The secrets of the endpoint, `whsec_…`. During a rotation both, in any order. */
  secrets: readonly string[];
  /** The worker's task queue. Default `lab-operations`. */
  taskQueue?: string;
  /**
   * The worker's installation: its name, then its former names. An order with another installation's passthrough counts as made elsewhere.
   * Production requires it. Default `default`.
   */
  installation?: Installation;
  /** The largest body that is read, in bytes. Default 2 MiB; the largest webhook seen is 0.4 MB. */
  maxBytes?: number;
  /**
   * The most bytes of bodies that are held at once, by all requests together; what comes beyond them is answered 503. A
   * quarter is for bodies of at most 16 KiB. Default 64 MiB, or 4/3 of `maxBytes` if that is more.
   */
  maxBytesAtOnce?: number;
  /**
   * How long the body of a request may take to arrive, in milliseconds; then it is given up and answered 503. Default 10,000: the
   * sender gives up after 15 s.
   */
  bodyDeadlineMs?: number;
  /** Takes health data and news of provider connections. Without it they are counted and let go. */
  healthData?: HealthDataSink;
  /**
   * Takes verified events that are unknown, unreadable or not addressable, and signed bodies that are not a JSON
   * object. Without it the former are dropped, and the latter refused with 400.
   */
  rejected?: RejectedEventSink;
  /**
   * Remembers the messages that Temporal took, for all processes that share it: a captured message that is sent to
   * another process is recognised too. Without it each process knows only its own. While it fails, events are delivered
   * nevertheless.
   */
  taken?: TakenMessages;
  /** The service's id of the team that the endpoint belongs to: events of another team are counted and let go. */
  teamId?: string;
  /** Ids, types, durations and reasons; nothing personal. Default: warnings and errors, one line each, on the console; `false` writes nothing. */
  logger?: WebhookLogger | false;
  /** Is notified of every answer, for metrics: no id and nothing personal. Default: nobody is. */
  observe?: RequestObserver<AnswerName>;
  /** How long Temporal or a sink may take, in milliseconds. Default 10,000: the sender gives up after 15 s. */
  deadlineMs?: number;
  /** The clock that signatures are checked by, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

export interface WebhookHandler {
  /**
   * For any framework: takes the request with its raw bytes and returns the answer. Never rejects. If it has not read
   * the body, the connection must be closed after the answer, as the answer's `connection` header says.
   */
  handle(request: WebhookRequest): Promise<WebhookAnswer>;
  /** For node:http, express (before its body parsers, or behind `express.raw`) and fastify's raw request and reply. */
  node(request: IncomingMessage, response: ServerResponse): Promise<void>;
  counts(): AnswerCounts<AnswerName>;
  /**
   * Waits until no attempt to signal Temporal is still to come, not even for requests that were answered 503 because Temporal took
   * too long: a few seconds at most. Await it before you close the connection of `temporal`.
   */
  settled(): Promise<void>;
}

/**
 * Receives the service's webhooks: verify, parse, project, route, each as a separate step. It answers 204 once Temporal
 * holds an order's or a report's event; `answers` lists all of its answers with their meanings.
 *
 * @throws WebhookSecretInvalid and TypeError at once, for unusable secrets or limits; EncryptionKeysMissing,
 * EncryptionSettingInvalid, InstallationInvalid
 */
export function createWebhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const settings = checked(options);
  const recent = new RecentMessages(settings.now);
  const receiving: Receiving<AnswerName> = {
    ...settings,
    memory: new BodyMemory(settings.maxBytesAtOnce, settings.maxBytes),
    refuseId: (id) => (messageIdPattern.test(id) ? undefined : 'id_malformed'),
  };
  /** False while no event has named the configured team: the setting is probably wrong, and every event is dropped. */
  let hasSeenOwnTeam = false;

  async function decide(message: SignedMessage): Promise<Decision<AnswerName>> {
    const { name, also, isOwnTeam, eventType, error, kind, happenedAt, ...routed } = await routeOnce(
      message,
      settings,
      recent,
    );
    if (isOwnTeam === true) hasSeenOwnTeam = true;
    const { orderId, jobId, workflowId, problem } = routed;
    const about = { orderId, jobId, workflowId, problem };
    const isAlarming = name === 'foreign_team' && !hasSeenOwnTeam;
    const lagMilliseconds = name === 'delivered' ? lagSince(happenedAt, settings.now()) : undefined;
    return { name, also, eventType, messageId: message.id, about, error, isAlarming, kind, lagMilliseconds };
  }

  const endpoint = createEndpoint<AnswerName>({
    answers,
    decide: (request) => receive(request, receiving, decide),
    withStack: new Set(['internal_error']),
    logger: options.logger,
    observe: options.observe,
  });
  return { ...endpoint, settled: () => settings.abandoned.settled() };
}

/** Clocks differ: an event from the future has no lag. */
function lagSince(happenedAt: string | undefined, now: number): number | undefined {
  return happenedAt === undefined ? undefined : Math.max(0, now - Date.parse(happenedAt));
}

interface Settings extends Destinations {
  secrets: readonly string[];
  maxBytes: number;
  maxBytesAtOnce: number;
  bodyDeadlineMs: number;
  now: () => number;
}

const mebibyte = 1024 * 1024;

function checked(options: WebhookHandlerOptions): Settings {
  const { temporal, secrets, taskQueue = usualTaskQueue, maxBytes = usualWebhookBytes } = options;
  const { healthData, rejected, taken, teamId, deadlineMs = 10_000, now = Date.now } = options;
  const { encryption = usualEncryption(), installation } = options;
  const { maxBytesAtOnce = Math.max(64 * mebibyte, Math.ceil(maxBytes * (4 / 3))) } = options;
  const { bodyDeadlineMs = usualBodyDeadlineMs } = options;
  const limits = { maxBytes, maxBytesAtOnce, bodyDeadlineMs, deadlineMs };
  checkOptions('createWebhookHandler', { secrets, setting: 'WEBHOOK_SECRETS', limits });
  return {
    // A worker that requires encryption would drop the signals of a handler without keys.
    temporal: withPayloadLimit(withKeysRequired(temporal, taskQueue, encryption)),
    secrets,
    taskQueue,
    installation: installationOf(installation),
    maxBytes,
    maxBytesAtOnce,
    bodyDeadlineMs,
    healthData,
    rejected,
    taken,
    teamId,
    deadlineMs,
    abandoned: new AbandonedCalls(),
    now,
  };
}

/**
 * Senders' ids: `msg_…`, UUIDs and the like, of any printable characters, because no form is documented. A dot is refused, because it
 * separates the signed parts, so one signature would fit two messages; so is the slash, which our own ids of replayed events contain, and
 * the at sign, because ids are logged and an e-mail address must not be.
 */
const messageIdPattern = /^[!-\-0-?A-~]{1,128}$/;

/** Parses and routes a message unless a request of the last minutes has brought it already. */
async function routeOnce(
  { id, bytes }: SignedMessage,
  settings: Settings,
  recent: RecentMessages,
): Promise<RoutedMessage> {
  const digest = bytesDigest(bytes);
  if (recent.has(id, digest)) return { name: 'repeated' };
  const parsed = parseObject(bytes);
  const routed =
    'reason' in parsed
      ? await rejectBody({ id, ...parsed }, settings)
      : await route({ id, digest, ...parsed }, settings);
  if (isDurable(routed)) recent.add(id, digest);
  return routed;
}

/**
 * Only an event that was accepted may be answered as repeated. A connection that reached no link may still reach one.
 */
function isDurable({ name, also }: Routed): boolean {
  return also === undefined && durable.has(name);
}

const durable: ReadonlySet<AnswerName> = new Set([
  'delivered',
  'repeated', // by another process, which made it durable
  'body_set_aside',
  'event_set_aside',
  'health_data_accepted',
  'health_data_set_aside',
  'health_data_unwanted',
]);
