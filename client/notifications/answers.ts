import { type Answer, commonAnswers, type OutcomeOf } from '../webhooks/endpoint.js';
import type { Refusal } from '../webhooks/verify.js';

/**
 * Every answer of the notification handler, in the order of its checks: the first match wins. The worker takes any 2xx
 * as delivered, sets the notification aside after a 4xx other than 408, 409, 425 and 429, and sends it again after anything else.
 */
export const answers = {
  method_not_allowed: commonAnswers.method_not_allowed,
  body_already_read: commonAnswers.body_already_read,
  headers_missing: commonAnswers.headers_missing,
  timestamp_unreadable: commonAnswers.timestamp_unreadable,
  timestamp_stale: commonAnswers.timestamp_stale,
  body_too_large: {
    status: 413,
    log: 'error',
    meaning: 'The body is larger than the limit; the rest of it was not read.',
    remedy: 'Raise `maxBytes` of the handler if the worker really sends bodies this large.',
  },
  too_many_bodies: commonAnswers.too_many_bodies,
  body_broke_off: commonAnswers.body_broke_off,
  signature_mismatch: {
    status: 401,
    log: 'warn',
    meaning: 'No signature matches the body with any of the secrets.',
    remedy: "Give the handler the worker's NOTIFY_SECRET; let no proxy change the body.",
  },
  probe: {
    status: 400,
    log: 'info',
    meaning: 'The signed bytes are those by which `labops doctor` looks if signatures are checked.',
    remedy: 'Nothing to do: the signature fits.',
  },
  not_json: {
    status: 400,
    log: 'error',
    meaning: 'The signed bytes are not JSON in UTF-8.',
    remedy: 'Find out who else signs with this secret: the worker sends nothing of this kind.',
  },
  not_an_object: {
    status: 400,
    log: 'error',
    meaning: 'The signed bytes are JSON, but not an object.',
    remedy: 'Find out who else signs with this secret: the worker sends nothing of this kind.',
  },
  not_an_event: {
    status: 400,
    log: 'error',
    meaning: 'The signed object is not a CloudEvent 1.0 whose id is the id of the headers.',
    remedy: 'Find out who else signs with this secret: the worker sends nothing of this kind.',
  },
  repeated: {
    status: 204,
    log: 'info',
    meaning: 'The event was handled before, as `alreadyHandled` says.',
    remedy: 'Nothing to do.',
  },
  not_handled: {
    status: 204,
    log: 'rarely',
    meaning: 'The event has a type that nobody handles here.',
    remedy: 'Nothing to do; give the handler a function for the type, or `onOther`, to handle it.',
  },
  unknown_type: {
    status: 204,
    log: 'rarely',
    meaning: 'An event of a type that this version of the client does not know, and that nobody handles here.',
    remedy: "Update the client to the worker's version, or give the handler `onOther`.",
  },
  handled: { status: 204, log: 'info', meaning: 'The event was handled.', remedy: 'Nothing to do.' },
  handler_failed: {
    status: 500,
    log: 'error',
    meaning: 'The function that handles the event, or `alreadyHandled`, failed.',
    remedy: 'Look at the error that the handler logged; the worker sends the event again.',
  },
  internal_error: commonAnswers.internal_error,
} as const satisfies Record<Refusal, Answer> & Record<string, Answer>;

/** What `labops doctor` sends, signed: no receiver takes it for a notification, and ours does not log it as an error. */
export const probeBody = 'not an event: labops doctor looks if the receiver checks signatures';

export type AnswerName = keyof typeof answers;

/** The result of a notification. */
export type Outcome = OutcomeOf<AnswerName>;
