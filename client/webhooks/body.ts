import { Readable } from 'node:stream';
import type { WebhookHeaders } from '../../service/webhook-signature.js';
import type { AnswerName } from './answers.js';

/** The bytes as they came, whole or in pieces. Text that was decoded already cannot be verified. */
export type WebhookBody = Uint8Array | AsyncIterable<Uint8Array>;

export type BodyRead = { bytes: Uint8Array } | { refusal: AnswerName; error?: unknown };

/** Reads the body, and never more of it than the limit and the piece that goes beyond it. */
export async function readBody(headers: WebhookHeaders, body: WebhookBody, maxBytes: number): Promise<BodyRead> {
  if (declaredLength(headers) > maxBytes) return { refusal: 'body_too_large' };
  if (body instanceof Uint8Array) return body.byteLength > maxBytes ? { refusal: 'body_too_large' } : { bytes: body };
  // A loop that is left early destroys its stream, which may take the connection along, and the answer with it.
  const pieces = body instanceof Readable ? body.iterator({ destroyOnReturn: false }) : body;
  try {
    return await gather(pieces, maxBytes);
  } catch (error) {
    return { refusal: 'body_broke_off', error };
  }
}

async function gather(pieces: AsyncIterable<unknown>, maxBytes: number): Promise<BodyRead> {
  const gathered: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    if (!(piece instanceof Uint8Array)) return { refusal: 'body_already_read' };
    size += piece.byteLength;
    if (size > maxBytes) return { refusal: 'body_too_large' };
    gathered.push(piece);
  }
  return { bytes: Buffer.concat(gathered, size) };
}

/** A length that is missing or no number says nothing: what comes is measured anyway. */
function declaredLength(headers: WebhookHeaders): number {
  const declared = Number(headers['content-length'] ?? 0);
  return Number.isNaN(declared) ? 0 : declared;
}
