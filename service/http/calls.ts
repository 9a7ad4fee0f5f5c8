import { AnswerLost, FeatureNotEnabled, ServiceRefused, Unauthorized } from '../errors.js';
import type { z } from 'zod';
import type { Upload } from './upload-body.js';

/* A call of the service as this folder describes it. A refusal, and the Retry-After of a 429, is read by refusals.ts. */

/** Options of a single call. */
export interface CallOptions {
  /** Milliseconds for the whole call; default `ServiceConfig.timeoutMs`, or its `uploadTimeoutMs`. The headers and body timeouts hold beside it. */
  timeoutMs?: number;
  /**
   * Ends the wait: the call rejects with the signal's own reason. The request may have been sent by then, and its
   * effect at the service is unknown.
   */
  signal?: AbortSignal;
}

/** The key a call carries: the team's (default), a link token instead of it, or the management key. */
type Authentication = 'team' | 'management' | { linkToken: string };

export interface ServiceCall {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Template, for instance `/v3/order/{order_id}`. Errors name it in this form. */
  path: string;
  /** Values for the template's names, encoded here. */
  params?: Record<string, string>;
  /** Absent and null values are left out; a list repeats its name. */
  query?: Record<string, QueryValue>;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  /** Streamed instead of `body`. Its bytes are read once, and ended early if the call ends early. */
  upload?: Upload;
  auth?: Authentication;
  /**
   * Values that are sent and that no error may repeat, should the service quote them; a link token in `auth` is
   * included automatically.
   */
  secrets?: readonly string[];
  /**
   * Milliseconds that a healthy answer may take, if that is longer than usual: neither the headers timeout nor the
   * configured whole timeout ends the call before. A call's own `timeoutMs` does. An upload's answer has exactly this
   * long, from the moment at which the whole body was sent.
   */
  slowestMs?: number;
  options?: CallOptions | undefined;
}

export type QueryValue = string | number | boolean | readonly string[] | null | undefined;

export interface AnsweredCall<T> extends ServiceCall {
  answer: z.ZodType<T>;
  /**
   * Turns a refusal into a result; undefined leaves it a refusal. `body` is the parsed JSON, or text that is not JSON.
   */
  recover?: (status: number, body: unknown) => T | undefined;
}

/*
 * Requests that carry an idempotency key: the service gives the same key the first answer again.
 */

/**
 * The headers of a request with a key. The service is asked not to keep failures, which the key would repeat. Without a key there are none.
 *
 * @param key printable ASCII
 */
export function idempotencyHeaders(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { 'x-idempotency-key': key, 'x-idempotency-error': 'no-cache' };
}

/**
 * Two requests with one key at once: the later one is refused while the service still works on the first, so its outcome is unknown.
 * Neither the status nor the sentence is documented. 409 is such a refusal unless its sentence is about something else; other statuses
 * only if the sentence says so; 425 is an outage anyway. A 409 to an order without a key: `orEarlier` in `activities/order/placing.ts`.
 */
export function collisionOf(error: unknown, { headers = {} }: Pick<ServiceCall, 'headers'>): AnswerLost | undefined {
  if (!Object.hasOwn(headers, 'x-idempotency-key')) return undefined;
  if (!(error instanceof ServiceRefused) || error.status === 422) return undefined;
  if (error instanceof FeatureNotEnabled || error instanceof Unauthorized) return undefined;
  const { status, fields, serviceSentence: said = '' } = error;
  const isImplied = status === 409 && fields.length === 0;
  const isCollision = atWorkPattern.test(said)
    ? isImplied || /idempoten/i.test(said)
    : isImplied && saysNothingPattern.test(said);
  if (!isCollision) return undefined;
  return new AnswerLost(error, 'is still being carried out for an earlier request with the same idempotency key');
}

/** A key that is not allowed, or not valid, is refused for good. */
const atWorkPattern = /\b(?:in.progress|running|processing|being processed|concurrent|under ?way|outstanding)/i;
/** Nothing, or the words of the status alone. */
const saysNothingPattern = /^\W*(?:409\W*)?(?:conflict)?\W*$/i;
