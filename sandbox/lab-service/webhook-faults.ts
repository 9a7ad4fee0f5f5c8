import { z } from 'zod';
import { durationSchema } from './time.js';
import { FaultList } from './fault-list.js';
import { lowLevel } from './lifecycle.js';

const actionSchema = z.discriminatedUnion('kind', [
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

export const webhookFaultSchema = z.strictObject({
  /** Which messages: all four must fit where given. */
  event_type: z.string().optional(),
  order_id: z.string().optional(),
  job_id: z.string().optional(),
  /** The low-level status of the order's last event, or the status of the parsing job. */
  status: z.string().optional(),
  /** How many fitting messages pass before the fault begins. */
  skip: z.int().nonnegative().default(0),
  /** How many messages it meets; null: until it is removed. */
  times: z.int().positive().nullable().default(null),
  action: actionSchema,
});

export type WebhookFault = z.infer<typeof webhookFaultSchema>;
export type WebhookFaultAction = WebhookFault['action'];

export interface MessageFacts {
  readonly eventType: string;
  /** Null, like the status of it, where a message is not about an order. */
  readonly orderId: string | null;
  readonly jobId: string | null;
  /** Null where a message is about neither. */
  readonly status: string | null;
}

export function newWebhookFaults(): FaultList<WebhookFault, MessageFacts> {
  return new FaultList((fault, facts) => {
    const { event_type: eventType, order_id: orderId, job_id: jobId, status } = fault;
    return (
      (eventType === undefined || eventType === facts.eventType) &&
      (orderId === undefined || orderId === facts.orderId) &&
      (jobId === undefined || jobId === facts.jobId) &&
      (status === undefined || lowLevel(status) === facts.status)
    );
  });
}
