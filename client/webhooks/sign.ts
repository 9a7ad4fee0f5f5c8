import { randomUUID } from 'node:crypto';
import { sign } from '../../service/webhooks/signature.js';

interface WebhookToSign {
  /** An object is written as JSON; text and bytes are signed as they are. */
  body: string | Uint8Array | Record<string, unknown>;
  /** `whsec_` and the key in base64: one of the secrets that the handler was given. */
  secret: string;
  /** The same for every attempt of one message. Default: a new one. */
  id?: string;
  /** When it is signed, in milliseconds since 1970. Default: now. */
  now?: number;
}

export interface SignedWebhook {
  headers: Record<string, string>;
  /** Bytes, as the handler's `handle` takes them. `Buffer` has a parameter only since TypeScript 5.7. */
  body: ReturnType<typeof Buffer.from>;
}

/** A webhook as the service would send it, for the tests of a product that mounts the handler. */
export function signWebhook({
  body,
  secret,
  id = `msg_${randomUUID()}`,
  now = Date.now(),
}: WebhookToSign): SignedWebhook {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const raw = Buffer.from(isRaw ? body : JSON.stringify(body));
  const timestampSeconds = Math.floor(now / 1000);
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestampSeconds),
      'webhook-signature': sign({ id, timestampSeconds, body: raw, secret }),
    },
    body: raw,
  };
}
