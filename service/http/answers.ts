import { Readable } from 'node:stream';
import type { z } from 'zod';
import { canonicalId } from '../canonical-id.js';
import { type CallFacts, AnswerUnreadable } from '../errors.js';
import type { RawAnswer } from './exchange.js';
import type { AnsweredCall, ServiceCall } from './calls.js';
import { refusalError } from './refusals.js';
import { fieldNamesOf, shapeProblem } from '../validation.js';

/* Reads the service's answers: JSON of a known shape, PDFs, and refusals. */

export function readAnswer<T>(call: AnsweredCall<T>, answer: RawAnswer, keys: readonly string[]): T {
  const { json, value } = parsed(answer.body);
  if (answer.status >= 300) {
    const recovered = call.recover?.(answer.status, value);
    if (recovered !== undefined) return recovered;
    throw failureOf(call, answer, value, keys);
  }
  const facts = { ...factsOf(call), status: answer.status };
  if (!json) throw new AnswerUnreadable(facts, `answered ${answer.status} with a body that is not JSON`);
  const result = call.answer.safeParse(value);
  if (result.success) return result.data;
  throw new AnswerUnreadable(facts, `answered ${answer.status} in an unexpected shape: ${shapeProblem(result.error)}`);
}

/**
 * The shape of an answer about the object with this id. A proxy or a cache may mix answers up, and what another user's answer says
 * must not count. An answer that leaves its id out says nothing about that.
 */
export function answerAbout<T>(
  id: string,
  shape: z.ZodType<T>,
  idOf: (answer: T) => string | null | undefined,
): z.ZodType<T> {
  const isAbout = (answered: string | null | undefined) =>
    answered == null || canonicalId(answered) === canonicalId(id);
  return shape.refine((answer) => isAbout(idOf(answer)), 'is about another object than was asked for');
}

/** An answer whose body means nothing. */
export function readEnd(call: ServiceCall, answer: RawAnswer, keys: readonly string[]): void {
  if (answer.status >= 300) throw failureOf(call, answer, parsed(answer.body).value, keys);
}

/** Its type may be missing or general, so the content decides. */
export function readPdf(call: ServiceCall, answer: RawAnswer, keys: readonly string[]): Buffer {
  const { status, headers, body } = answer;
  readEnd(call, answer, keys);
  if (hasPdfHeader(body) && !/json|html|xml/i.test(String(headers['content-type']))) return body;
  throw new AnswerUnreadable({ ...factsOf(call), status }, `answered ${status} with a body that is not a PDF`);
}

export function readPdfStream(call: ServiceCall, answer: RawAnswer, keys: readonly string[]): Readable {
  try {
    const firstBytes = readPdf(call, answer, keys);
    return answer.stream ?? Readable.from([firstBytes], { objectMode: false });
  } catch (error) {
    answer.stream?.destroy();
    throw error;
  }
}

function failureOf(call: ServiceCall, answer: RawAnswer, body: unknown, keys: readonly string[]): Error {
  const { body: sent, query = {}, params = {}, upload, auth, secrets = [] } = call;
  const names = [...fieldNamesOf(sent), ...Object.keys(query), ...Object.keys(params), ...(upload?.fields ?? [])];
  const facts = { ...factsOf(call), status: answer.status, knownFields: new Set(names) };
  if (answer.status < 400) {
    // Redirects are not followed: they would carry the key to another address.
    return new AnswerUnreadable(facts, `answered with a redirect (${answer.status}); check the base URL and the paths`);
  }
  const retryAfter = answer.headers['retry-after'];
  const unspoken = [...keys, ...(typeof auth === 'object' ? [auth.linkToken] : []), ...secrets];
  return refusalError(facts, body, Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, unspoken);
}

/** The body's JSON, nothing if it is empty, or its text if it is not JSON. The parser's own error is dropped: it quotes the body. */
function parsed(body: Buffer): { json: boolean; value: unknown } {
  const text = new TextDecoder().decode(body);
  if (text.trim() === '') return { json: true, value: undefined };
  try {
    return { json: true, value: JSON.parse(text) };
  } catch {
    return { json: false, value: text };
  }
}

export function factsOf(call: ServiceCall): CallFacts {
  return { method: call.method, path: call.path };
}

/** Readers look for a PDF's header within so many bytes: scanners and mail gateways put other bytes before it. */
export const pdfFirstBytes = 1024;

/**
 * True if the first bytes are those of a PDF: its header begins a line, and what comes before is not a page or JSON, which
 * may mention one.
 */
export function hasPdfHeader(bytes: Buffer): boolean {
  const start = bytes.subarray(0, pdfFirstBytes).toString('latin1');
  return /(?:^(?:\u00ef\u00bb\u00bf)?|[\r\n])%PDF-/.test(start) && !/^(?:\u00ef\u00bb\u00bf)?\s*["{[<]/.test(start);
}
