import { z } from 'zod';
import { durationSchema } from './duration.js';
import { ServiceProblem } from './problems.js';
import { STORIES, storyStepsSchema, type StoryStep } from './stories.js';

/**
 * What the control surface takes. The service's own words keep its spelling (`order_id`, `status_detail`); the
 * stand-in's own are in camel case (`daySeconds`, `delayMs`).
 */

export const clockSchema = z
  .strictObject({
    /** A timestamp with zone, or milliseconds since 1970. */
    set: z.union([z.iso.datetime({ offset: true }), z.number()]).optional(),
    /** Forward by this much of the clock's own time (not compressed). */
    advance: durationSchema.optional(),
  })
  .refine((change) => (change.set === undefined) !== (change.advance === undefined), {
    error: 'give either set or advance',
  });

export const moveSchema = z.strictObject({
  /** Low-level ("transit_lab") or full ("collecting_sample.testkit.transit_lab"), also one that nobody knows. */
  status: z.string().min(1),
  status_detail: z.string().nullable().optional(),
  interpretation: z.enum(['normal', 'abnormal', 'critical', 'unknown']).optional(),
  has_missing_results: z.boolean().optional(),
  /** false: no webhook tells of it. */
  webhook: z.boolean().optional(),
});

export const interpretationSchema = z.strictObject({
  interpretation: z.enum(['normal', 'abnormal', 'critical', 'unknown']),
  /** false: no webhook tells of it. */
  webhook: z.boolean().optional(),
});

export const criticalResultSchema = z.strictObject({
  status: z.string().min(1).default('final'),
  /** null leaves the field out. Without it: what the setting `criticalInterpretation` says. */
  interpretation: z.string().nullable().optional(),
});

export const storySchema = z
  .strictObject({ name: z.string().optional(), steps: storyStepsSchema.optional() })
  .refine((story) => (story.name === undefined) !== (story.steps === undefined), {
    error: 'give either name or steps',
  });

export const dashboardOrderSchema = z.strictObject({
  /** A new user with demographics when left out. */
  user_id: z.uuid().optional(),
  /** The seed's first kit when left out. */
  lab_test_id: z.uuid().optional(),
  passthrough: z.string().nullable().optional(),
  lab_account_id: z.uuid().nullable().optional(),
  /** Whether the patient is known from the start. Default false: a kit then awaits its registration. */
  patientKnown: z.boolean().default(false),
  /** false: no webhook tells of it. */
  webhook: z.boolean().optional(),
});

export const redrawSchema = z.strictObject({
  origin: z.enum(['redraw', 'recreation']).default('redraw'),
  /** Whether a service-made order carries one is not documented; none by default. */
  passthrough: z.string().nullable().optional(),
  webhook: z.boolean().optional(),
});

export const jobMoveSchema = z.strictObject({
  /** Any, also one that nobody knows. */
  status: z.string().min(1),
  failure_reason: z.string().nullable().optional(),
  /** `sample`: three invented biomarkers; `none`: an empty list; null: no data. */
  results: z.enum(['sample', 'none']).nullable().optional(),
  is_reviewed: z.boolean().optional(),
  /** false: no webhook tells of it. */
  webhook: z.boolean().optional(),
});

export const dashboardJobSchema = z.strictObject({
  /** A new user with demographics when left out. */
  user_id: z.uuid().optional(),
  needs_human_review: z.boolean().default(false),
  /** As a file's marker names it. */
  outcome: z.string().default('completed'),
  /** false: no webhook tells of it, now or later. */
  webhook: z.boolean().default(true),
});

export const appointmentMoveSchema = z
  .strictObject({
    /** `in_progress`, `completed`, `cancelled`, …; any, also one that nobody knows. */
    event_status: z.string().min(1).optional(),
    can_reschedule: z.boolean().optional(),
    /** false: no webhook tells of it. */
    webhook: z.boolean().optional(),
  })
  .refine((move) => move.event_status !== undefined || move.can_reschedule !== undefined, {
    error: 'give event_status or can_reschedule',
  });

export const takenSlotSchema = z.strictObject({ booking_key: z.string() });

export const newUserSchema = z.strictObject({
  /** An invented one when left out. */
  client_user_id: z.string().optional(),
  /** true (default): invented demographics; false: none. */
  demographics: z.boolean().default(true),
});

export const connectionSchema = z.strictObject({
  provider: z.string().min(1),
  /** A timestamp with zone; now when left out. */
  created_on: z.iso.datetime({ offset: true }).optional(),
  /** false: no webhook tells of it. */
  webhook: z.boolean().default(true),
});

export const connectionWebhookSchema = z.strictObject({
  provider: z.string().min(1),
  event_type: z
    .enum(['provider.connection.created', 'provider.connection.error'])
    .default('provider.connection.created'),
});

/** Real milliseconds, at most an hour: nothing can call the stand-in back. */
export const offlineSchema = z.strictObject({ forMs: z.number().positive().max(3_600_000) });

export const releaseSchema = z.strictObject({ order: z.enum(['kept', 'reversed']).default('kept') });

export const deliveryFilterSchema = z.strictObject({
  order_id: z.string().optional(),
  job_id: z.string().optional(),
  event_type: z.string().optional(),
  state: z.enum(['waiting', 'held', 'delivered', 'failed', 'lost', 'endpoint_disabled']).optional(),
});

export const requestFilterSchema = z.strictObject({
  method: z.string().optional(),
  path: z.string().optional(),
  status: z.coerce.number().optional(),
});

/** Reads a control request; what does not fit is answered 400 with a sentence. */
export function controlBody<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ServiceProblem(400, { error: z.prettifyError(parsed.error) });
}

/** The steps of a named story; an unknown name is answered 400 with those that there are. */
export function storyNamed(name: string): readonly StoryStep[] {
  const steps = STORIES[name];
  if (steps !== undefined) return steps;
  throw new ServiceProblem(400, { error: `no story "${name}"; there are ${Object.keys(STORIES).join(', ')}` });
}
