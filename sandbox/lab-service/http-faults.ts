import { z } from 'zod';
import { FaultList } from './fault-list.js';

const PHASE = z.enum(['before_work', 'after_work']);

const actionSchema = z.discriminatedUnion('kind', [
  /** Answers this instead. `after_work`: the work is done all the same, as behind a gateway that lost patience. */
  z.strictObject({
    kind: z.literal('answer'),
    status: z.int().min(200).max(599),
    /** Sent as JSON; a string as text/plain. */
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).default({}),
    phase: PHASE.default('before_work'),
    delayMs: z.number().nonnegative().default(0),
  }),
  /** Answers late. Real milliseconds, never compressed: callers' timeouts are real. */
  z.strictObject({ kind: z.literal('delay'), delayMs: z.number().nonnegative(), phase: PHASE.default('before_work') }),
  /** Does the work and then closes the connection without an answer. */
  z.strictObject({ kind: z.literal('drop_response'), delayMs: z.number().nonnegative().default(0) }),
  /** Resets the connection before anything was done. */
  z.strictObject({ kind: z.literal('refuse') }),
]);

export const httpFaultSchema = z.strictObject({
  /** Any method when left out. */
  method: z.string().optional(),
  // The path without its query. `*` stands for one segment, `**` for any rest: '/v3/order/*/cancel', '/v3/**'.
  path: z.string().startsWith('/'),
  /** How many fitting requests pass before the fault begins. */
  skip: z.int().nonnegative().default(0),
  /** How many requests it meets; null: until it is removed. */
  times: z.int().positive().nullable().default(null),
  action: actionSchema,
});

export type HttpFault = z.infer<typeof httpFaultSchema>;
export type HttpFaultAction = HttpFault['action'];

export interface RequestFacts {
  readonly method: string;
  readonly path: string;
}

export function newHttpFaults(): FaultList<HttpFault, RequestFacts> {
  return new FaultList(
    (fault, facts) =>
      (fault.method === undefined || fault.method.toUpperCase() === facts.method) &&
      pathPattern(fault.path).test(facts.path),
  );
}

function pathPattern(pattern: string): RegExp {
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? '[^/]+' : part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&')))
    .join('');
  return new RegExp(`^${source}$`);
}
