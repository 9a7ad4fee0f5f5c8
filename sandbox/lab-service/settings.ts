import { z } from 'zod';
import { FEATURES } from './closed-features.js';

/**
 * The settings of the stand-in. If the specification and real deployments differ, each variant can be played. The defaults follow the specification.
 */
export const settingsSchema = z.strictObject({
  /** Real seconds that a day of delays lasts. Default 86400: real time. */
  daySeconds: z.number().positive(),
  /**
   * The events of a registration: `specification` writes requisition_created, then the registration; `documentation`
   * the other way round.
   */
  registrationOrder: z.enum(['specification', 'documentation']),
  /** `testkit_registered` in the specification, `registered` in the schema. */
  registeredSpelling: z.enum(['testkit_registered', 'registered']),
  /** True: orders show the `passthrough` they were created with. Default true. */
  echoPassthrough: z.boolean(),
  /** One full example of the specification misspells the key as `health_insurace_id`. */
  healthInsuranceKey: z.enum(['health_insurance_id', 'health_insurace_id']),
  /** Timestamps without a zone (they are UTC). Default false. */
  naiveTimestamps: z.boolean(),
  /** `patient_details.dob` as a timestamp, as docs/lab-service.md has it for answers, instead of a date. Default false. */
  dobAsTimestamp: z.boolean(),
  /** True: answers, and webhooks, have `order_transaction`. Default true. */
  transactionInBodies: z.boolean(),
  transactionInWebhooks: z.boolean(),
  /** True: orders have `last_event`. Default true. */
  lastEvent: z.boolean(),
  /**
   * A register request names no order: a real service knows the sample id that is printed on the kit. With this switch
   * (default true) a sample id that is on no kit registers the user's oldest unregistered kit, so a product can
   * use invented ones. Without it such a sample id is refused with 422.
   */
  anySampleId: z.boolean(),
  /** The answer to a second registration with the same sample id: 422 (default), or 200 with the order. Not documented. */
  repeatedRegistration: z.enum(['refuse', 'accept']),
  /** The most users a team may have; a sandbox environment stops at 50. null (default): no limit. */
  maxUsers: z.int().positive().nullable(),
  /** The answer to an undo of a deletion after the grace period. Not documented; default 404. */
  lateUndoStatus: z.union([z.literal(400), z.literal(404), z.literal(409), z.literal(410), z.literal(422)]),
  /** A named story that every new kit order plays by itself. null (default): orders wait for control commands. */
  storyForNewOrders: z.string().nullable(),
  /** How long a link token lives, in minutes that `daySeconds` does not shorten: a person signs in. Default 10; 60 is documented too. */
  linkTokenMinutes: z.number().positive(),
  /** A link to a provider that is connected: `replace` (default) connects again, `refuse` is the error `duplicate_connection`. */
  duplicateConnection: z.enum(['replace', 'refuse']),
  /** True: a link that succeeds sends its webhook. Default true. */
  connectionWebhooks: z.boolean(),
  /** The field of a connection's webhook that carries the source: `source` in the specification, `provider` in deployments. */
  connectionSlugIn: z.enum(['source', 'provider']),
  /** Bytes of a report's file, or of all files of one upload. Default 10485760: the specification's 10 MB. */
  reportMaxBytes: z.int().positive(),
  /** True: the team may request a review by a person. Default true. */
  reportHumanReview: z.boolean(),
  /** The most parsing jobs a team may have; a sandbox environment stops at 300. null (default): no limit. */
  maxReports: z.int().positive().nullable(),
  /** The key of a parsing job's id: `id` in the schema (default), `job_id` in some documented examples. */
  reportJobId: z.enum(['id', 'job_id']),
  /** `all` statuses that are known; `schema`: without `processing` and `pending_review`, which the current schema lacks. */
  reportStates: z.enum(['all', 'schema']),
  /**
   * The fields of a critical result's webhook: its own (`event`, default), as documented, or the whole order
   * (`order`).
   */
  criticalResultForm: z.enum(['event', 'order']),
  /** The filter of the order list that finds critical orders: `both` (default), or one, and the other is ignored. */
  criticalFilter: z.enum(['both', 'interpretation', 'is_critical']),
  /** That webhook's `interpretation`: the order's (default), `normal` as in one documented example, or nothing. */
  criticalInterpretation: z.enum(['order', 'normal', 'absent']),
  /** The answer to a booking of a slot that is gone: 400 (default) or 404; both are documented. */
  slotConflictStatus: z.union([z.literal(400), z.literal(404)]),
  /**
   * The provider's answer to an appointment: `confirm` (default), `decline`, or `never` any. A booking that waits for
   * the answer finds the slot gone in the last two.
   */
  appointmentConfirmation: z.enum(['confirm', 'decline', 'never']),
  /** True: appointments can be rescheduled. Default true. */
  appointmentsReschedulable: z.boolean(),
  /** True: the blood is drawn at the time of the appointment (compressed), without a command. Default false. */
  appointmentsHappen: z.boolean(),
  /** Entries of a page of the management API, where the request does not say. Default 50; not documented. */
  managementPageSize: z.int().positive(),
  /** The features that the team is not enabled for: their endpoints answer 403. Default: none. */
  closedFeatures: z.array(z.enum(FEATURES)),
  /** How that refusal is written: `json` (default), as the specification has it, or `text`, as it was before. */
  closedFeatureBody: z.enum(['json', 'text']),
  /** The address that webhooks are sent to. Empty: none are sent. */
  webhookUrl: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]),
  /** Each signs: two of them play a rotation. `whsec_` and base64. */
  webhookSecrets: z.array(z.string().startsWith('whsec_')),
  /** The spelling of the three signature headers. Default `svix`. */
  webhookHeaders: z.enum(['svix', 'webhook', 'both']),
  /**
   * `full`; `without_ids` leaves out team_id, user_id and client_user_id; `bare_order` sends the order alone, and what is
   * no order in full.
   */
  webhookEnvelope: z.enum(['full', 'without_ids', 'bare_order']),
  /** How long an attempt may take, in real milliseconds (never compressed). Default 15000, the documented limit. */
  webhookTimeoutMs: z.number().positive(),
  /** True: an endpoint that fails for 5 days (compressed) gets nothing more. Default false. */
  disableFailingEndpoint: z.boolean(),
});

export type Settings = z.infer<typeof settingsSchema>;

const DEFAULT_SETTINGS: Settings = {
  daySeconds: 86_400,
  registrationOrder: 'specification',
  registeredSpelling: 'testkit_registered',
  echoPassthrough: true,
  healthInsuranceKey: 'health_insurance_id',
  naiveTimestamps: false,
  dobAsTimestamp: false,
  transactionInBodies: true,
  transactionInWebhooks: true,
  lastEvent: true,
  anySampleId: true,
  repeatedRegistration: 'refuse',
  maxUsers: null,
  lateUndoStatus: 404,
  storyForNewOrders: null,
  linkTokenMinutes: 10,
  duplicateConnection: 'replace',
  connectionWebhooks: true,
  connectionSlugIn: 'source',
  reportMaxBytes: 10_485_760,
  reportHumanReview: true,
  maxReports: null,
  reportJobId: 'id',
  reportStates: 'all',
  criticalResultForm: 'event',
  criticalFilter: 'both',
  criticalInterpretation: 'order',
  slotConflictStatus: 400,
  appointmentConfirmation: 'confirm',
  appointmentsReschedulable: true,
  appointmentsHappen: false,
  managementPageSize: 50,
  closedFeatures: [],
  closedFeatureBody: 'json',
  webhookUrl: '',
  webhookSecrets: [],
  webhookHeaders: 'svix',
  webhookEnvelope: 'full',
  webhookTimeoutMs: 15_000,
  disableFailingEndpoint: false,
};

/** The settings in force. `current` is read at each use, so a change takes effect at once. */
export class SettingsStore {
  readonly #initial: Settings;
  #current: Settings;

  constructor(initial: Partial<Settings>) {
    this.#initial = settingsSchema.parse({ ...DEFAULT_SETTINGS, ...initial });
    this.#current = this.#initial;
  }

  get current(): Settings {
    return this.#current;
  }

  update(changes: Partial<Settings>): void {
    this.#current = { ...this.#current, ...changes };
  }

  /** Back to what the stand-in was started with. */
  reset(): void {
    this.#current = this.#initial;
  }
}
