import {
  type CloudEvent,
  type NotificationEvent,
  type NotificationType,
  notificationTypes,
} from '../../protocol/notifications/events.js';
import { isObject, isText } from '../../service/json-object.js';
import { createEndpoint, type SignedEndpoint, type WebhookLogger } from '../webhooks/endpoint.js';
import { checkedBounds, type Message, type UnparsedMessage } from '../webhooks/verify.js';
import type { NotificationSource } from '../watching.js';
import { type AnswerName, answers, type Outcome, probeBody } from './answers.js';

/** The notification of one type; with several types, any of them. */
export type NotificationOf<Type extends NotificationType> = Extract<NotificationEvent, { type: Type }>;

/**
 * One function for each type that the product handles. The worker's call is answered once its promise has resolved, and the
 * worker waits for 15 seconds: longer work belongs in a queue of the product's. When it rejects, the answer is 500, and
 * the worker sends the same event again.
 */
export type NotificationHandlers = {
  [Type in NotificationType]?: (event: NotificationOf<Type>) => unknown;
};

export interface NotificationHandlerOptions {
  /** The worker's NOTIFY_SECRET, `whsec_…`. During a rotation both, in any order. */
  secrets: readonly string[];
  /** The function for each type of notification, by the type's whole name: `labops.order.phase_changed`. */
  on: NotificationHandlers;
  /**
   * Takes every event of a type that `on` does not name, also of types that only a newer worker sends. It is awaited as
   * those in `on` are. Without it such events are answered 204, and counted.
   */
  onOther?: (event: CloudEvent) => unknown;
  /**
   * True if the event with this id was handled before: it is answered 204, and nothing is called. Remembering the id is
   * the product's, best in the transaction that handles the event. Without it repeats are handled again.
   */
  alreadyHandled?: (id: string) => boolean | Promise<boolean>;
  /** The largest body that is read, in bytes. Default 256 KiB; most notifications have less than 1 KiB. */
  maxBytes?: number;
  /**
   * How long the body of a request may take to arrive, in milliseconds; then it is given up and answered 503. Default 10,000: the
   * worker gives up after 15 s.
   */
  bodyDeadlineMs?: number;
  /**
   * Receives ids, types, durations and reasons, and the errors of the functions in `on`. Default: warnings and errors, one line each,
   * on the console; `false` writes nothing.
   */
  logger?: WebhookLogger | false;
  /** The clock that signatures are checked by, in milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

export interface NotificationHandler extends NotificationSource, SignedEndpoint<AnswerName> {}

/** A workflow's listeners, by the workflow's ID. */
type Listeners = Map<string, Set<() => void>>;

/**
 * Receives the worker's notifications: what a product backend mounts at NOTIFY_URL. It verifies each request, and gives
 * its event to the function in `on` for its type.
 *
 * A notification comes at least once. An answer that is lost, or a function that takes longer than 15 seconds, makes the
 * worker send it again, perhaps while the first one is still being handled: drop repeats by `event.id`, which never
 * changes. What is about one order comes in its order.
 *
 * | Status   | When                                                                                                   |
 * | -------- | ------------------------------------------------------------------------------------------------------ |
 * | 204      | the event was handled; or it was before; or nobody handles its type                                      |
 * | 400      | signed bytes that are not a notification                                                                 |
 * | 401      | a header is missing, the timestamp is more than 5 minutes off, or no signature fits                      |
 * | 405, 413 | not a POST; a body larger than `maxBytes`                                                                |
 * | 500      | the function for the event rejected, or a body parser took the signed bytes; the worker sends it again   |
 * | 503      | the body broke off or took too long, or more than 64 MiB of bodies are being read at once; the worker sends it again      |
 *
 * @throws WebhookSecretInvalid and TypeError at once, for secrets or a limit that cannot be worked with
 */
export function createNotificationHandler(options: NotificationHandlerOptions): NotificationHandler {
  const { maxBytes = 256 * 1024, logger } = options;
  const bounds = checkedBounds('createNotificationHandler', 'NOTIFY_SECRET', { ...options, maxBytes });
  const listeners: Listeners = new Map();
  const endpoint = createEndpoint<AnswerName>({
    ...bounds,
    answers,
    receive: (message) => receive(message, options, listeners),
    withStack: new Set(['handler_failed', 'internal_error']),
    logger,
  });
  return { ...endpoint, listen: (workflowId, listener) => listen(listeners, workflowId, listener) };
}

function listen(listeners: Listeners, workflowId: string, listener: () => void): () => void {
  const ofWorkflow = listeners.get(workflowId) ?? new Set();
  listeners.set(workflowId, ofWorkflow.add(listener));
  return () => {
    ofWorkflow.delete(listener);
    if (ofWorkflow.size === 0 && listeners.get(workflowId) === ofWorkflow) listeners.delete(workflowId);
  };
}

async function receive(
  message: Message | UnparsedMessage,
  options: NotificationHandlerOptions,
  listeners: Listeners,
): Promise<Outcome> {
  if ('reason' in message) return { name: message.body === probeBody ? 'probe' : message.reason };
  // An id may contain dots, which separate the signed parts: the event must have the same id, so there is only one
  // reading.
  const event = message.value;
  if (!isEvent(event) || event.id !== message.id) return { name: 'not_an_event' };
  const outcome = await handOver(event, options);
  for (const listener of listeners.get(event.source) ?? []) listener();
  return { ...outcome, eventType: event.type };
}

/** Only checks that `data` is an object: the worker signed the rest. */
function isEvent(value: object): value is CloudEvent {
  const { specversion, data, ...event }: Partial<Record<keyof CloudEvent, unknown>> = value;
  const texts = [event.id, event.type, event.source, event.subject, event.time];
  return specversion === '1.0' && isObject(data) && texts.every(isText);
}

async function handOver(
  event: CloudEvent,
  { on, onOther, alreadyHandled }: NotificationHandlerOptions,
): Promise<Outcome> {
  const handler = handlerFor(event.type, on) ?? onOther;
  if (!handler) return { name: Object.hasOwn(notificationTypes, event.type) ? 'not_handled' : 'unknown_type' };
  try {
    if (await alreadyHandled?.(event.id)) return { name: 'repeated' };
    await handler(event);
    return { name: 'handled' };
  } catch (error) {
    return { name: 'handler_failed', error };
  }
}

/** The type determines the event's data: the worker guarantees it, as `NotificationEvent` states. */
function handlerFor(type: string, on: NotificationHandlers): ((event: CloudEvent) => unknown) | undefined {
  return Object.hasOwn(on, type) ? (on[type as NotificationType] as (event: CloudEvent) => unknown) : undefined;
}
