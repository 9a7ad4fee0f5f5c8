import { z } from 'zod';
import { lowLevel } from './lifecycle.js';
import { durationSchema } from './clock.js';

/** The faults that can be played: of requests, and of webhooks. */

const counts = {
  /** How many requests or messages that fit pass before the fault begins. */
  skip: z.int().nonnegative().default(0),
  /** How many it meets; null: until it is removed. */
  times: z.int().positive().nullable().default(null),
};

const phase = z.enum(['before_work', 'after_work']).default('before_work');

const httpFaultAction = z.discriminatedUnion('kind', [
  /** Answers this instead. `after_work`: the work is done all the same, as behind a gateway that lost patience. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(200).max(599),
    /** Sent as JSON; a string as text/plain. */
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).default({}),
    phase,
    delayMs: z.number().nonnegative().default(0),
  }),
  /** Answers late. Real milliseconds, never compressed: callers' timeouts are real. */
  z.strictObject({ kind: z.literal('delay'), delayMs: z.number().nonnegative(), phase }),
  /** Does the work and then closes the connection without an answer. */
  z.strictObject({ kind: z.literal('drop_response'), delayMs: z.number().nonnegative().default(0) }),
  /** Resets the connection before anything was done. */
  z.strictObject({ kind: z.literal('refuse') }),
]);

export type HttpFaultAction = z.output<typeof httpFaultAction>;

export const httpFaultSchema = z.strictObject({
  /** Any method when left out. */
  method: z.string().toUpperCase().optional(),
  // The path without its query. `*` stands for one segment, `**` for any rest: '/v3/order/*/cancel', '/v3/**'.
  path: z.string().startsWith('/'),
  ...counts,
  action: httpFaultAction,
});

const webhookFaultAction = z.discriminatedUnion('kind', [
  /** Sends the message `copies` more times; by default under its own id, else under new ids. */
  z.strictObject({
    kind: z.literal('duplicate'),
    copies: z.int().positive().default(1),
    sameId: z.boolean().default(true),
  }),
  /** Keeps the message until the command `releaseWebhooks`. */
  z.strictObject({ kind: z.literal('hold') }),
  /** Keeps messages until there are `count` of them, then sends them one after the other, the newest first. */
  z.strictObject({ kind: z.literal('reorder'), count: z.int().min(2) }),
  /** Never sends it. */
  z.strictObject({ kind: z.literal('lose') }),
  /** Changes one byte of the body after signing, in the first `attempts` attempts. */
  z.strictObject({ kind: z.literal('corrupt'), attempts: z.int().positive().default(1) }),
  /** Sends it late, by a (compressed) delay. */
  z.strictObject({ kind: z.literal('delay'), by: durationSchema }),
]);

export type WebhookFaultAction = z.output<typeof webhookFaultAction>;

export const webhookFaultSchema = z.strictObject({
  /** Which messages: all four must fit where given. */
  event_type: z.string().optional(),
  order_id: z.string().optional(),
  job_id: z.string().optional(),
  /** The low-level status of the order's last event, or the status of the parsing job. */
  status: z.string().transform(lowLevel).optional(),
  ...counts,
  action: webhookFaultAction,
});

interface Fault {
  readonly skip: number;
  readonly times: number | null;
}

/** A list of faults, each for a number of requests or messages that fit it; the first that is left applies. */
class FaultList<Kind extends Fault, Facts> {
  readonly #fits: (facts: Facts, fault: Kind) => boolean;
  readonly #faults = new Map<string, { readonly fault: Kind; skip: number; left: number }>();
  #count = 0;

  constructor(fits: (facts: Facts, fault: Kind) => boolean) {
    this.#fits = fits;
  }

  /** Returns the id under which the fault can be removed. */
  add(fault: Kind): string {
    const id = `fault-${++this.#count}`;
    this.#faults.set(id, { fault, skip: fault.skip, left: fault.times ?? Number.POSITIVE_INFINITY });
    return id;
  }

  /** Removes one fault, or all. */
  remove(id?: string): void {
    if (id === undefined) this.#faults.clear();
    else this.#faults.delete(id);
  }

  /** The fault that applies to this one, counted off. */
  take(facts: Facts): { readonly id: string; readonly fault: Kind } | undefined {
    for (const [id, entry] of this.#faults) {
      if (!this.#fits(facts, entry.fault)) continue;
      if (entry.skip > 0) {
        entry.skip--;
        continue;
      }
      entry.left--;
      if (entry.left <= 0) this.#faults.delete(id);
      return { id, fault: entry.fault };
    }
    return undefined;
  }
}

export function newHttpFaults() {
  return new FaultList<z.output<typeof httpFaultSchema>, { readonly method: string; readonly path: string }>(
    (facts, { method, path }) => fits(facts, { method }) && pathPattern(path).test(facts.path),
  );
}

export function newWebhookFaults() {
  return new FaultList<z.output<typeof webhookFaultSchema>, object>((facts, { event_type, order_id, job_id, status }) =>
    fits(facts, { event_type, order_id, job_id, status }),
  );
}

/** True if every field that the filter names has its value. */
export function fits(entry: object, filter: object): boolean {
  const values: Record<string, unknown> = { ...entry };
  return Object.entries(filter).every(([name, value]) => value === undefined || values[name] === value);
}

function pathPattern(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]+' : part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&')))
    .join('');
  return new RegExp(`^${source}$`);
}
