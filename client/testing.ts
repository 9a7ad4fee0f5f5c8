import { randomUUID } from 'node:crypto';
import { sign } from '../service/webhooks/signature.js';

/* For the tests of a product: webhooks and notifications, signed as their senders sign them, and what the outside world does at a running sandbox. */

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

/** An order of the sandbox, with what the lab service does not show. */
export interface SandboxOrder {
  /** As the lab service shows it. */
  order: { id: string; user_id: string };
  /** Printed on the kit; a registration must name it. Null if there is no kit. */
  kit_sample_id: string | null;
}

/** The commands that tests of a product need most; docs/sandbox.md says where all of them are. */
export interface SandboxCommands {
  /** An invented user, with demographics. */
  createUser(): Promise<{ user: { user_id: string } }>;
  order(orderId: string): Promise<SandboxOrder>;
  /** Adds an event of any status, such as `transit_customer`, and sends its webhook. */
  move(orderId: string, status: string): Promise<SandboxOrder>;
  /** Sends the webhook of a critical result, by default a final one. */
  reportCritical(orderId: string, result?: { status?: string; interpretation?: string | null }): Promise<SandboxOrder>;
  /** Goes forward by a span of the sandbox's time, in milliseconds or as text such as `'90m'`. */
  advanceClock(span: number | string): Promise<unknown>;
  /** Resolves when no webhook is on its way. */
  settleWebhooks(): Promise<unknown>;
}

/** The sandbox refused a command: the message says which and why. */
class SandboxControlError extends Error {
  override readonly name = 'SandboxControlError';
}

/**
 * Calls the control interface of a sandbox; a method for each command.
 *
 * @param baseUrl where the sandbox listens, such as `http://localhost:4010`
 * @typeParam Commands give an interface that extends `SandboxCommands` by other commands
 */
export function sandboxControl<Commands extends SandboxCommands = SandboxCommands>(baseUrl: string): Commands {
  const call = async (command: string, args: readonly unknown[]): Promise<unknown> => {
    const answer = await fetch(`${baseUrl.replace(/\/$/, '')}/_sandbox/${command}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    });
    const text = await answer.text();
    if (answer.ok) return (JSON.parse(text) as unknown) ?? undefined;
    const { error, detail = text } = JSON.parse(text) as { error?: string; detail?: string };
    throw new SandboxControlError(`the command ${command} was answered ${answer.status}: ${error ?? detail}`);
  };
  return new Proxy({} as Commands, {
    // It must not pass for a promise.
    get: (_, name) =>
      typeof name === 'symbol' || name === 'then' ? undefined : (...args: unknown[]) => call(name, args),
  });
}
