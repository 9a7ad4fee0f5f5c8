import { createHmac } from 'node:crypto';

/** Which spelling of the three headers a delivery carries. */
export type HeaderStyle = 'svix' | 'webhook' | 'both';

export interface SignableMessage {
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

/** The headers of a signed delivery, in one spelling or both. */
export function signedHeaders(
  secrets: readonly string[],
  message: SignableMessage,
  style: HeaderStyle,
): Record<string, string> {
  const signature = signatureOf(secrets, message);
  const prefixes = style === 'both' ? ['svix', 'webhook'] : [style];
  return Object.fromEntries(
    prefixes.flatMap((prefix) => [
      [`${prefix}-id`, message.id],
      [`${prefix}-timestamp`, String(message.timestampSeconds)],
      [`${prefix}-signature`, signature],
    ]),
  );
}
