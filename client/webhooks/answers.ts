import type { SignatureRefusal } from '../../service/webhook-signature.js';

/**
 * Every answer that the webhook handler gives, in the order in which it decides: what comes first wins. The sender
 * takes any 2xx as done, gives up on 4xx in some deployments, and tries again on 5xx (docs/lab-service.md, "Webhooks"): so an event
 * that could not be made durable is never answered with 4xx, and one that will never be handled is never answered with
 * anything but 204.
 * The one exception is a body that is too large: whose it is nobody can tell without reading it. If it was an event, the
 * service may give it up, so that it is logged as an error; the limit is more than ten times the largest webhook seen.
 */
export const answers = {
  method_not_allowed: {
    status: 405,
    log: 'warn',
    meaning: 'Webhooks are sent by POST.',
    fix: 'Let the address be called by POST only.',
  },
  body_too_large: {
    status: 413,
    log: 'error',
    meaning: 'The body is larger than the limit; the rest of it was not read.',
    fix: 'Raise WEBHOOK_MAX_BYTES (`maxBytes` of the handler) if the service really sends bodies this large.',
  },
  body_already_read: {
    status: 500,
    log: 'error',
    meaning: 'A body parser in front of the handler took the bytes that were signed.',
    fix: 'Mount the handler before the body parser, or give it the raw bytes.',
  },
  body_broke_off: {
    status: 503,
    log: 'warn',
    meaning: 'The connection broke before the body was complete.',
    fix: 'Nothing to do: the sender tries again.',
  },
  headers_missing: {
    status: 401,
    log: 'warn',
    meaning: 'The id, timestamp or signature header is missing, in both spellings (svix-*, webhook-*).',
    fix: 'If the service sent this, let the proxies in front pass these headers on.',
  },
  timestamp_unreadable: {
    status: 401,
    log: 'warn',
    meaning: 'The timestamp header is not a whole number of seconds.',
    fix: 'If the service sent this, let the proxies in front pass the header on unchanged.',
  },
  timestamp_stale: {
    status: 401,
    log: 'warn',
    meaning: 'The timestamp is more than 5 minutes away from our clock: a replay, or a clock that is wrong.',
    fix: "Check this machine's clock.",
  },
  signature_mismatch: {
    status: 401,
    log: 'warn',
    meaning: 'No signature fits the bytes under any of the secrets.',
    fix: "Compare WEBHOOK_SECRETS with the service's webhook settings; let no proxy change the body.",
  },
  not_json: {
    status: 400,
    log: 'error',
    meaning: 'The signed bytes are no JSON in UTF-8.',
    fix: 'Look at the endpoint in the service: it signs something else than events. Give the handler `rejected` to keep it.',
  },
  not_an_object: {
    status: 400,
    log: 'error',
    meaning: 'The signed bytes are JSON, but no object.',
    fix: 'Look at the endpoint in the service: it signs something else than events. Give the handler `rejected` to keep it.',
  },
  body_set_aside: {
    status: 204,
    log: 'error',
    meaning: 'The signed bytes are no JSON object; they wait among the rejected events.',
    fix: 'Look at them there, and at the endpoint in the service: it signs something else than events.',
  },
  not_handled: {
    status: 204,
    log: 'rarely',
    meaning: 'An event of a type that is not handled here.',
    fix: 'Nothing to do; the endpoint in the service may be narrowed to the types that are handled.',
  },
  unreadable: {
    status: 204,
    log: 'warn',
    meaning: 'An event that cannot be read well enough to tell which workflow it is for.',
    fix: 'Compare the logged problem with the schema. What it tells of is read again when a deadline passes.',
  },
  not_addressable: {
    status: 204,
    log: 'warn',
    meaning: 'The id of the order, its root or the parsing job cannot stand in a workflow ID.',
    fix: "Look at it in the service's dashboard: ids have 1 to 128 letters, digits, dots, underscores, hyphens.",
  },
  link_not_running: {
    status: 204,
    log: 'rarely',
    meaning: 'A provider connection that no running link waits for.',
    fix: 'Nothing to do: it was made elsewhere, or its link has ended.',
  },
  health_data_counted: {
    status: 204,
    log: 'rarely',
    meaning: 'Health data or news of a provider connection, and no sink to take it.',
    fix: 'Give the handler `healthData` to keep it.',
  },
  health_data_accepted: { status: 204, log: 'info', meaning: 'The sink took the health data.', fix: 'Nothing to do.' },
  health_data_set_aside: {
    status: 204,
    log: 'warn',
    meaning: 'Not all of the health data could be stored; the event waits among the rejected ones.',
    fix: 'Look at its reason there; replay it once it can be stored, or discard it.',
  },
  health_data_unwanted: {
    status: 204,
    log: 'info',
    meaning: "The user's data were deleted: nothing of the event was kept.",
    fix: 'Nothing to do.',
  },
  health_data_failed: {
    status: 503,
    log: 'error',
    meaning: 'The sink for health data failed or took too long.',
    fix: 'Mend the sink; the sender tries again.',
  },
  rejected_failed: {
    status: 503,
    log: 'error',
    meaning: 'An event that nobody handles could not be put among the rejected ones.',
    fix: 'Mend the sink for rejected events; the sender tries again.',
  },
  delivered: { status: 204, log: 'info', meaning: 'Temporal holds the event.', fix: 'Nothing to do.' },
  temporal_unavailable: {
    status: 503,
    log: 'warn',
    meaning: 'Temporal cannot be reached, or cannot take the event now.',
    fix: 'Check TEMPORAL_ADDRESS and the server; the sender tries again.',
  },
  temporal_refused: {
    status: 503,
    log: 'error',
    meaning: 'Temporal refuses the event: namespace, permission, search attributes or size.',
    fix: 'Check TEMPORAL_NAMESPACE, the credentials, and that the worker has registered the search attributes.',
  },
  internal_error: {
    status: 500,
    log: 'error',
    meaning: 'The handler itself failed.',
    fix: 'Report the logged error; the sender tries again.',
  },
} as const satisfies Record<SignatureRefusal, Answer> & Record<string, Answer>;

interface Answer {
  status: number;
  /** `rarely`: once for each event type, then at its 10th, 100th and so on. */
  log: 'info' | 'warn' | 'error' | 'rarely';
  meaning: string;
  /** What to do, for whoever reads the log or the answer. */
  fix: string;
}

export type AnswerName = keyof typeof answers;

export interface WebhookAnswer {
  status: number;
  headers: Record<string, string>;
  /** JSON that names the refusal and its fix; absent with 204. */
  body?: string;
}

/** The answer as HTTP. */
export function webhookAnswer(name: AnswerName): WebhookAnswer {
  const { status, meaning, fix } = answers[name];
  if (status === 204) return { status, headers: {} };
  const body = JSON.stringify({ error: name, message: `${meaning} ${fix}` });
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
  };
  if (name === 'method_not_allowed') headers['allow'] = 'POST';
  // What is left of the body cannot be told from a next request, and reading it is what the limit is to spare us.
  if (name === 'body_too_large') headers['connection'] = 'close';
  return { status, headers, body };
}
