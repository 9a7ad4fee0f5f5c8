import * as errors from '../errors.js';
import { isObject } from '../json-object.js';
import { plainSentence } from '../word.js';

/** More broken fields than any of our requests has; the rest would only fill logs. */
const mostFields = 30;
const longestRetryAfterMs = 24 * 60 * 60 * 1000;

/**
 * The documentation gives no status and no code for a closed beta, nor for the most reports that a sandbox reads; these are the words that
 * its sentences use.
 */
const closedBetaPattern = /closed.beta|not enabled|not supported yet for your team/i;
const fullSandboxPattern = /limited to \d+ reports/i;

type Failure = errors.CallFacts & { status: number };

/**
 * The error for an answer with a 4xx or 5xx status. `body` is the parsed JSON, or text; secrets that it quotes are
 * removed.
 */
export function refusalError(
  call: Failure,
  body: unknown,
  retryAfter: string | undefined,
  secrets: readonly string[] = [],
): Error {
  const refusal = readRefusal(body, secrets);
  const { status } = call;
  // Some features answer 503 while they are off for the team: that does not pass by itself.
  if (status === 503 && isClosedBeta(refusal)) return new errors.FeatureNotEnabled(call, refusal);
  if (fullSandboxPattern.test(refusal.sentence ?? '')) return new errors.FeatureNotEnabled(call, refusal);
  // 408 comes from something in front of the service that gave up waiting, 425 says that it is too early: both pass by themselves, like a 5xx.
  if (status >= 500 || status === 408 || status === 425)
    return new errors.ServiceUnavailable(call, refusal, retryAfterMs(retryAfter));
  if (status === 429) return new errors.TooManyRequests(call, refusal, retryAfterMs(retryAfter));
  if (isClosedBeta(refusal)) return new errors.FeatureNotEnabled(call, refusal);
  if (status === 404) return new errors.NotFound(call, refusal);
  if (status === 401 || status === 403) return new errors.Unauthorized(call, refusal);
  return new errors.ServiceRefused(call, refusal);
}

function isClosedBeta({ sentence = '' }: errors.Refusal): boolean {
  return closedBetaPattern.test(sentence);
}

/**
 * Reads an error body. `detail` is untyped (docs/internals/lab-service.md): a list of `{type, loc, msg, input, ctx}`, a sentence,
 * or an object; some bodies carry `{error, message}` instead, and some are plain text. `input` and `ctx` repeat the
 * request and are dropped.
 */
export function readRefusal(body: unknown, secrets: readonly string[] = []): errors.Refusal {
  const say: Say = (text) => plainSentence(text, secrets);
  if (typeof body === 'string') return sentenceIn(plainText(body), say);
  if (!isObject(body)) return { fields: [] };
  const { detail } = body;
  if (Array.isArray(detail))
    return { fields: detail.slice(0, mostFields).flatMap((entry) => refusedField(entry, say)) };
  if (typeof detail === 'string') return sentenceIn(detail, say);
  return sentenceIn(textsIn(isObject(detail) ? detail : body)[0], say);
}

/** Reduces the service's sentences to parts that may be reported. */
type Say = (text: string) => string;

/** Milliseconds to wait, from either form of Retry-After (RFC 9110): seconds, or an HTTP date. At most a day. */
export function retryAfterMs(header: string | undefined): number | undefined {
  const value = header?.trim() ?? '';
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : httpDate(value) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longestRetryAfterMs);
}

/** Date.parse reads almost anything, a bare "-1" included; all HTTP date forms begin with a day's name. */
function httpDate(value: string): number {
  return /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value) ? Date.parse(value) : Number.NaN;
}

function refusedField(entry: unknown, say: Say): errors.ReadField[] {
  if (typeof entry === 'string') return [{ field: '', message: say(entry) }];
  if (typeof entry !== 'object' || entry === null) return [];
  const { loc, msg, type } = entry as Record<string, unknown>;
  const field: errors.ReadField = {
    field: fieldOf(loc, say),
    message: typeof msg === 'string' ? say(msg) : 'is invalid',
  };
  if (typeof type === 'string') field.type = say(type);
  return [field];
}

/** `["body", "patient_details", "dob"]` is `patient_details.dob`, the name that our own rules use. */
function fieldOf(loc: unknown, say: Say): string {
  if (!Array.isArray(loc)) return '';
  const steps = loc.filter((step) => typeof step === 'string' || typeof step === 'number');
  return say((steps[0] === 'body' ? steps.slice(1) : steps).join('.'));
}

/** The sentences of a body, then its codes. */
function textsIn(body: Record<string, unknown>): string[] {
  const texts = [
    body['error_message'],
    body['message'],
    body['msg'],
    body['detail'],
    body['error'],
    body['error_type'],
  ];
  return texts.filter((text): text is string => typeof text === 'string' && text !== '');
}

/** A proxy's error page is markup that explains nothing. */
function plainText(body: string): string | undefined {
  const text = body.trim();
  return text === '' || text.startsWith('<') ? undefined : text;
}

function sentenceIn(text: string | undefined, say: Say): errors.Refusal {
  return text === undefined ? { fields: [] } : { sentence: say(text), fields: [] };
}
