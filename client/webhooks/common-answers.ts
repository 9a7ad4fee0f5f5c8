/** One answer of an endpoint that takes signed requests: the webhook handler, or the notification handler. */
export interface Answer {
  status: number;
  /** `rarely`: once for each event type, then at its 10th, 100th and so on. What is `unverified` is never logged more often. */
  log: 'info' | 'warn' | 'error' | 'rarely';
  meaning: string;
  /** For readers of the log or the answer. */
  remedy: string;
}

/** The answers that are the same for every sender. */
export const commonAnswers = {
  method_not_allowed: {
    status: 405,
    log: 'warn',
    meaning: 'Webhooks are sent by POST.',
    remedy: 'Send POST requests only.',
  },
  body_already_read: {
    status: 500,
    log: 'error',
    meaning: 'A body parser in front of the handler consumed the signed bytes.',
    remedy: 'Mount the handler before the body parser, or give it the raw bytes.',
  },
  headers_missing: {
    status: 401,
    log: 'warn',
    meaning: 'The id, timestamp or signature header is missing, in both spellings (svix-*, webhook-*).',
    remedy: 'If the request is genuine, make the proxies in front pass these headers on.',
  },
  timestamp_unreadable: {
    status: 401,
    log: 'warn',
    meaning: 'The timestamp header is not a whole number of seconds.',
    remedy: 'If the request is genuine, make the proxies in front pass the header on unchanged.',
  },
  timestamp_stale: {
    status: 401,
    log: 'warn',
    meaning: 'The timestamp is more than 5 minutes off: this is a replay, or a clock is wrong.',
    remedy: "Check this machine's clock.",
  },
  too_many_bodies: {
    status: 503,
    log: 'warn',
    meaning: 'The requests being read hold as many bytes as they may in total; the rest of this body was not read.',
    remedy:
      'Nothing to do: the sender will retry. If this continues, find out who sends so much, or start more processes.',
  },
  body_broke_off: {
    status: 503,
    log: 'warn',
    meaning: 'The connection broke or was too slow: the body did not arrive as a whole.',
    remedy: 'Nothing to do: the sender will retry.',
  },
  internal_error: {
    status: 500,
    log: 'error',
    meaning: 'The handler itself failed.',
    remedy: 'Report the logged error; the sender will retry.',
  },
} as const satisfies Record<string, Answer>;

/** The refusals of a request before its content is read. */
export type Refusal = Exclude<keyof typeof commonAnswers, 'internal_error'> | 'body_too_large' | 'signature_mismatch';

/** An answer as HTTP, for any framework. */
export interface WebhookAnswer {
  status: number;
  headers: Record<string, string>;
  /** JSON that names the refusal and its remedy; absent with 204. */
  body?: string;
}

/** Answers that anybody can cause, without a secret: the log has the first, the 10th, the 100th and so on of each. */
export const unverified: ReadonlySet<string> = new Set([
  'method_not_allowed',
  'headers_missing',
  'timestamp_unreadable',
  'timestamp_stale',
  'id_malformed',
  'body_too_large',
  'too_many_bodies',
  'body_broke_off',
  'body_already_read',
  'signature_mismatch',
]);

export function httpAnswer(name: string, { status, meaning, remedy }: Answer): WebhookAnswer {
  if (status === 204) return { status, headers: {} };
  const body = JSON.stringify({ error: name, message: `${meaning} ${remedy}` });
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    // The rest of an unread body could be mistaken for the next request, and a stranger's connection would wait for one.
    connection: 'close',
  };
  if (name === 'method_not_allowed') headers['allow'] = 'POST';
  return { status, headers, body };
}
