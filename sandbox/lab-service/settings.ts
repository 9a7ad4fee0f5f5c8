import { z } from 'zod';
import { parseSecret, WebhookSecretInvalid } from '../../service/webhooks/signature.js';

/**
 * The settings of the stand-in. If the specification and real deployments differ, each variant can be played. The defaults follow the specification.
 */
export const settingsSchema = z.strictObject({
  /** Real seconds that a day of delays lasts. 86400 is real time. */
  daySeconds: z.number().positive().default(86_400),
  /** True: orders show the `passthrough` they were created with. */
  echoPassthrough: z.boolean().default(true),
  /** True: the orders in webhooks have `order_transaction`. */
  transactionInWebhooks: z.boolean().default(true),
  /**
   * True: an order whose sample is at the lab says until when results are expected; a number: at the latest so many days after its arrival.
   * False: the two dates stay null.
   */
  resultDates: z.union([z.boolean(), z.int().positive()]).default(true),
  /**
   * A register request names no order: a real service knows the sample id that is printed on the kit. With this switch
   * a sample id that is on no kit registers the user's oldest unregistered kit, so a product can
   * use invented ones. Without it such a sample id is refused with 422.
   */
  anySampleId: z.boolean().default(true),
  /** True: a link that succeeds sends its webhook. */
  connectionWebhooks: z.boolean().default(true),
  /** Bytes of a report's file, or of all files of one upload. The specification's 10 MB. */
  reportMaxBytes: z.int().positive().default(10_485_760),
  /**
   * The fields of a critical result's webhook: its own (`event`), as documented, or the whole order
   * (`order`).
   */
  criticalResultForm: z.enum(['event', 'order']).default('event'),
  /** The filter of the order list that finds critical orders: `both`, or one, and the other is ignored. */
  criticalFilter: z.enum(['both', 'interpretation', 'is_critical']).default('both'),
  /** True: the team has the queue of unmatched results. False: its endpoints answer 400. */
  matchReviews: z.boolean().default(true),
  /**
   * The provider's answer to an appointment: `confirm`, `decline`, or `never` any. A booking that waits for
   * the answer finds the slot gone in the last two.
   */
  appointmentConfirmation: z.enum(['confirm', 'decline', 'never']).default('confirm'),
  /** The address that webhooks are sent to. Empty: none are sent. */
  webhookUrl: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  /** Each signs: two of them play a rotation. `whsec_` and base64. */
  webhookSecrets: z.array(z.string().superRefine(checkSecret)).default([]),
  /** `full`; `without_ids` leaves out team_id, user_id and client_user_id. */
  webhookEnvelope: z.enum(['full', 'without_ids']).default('full'),
  /** How long an attempt may take, in real milliseconds (never compressed). The documented limit is 15 s. */
  webhookTimeoutMs: z.number().positive().default(15_000),
});

export type Settings = z.output<typeof settingsSchema>;

function checkSecret(secret: string, context: z.RefinementCtx): void {
  const message = secretFault(secret);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
}

/** The fault of a secret that receivers could not use, without the secret itself. */
export function secretFault(secret: string): string | undefined {
  try {
    parseSecret(secret);
    return secret.startsWith('whsec_') ? undefined : 'does not begin with whsec_';
  } catch (error) {
    if (error instanceof WebhookSecretInvalid) return error.problem;
    throw error;
  }
}
