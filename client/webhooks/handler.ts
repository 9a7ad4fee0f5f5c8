import type { Client } from '@temporalio/client';
import type { Installation } from '../../service/installation.js';
import { defaultTaskQueue } from '../../protocol/task-queues.js';
import { type Encryption, installationOf, defaultEncryption } from '../config.js';
import { withKeysRequired } from '../encryption/key-requirement.js';
import { withPayloadLimit } from '../payload-limit.js';
import { AbandonedCalls } from '../call-options.js';
import { type AnswerName, answers } from './answers.js';
import type { DeliveredMessages, Destinations, HealthDataSink, RejectedEventSink } from './sinks.js';
import { createEndpoint, type RequestObserver, type SignedEndpoint, type WebhookLogger } from './endpoint.js';
import { route } from './route.js';
import { type Bounds, checkedBounds, defaultWebhookBytes, requireAboveZero } from './verify.js';

export interface WebhookHandlerOptions {
  /**
   * Each event goes to the workflow that it is about: of an order, an appointment, a match review, a link or a lab report. If the
   * worker has encryption keys it needs them too: see `encryption`.
   */
  temporal: Client;
  /**
   * `required`: with a client that has no encryption keys, `EncryptionKeysMissing` is thrown at once. `optional`: events are sent as they are,
   * readable in Temporal, and a worker that requires encryption drops them. Default: `required` if NODE_ENV is production; elsewhere
   * a handler without keys asks before it sends an event whether the workers encrypt (once a minute), and answers 503 if so.
   */
  encryption?: Encryption | undefined;
  /** The secrets of the endpoint, `whsec_…`. During a rotation both, in any order. */
  secrets: readonly string[];
  /** The worker's task queue. Default `lab-operations`. */
  taskQueue?: string;
  /**
   * The worker's installation: its name, or a list of its name and its former names. An order with another installation's passthrough counts as made elsewhere.
   * Production requires it. Default `default`.
   */
  installation?: string | Installation;
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
   * Remembers the messages that Temporal took, for all processes that share it: one that is sent again within minutes goes no further.
   * Without it, or while it fails, its workflow is signalled again, and finds nothing new.
   */
  deliveredMessages?: DeliveredMessages;
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

export interface WebhookHandler extends SignedEndpoint<AnswerName> {
  /**
   * Waits until no attempt to signal Temporal is still to come, not even for requests that were answered 503 because Temporal took
   * too long: a few seconds at most. Await it before you close the connection of `temporal`.
   */
  settled(): Promise<void>;
}

/**
 * Receives the service's webhooks: verifies and parses (`verify.ts`), routes and projects (`route.ts`), signals (`signal.ts`). It answers
 * 204 once Temporal holds an order's or a report's event; `answers` lists all of its answers with their meanings.
 *
 * @throws WebhookSecretInvalid and TypeError at once, for unusable secrets or limits; EncryptionKeysMissing,
 * EncryptionSettingInvalid, InstallationInvalid
 */
export function createWebhookHandler(options: WebhookHandlerOptions): WebhookHandler {
  const settings = checked(options);
  const endpoint = createEndpoint<AnswerName>({
    ...settings,
    answers,
    refuseId,
    receive: (message) => route(message, settings),
    withStack: new Set(['internal_error']),
  });
  return { ...endpoint, settled: () => settings.abandoned.settled() };
}

/** The checked options, with what requests share. */
type Settings = Bounds & Destinations & Pick<WebhookHandlerOptions, 'logger' | 'observe'>;

function checked(options: WebhookHandlerOptions): Settings {
  const { temporal, taskQueue = defaultTaskQueue, maxBytes = defaultWebhookBytes, deadlineMs = 10_000 } = options;
  const { installation, encryption = defaultEncryption(), teamId, ...others } = options;
  requireAboveZero('createWebhookHandler', { deadlineMs });
  const bounds = checkedBounds('createWebhookHandler', 'WEBHOOK_SECRETS', { ...options, maxBytes });
  return {
    ...others,
    ...bounds,
    // A worker that requires encryption would drop the signals of a handler without keys.
    temporal: withPayloadLimit(withKeysRequired(temporal, taskQueue, encryption)),
    taskQueue,
    installation: installationOf(installation),
    ...(teamId !== undefined && { team: { id: teamId, isSeen: false } }),
    deadlineMs,
    abandoned: new AbandonedCalls(),
  };
}

/**
 * Senders' ids: `msg_…`, UUIDs and the like, of any printable characters, because no form is documented. A dot is refused, because it
 * separates the signed parts, so one signature would fit two messages; so is the slash, which our own ids of replayed events contain, and
 * the at sign, because ids are logged and an e-mail address must not be.
 */
const messageIdPattern = /^[!-\-0-?A-~]{1,128}$/;

const refuseId = (id: string) => (messageIdPattern.test(id) ? undefined : 'id_malformed');
