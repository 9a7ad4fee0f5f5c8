import { type Answer, commonAnswers, type OutcomeOf } from './endpoint.js';
import type { Refusal } from './verify.js';

/**
 * Every answer that the webhook handler gives. `verify.ts` decides those up to `signature_mismatch`, `not_json` and `not_an_object`;
 * `endpoint.ts` decides `body_already_read` and `internal_error`; `route.ts`, `signal.ts` and `sinks.ts` decide the rest. The sender takes
 * any 2xx as done, gives up on 4xx in some deployments, and tries again on 5xx (docs/internals/lab-service.md, "Webhooks"): so an event
 * that could not be made durable is never answered with 4xx, and one that will never be handled is never answered with anything but 204.
 * The one exception is a body that is too large: its sender cannot be known without reading it. If it was an event, the
 * service may give it up, so it is logged as an error; the limit is five times the largest webhook seen.
 */
export const answers = {
  method_not_allowed: commonAnswers.method_not_allowed,
  body_already_read: commonAnswers.body_already_read,
  headers_missing: commonAnswers.headers_missing,
  timestamp_unreadable: commonAnswers.timestamp_unreadable,
  timestamp_stale: commonAnswers.timestamp_stale,
  id_malformed: {
    status: 401,
    log: 'warn',
    meaning: 'The id header is not 1 to 128 printable ASCII characters without spaces, dots, slashes and at signs.',
    remedy: 'If the service sent this, make the proxies in front pass the header on unchanged.',
  },
  body_too_large: {
    status: 413,
    log: 'error',
    meaning: 'The body is larger than the limit; the rest of it was not read.',
    remedy: 'Raise WEBHOOK_MAX_BYTES (`maxBytes` of the handler) if the service really sends bodies this large.',
  },
  too_many_bodies: commonAnswers.too_many_bodies,
  body_broke_off: commonAnswers.body_broke_off,
  signature_mismatch: {
    status: 401,
    log: 'warn',
    meaning: 'No signature matches the body with any of the secrets.',
    remedy: "Compare WEBHOOK_SECRETS with the service's webhook settings; let no proxy change the body.",
  },
  repeated: {
    status: 204,
    log: 'info',
    meaning: 'The same message was taken a few minutes ago.',
    remedy: 'Nothing to do.',
  },
  not_json: {
    status: 400,
    log: 'error',
    meaning: 'The signed body is not valid UTF-8 JSON.',
    remedy:
      "Check the endpoint's configuration: it is sending something other than events. Give the handler `rejected` to keep such bodies.",
  },
  not_an_object: {
    status: 400,
    log: 'error',
    meaning: 'The signed body is JSON, but not an object.',
    remedy:
      "Check the endpoint's configuration: it is sending something other than events. Give the handler `rejected` to keep such bodies.",
  },
  body_set_aside: {
    status: 204,
    log: 'error',
    meaning: 'The signed body is not a JSON object; it waits among the rejected events.',
    remedy:
      "Look at it there (`labops rejected-events list`) and check the endpoint's configuration: it is sending something other than events.",
  },
  not_handled: {
    status: 204,
    log: 'rarely',
    meaning: 'The event has a type that nobody handles here.',
    remedy: 'Nothing to do. You can limit the endpoint to the types that are handled.',
  },
  unreadable: {
    status: 204,
    log: 'warn',
    meaning: 'The event cannot be read, or does not say which workflow it is for.',
    remedy: 'Compare the logged problem with the schema. The order is read again when a deadline passes.',
  },
  not_addressable: {
    status: 204,
    log: 'warn',
    meaning: 'The id of the order, its root or the parsing job cannot be part of a workflow ID.',
    remedy: "Look at it in the service's dashboard: ids have 1 to 128 letters, digits, dots, underscores and hyphens.",
  },
  foreign_team: {
    status: 204,
    log: 'rarely',
    meaning: 'The event belongs to another team than SERVICE_TEAM_ID; nothing of it was kept.',
    remedy: "Correct SERVICE_TEAM_ID (the handler's `teamId`), or remove the endpoint from the other team's settings.",
  },
  event_set_aside: {
    status: 204,
    log: 'error',
    meaning: 'Temporal refuses the event itself and always will; it waits among the rejected events.',
    remedy:
      'Look at the logged error: most likely the event is too large. The order is read again when a deadline passes.',
  },
  event_refused: {
    status: 204,
    log: 'error',
    meaning: 'Temporal refuses the event itself and always will; it was dropped.',
    remedy:
      'Look at the logged error: most likely the event is too large. Give the handler `rejected` to keep such events.',
  },
  link_not_running: {
    status: 204,
    log: 'rarely',
    meaning: 'The event reports a provider connection that no running link waits for.',
    remedy: 'Nothing to do: the connection was made elsewhere, or its link has ended.',
  },
  health_data_counted: {
    status: 204,
    log: 'rarely',
    meaning: 'The event has health data or a provider connection, and the handler has no sink for it.',
    remedy: 'Give the handler `healthData` to keep it.',
  },
  health_data_accepted: {
    status: 204,
    log: 'info',
    meaning: 'The sink took the health data.',
    remedy: 'Nothing to do.',
  },
  health_data_set_aside: {
    status: 204,
    log: 'warn',
    meaning: 'Not all of the health data could be stored; the event waits among the rejected events.',
    remedy: 'Read its reason (`labops rejected-events list`), fix the cause and replay it, or discard it.',
  },
  health_data_unwanted: {
    status: 204,
    log: 'info',
    meaning: "The user's data was deleted: nothing of the event was kept.",
    remedy: 'Nothing to do.',
  },
  health_data_failed: {
    status: 503,
    log: 'error',
    meaning: 'The sink for health data failed or took too long.',
    remedy: 'Fix the sink; the service will retry.',
  },
  rejected_failed: {
    status: 503,
    log: 'error',
    meaning: 'The event could not be handled, and could not be kept among the rejected events either.',
    remedy: 'Fix the sink for rejected events; the service will retry.',
  },
  delivered: { status: 204, log: 'info', meaning: 'Temporal has stored the event.', remedy: 'Nothing to do.' },
  temporal_unavailable: {
    status: 503,
    log: 'warn',
    meaning: 'Temporal cannot be reached, or cannot take the event now.',
    remedy: 'Check TEMPORAL_ADDRESS and the server; the service will retry.',
  },
  temporal_refused: {
    status: 503,
    log: 'error',
    meaning: 'Temporal refuses the event: namespace, permission or search attributes.',
    remedy: 'Check TEMPORAL_NAMESPACE, the credentials, and that the worker has registered the search attributes.',
  },
  encryption_keys_missing: {
    status: 503,
    log: 'error',
    meaning:
      'The worker encrypts, and this handler has no keys: nothing was sent, because the worker may drop the event.',
    remedy:
      "Give the ingress (or the handler's Temporal client) the worker's LABOPS_ENCRYPTION_KEYS; the service will retry.",
  },
  internal_error: commonAnswers.internal_error,
} as const satisfies Record<Refusal, Answer> & Record<string, Answer>;

export type AnswerName = keyof typeof answers;

/** The result of an event. */
export type Outcome = OutcomeOf<AnswerName>;
