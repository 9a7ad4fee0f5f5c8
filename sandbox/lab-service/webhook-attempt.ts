import { createHmac } from 'node:crypto';
import { request, type Agent } from 'undici';

/** The outcome of one attempt. */
export interface AttemptOutcome {
  /** By the stand-in's clock. */
  readonly at: string;
  /** The receiver's status; null when there was no answer. */
  readonly status: number | null;
  /** Why there was no answer: an error code such as ECONNREFUSED, or `timeout`. */
  readonly error: string | null;
  /** Real milliseconds. */
  readonly durationMs: number;
  /** 2xx in time; a redirect is a failure. */
  readonly ok: boolean;
}

interface Outgoing {
  readonly id: string;
  readonly body: string;
  /** Changes one byte after signing. */
  readonly isCorrupt: boolean;
  readonly secrets: readonly string[];
  /** Of the endpoint's own; they cannot take the place of those of the delivery. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Way {
  readonly url: string;
  readonly timeoutMs: number;
  readonly agent: Agent;
  /** Aborted when the stand-in ends. */
  readonly closing: AbortSignal;
  readonly now: () => number;
}

/** Sends a message once. Never throws: no answer is an outcome too. */
export async function sendWebhook(outgoing: Outgoing, way: Way): Promise<AttemptOutcome> {
  const started = performance.now();
  const at = new Date(way.now()).toISOString();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), way.timeoutMs);
  const finished = (status: number | null, error: string | null): AttemptOutcome => ({
    at,
    status,
    error,
    durationMs: Math.round(performance.now() - started),
    ok: status !== null && status >= 200 && status < 300,
  });
  try {
    const answer = await request(way.url, {
      method: 'POST',
      body: outgoing.isCorrupt ? corrupted(outgoing.body) : outgoing.body,
      headers: headersOf(outgoing),
      dispatcher: way.agent,
      signal: AbortSignal.any([timeout.signal, way.closing]),
    });
    await answer.body.dump();
    return finished(answer.statusCode, null);
  } catch (error) {
    return finished(null, timeout.signal.aborted ? 'timeout' : codeOf(error));
  } finally {
    clearTimeout(timer);
  }
}

function headersOf(outgoing: Outgoing): Record<string, string> {
  const { id, body, secrets, headers } = outgoing;
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const own = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  return {
    ...Object.fromEntries(own),
    'content-type': 'application/json',
    'user-agent': 'lab-service-sandbox/1',
    ...signedHeaders(secrets, { id, timestampSeconds, body }),
  };
}

/** One byte in the middle becomes another one; the length stays. */
function corrupted(body: string): Buffer {
  const bytes = Buffer.from(body);
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  return bytes;
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

interface SignableMessage {
  /** The same for every attempt of one message: the receiver's key for dropping repeats. */
  readonly id: string;
  /** Seconds since 1970 by the wall clock: receivers compare it with theirs, whatever the stand-in's clock says. */
  readonly timestampSeconds: number;
  readonly body: string;
}

/**
 * The `-signature` value of Standard Webhooks: for each secret `v1,<base64 HMAC-SHA256 of "id.timestamp.body">`,
 * separated by spaces (two while secrets rotate). A secret is `whsec_` and the key in base64.
 */
export function signatureOf(secrets: readonly string[], message: SignableMessage): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      const signed = `${message.id}.${message.timestampSeconds}.${message.body}`;
      return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    })
    .join(' ');
}

function signedHeaders(secrets: readonly string[], message: SignableMessage): Record<string, string> {
  return {
    'svix-id': message.id,
    'svix-timestamp': String(message.timestampSeconds),
    'svix-signature': signatureOf(secrets, message),
  };
}
