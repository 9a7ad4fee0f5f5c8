import { defineQuery, defineSignal, defineUpdate } from '../definitions.js';
import type { EarlierRun } from '../signal-or-start.js';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import type { OfActor } from '../ids.js';
import type { Attention, HistoryEntry, RaisedAttention } from '../attention.js';
import type { AppointmentPolicy, ResolvedAppointmentPolicy } from './policy.js';

/**
 * Who the appointment workflow is: its name, input, result, signals, query and updates. The wire name of a message is
 * its export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const bookAppointmentName = 'bookAppointment';

export interface BookAppointmentInput {
  /** The service's id of an order that is drawn at home, or at a service centre. */
  orderId: string;
  /** Followed unless `bookingRequested` brings another: the defaults when the run was started. */
  policy?: AppointmentPolicy | ResolvedAppointmentPolicy;
  /** The run of the same workflow ID before this one, if the sender that started it looked. */
  earlierRun?: EarlierRun;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** Sent with the start by a product that requests an appointment. */
export interface BookingRequested extends OfActor {
  /** A part of the settings, or a resolved policy, which the client sends. */
  policy?: AppointmentPolicy | ResolvedAppointmentPolicy;
}

/**
 * The product requests an appointment: it will choose a slot, and is asked again if an appointment falls through. A run
 * that only webhooks have started follows what others book, and ends when that is cancelled.
 */
export const bookingRequestedSignal = defineSignal<[BookingRequested]>('bookingRequested');
export const appointmentChangedSignal = defineSignal<[AppointmentSnapshot]>('appointmentChanged');

/** The distances that the service searches in, in miles. */
export const radii = [10, 20, 25, 50, 100] as const;

/** The order decides which kind of slots there are. The fields after the first are for a service-centre visit only. */
export interface SlotQuestion {
  /** First of the days, YYYY-MM-DD; if absent, the service decides. */
  startDate?: string;
  /** Codes of at most three service centres. Without them and without `zipCode`: those near the order's address. */
  siteCodes?: string[];
  /** Instead of `siteCodes`: those near this place. */
  zipCode?: string;
  /** Miles around the place. Default 25. */
  radius?: (typeof radii)[number];
}

export interface SlotChoice extends OfActor {
  /** `id` of a slot that `findSlots` answered with. */
  slotId: string;
  /** For the visitor; at most 1,000 characters. It stays in the history: see docs/operations.md. */
  notes?: string;
}

export interface AppointmentRequest extends OfActor {
  /** The service's slug of the company that will come. */
  provider: string;
  /** For the visitor, for instance suitable days; at most 1,000 characters. It stays in the history. */
  notes?: string;
}

export interface AppointmentCancellation extends OfActor {
  /** One of the service's cancellation reasons; if absent, the first of its list. */
  reasonId?: string;
  /** It stays in the history. */
  notes?: string;
  /** true: only this appointment is cancelled, and another slot must be chosen. Default false: the workflow ends. */
  rebook?: boolean;
}

export const findSlotsUpdate = defineUpdate<Slots, [SlotQuestion]>('findSlots');
export const chooseSlotUpdate = defineUpdate<AppointmentState, [SlotChoice]>('chooseSlot');
export const requestAppointmentUpdate = defineUpdate<AppointmentState, [AppointmentRequest]>('requestAppointment');
export const rescheduleUpdate = defineUpdate<AppointmentState, [SlotChoice]>('reschedule');
export const cancelUpdate = defineUpdate<AppointmentState, [AppointmentCancellation]>('cancel');
export const stateQuery = defineQuery<AppointmentState>('state');

/** The current slots near the order's address, or at service centres. Somebody else may be faster. */
export interface Slots {
  slots: Slot[];
  /** IANA name of the zone in which the days are counted; each service centre has its own. */
  timezone?: string;
  /** For a service-centre visit only: the service centres that the slots name. */
  sites?: SlotSite[];
}

/** A service centre at which there are slots. */
export interface SlotSite {
  /** `siteCode` of the slots, and of a question for more. */
  code: string;
  name?: string;
  /** One line, for the person who goes there. */
  address?: string;
  /** Miles. */
  distance?: number;
  /** IANA name of the zone in which the person there reads a clock. */
  timezone?: string;
}

export interface Slot {
  /** The key for choosing the slot. It is not an id of the service's, and cannot be used to book anywhere else. */
  id: string;
  /** ISO 8601 in UTC. */
  start: string;
  end: string;
  /** In the service's unit, which is not documented. */
  price?: number;
  isPriority?: boolean;
  /** For a service-centre visit only: where it is, one of `sites`. */
  siteCode?: string;
}

/** The appointment's progress, also in LabPhase. */
export type AppointmentPhase =
  /** There is none: a slot must be chosen. */
  | 'awaiting_choice'
  /** The provider has not confirmed yet. */
  | 'awaiting_confirmation'
  | 'confirmed'
  /** The visit is going on. */
  | 'in_progress'
  | AppointmentOutcome;

export type AppointmentOutcome =
  /** Blood was drawn, as the appointment or its order says. */
  | 'completed'
  /** By the product; or, if the product never asked for one, by anybody. */
  | 'cancelled'
  /** No slot was chosen in time. */
  | 'expired'
  /** The order was cancelled, or needs no appointment any more: see `order`. */
  | 'order_ended'
  /** The service no longer knows the order. */
  | 'order_gone'
  /** Nothing moved for `giveUpAfter` beyond a deadline. A later webhook starts a new run. */
  | 'unresolved'
  /** An operator ended the workflow; at the service everything is as it was. */
  | 'abandoned';

/** The reason why a person should look: docs/attention.md. */
export type AppointmentAttentionReason =
  | 'confirmation_overdue'
  | 'visit_overdue'
  | 'order_cancelled'
  | 'notifications_undelivered'
  | 'unreadable_signal';

/** The order's appointment. Address, visitor and notes stay in the service. */
export interface AppointmentShown {
  appointmentId: string;
  /** `phlebotomy` (at home), `patient_service_center`, or one not known yet. */
  type?: string;
  /** The service's own, possibly an unknown one; `unknown` if it reported none. */
  status: string;
  startAt?: string;
  endAt?: string;
  /** IANA name of the zone in which the person reads a clock, for showing them these times. */
  timezone?: string;
  provider?: string;
  /** false: cancel it with `rebook` and choose another one instead. */
  canReschedule?: boolean;
  /** For a service-centre visit only: the laboratory's own number, by which the site finds the person. Show it to them. */
  externalId?: string;
  /** The code of its service centre, for a service-centre visit that was chosen here. */
  siteCode?: string;
  /** For an open visit at home: if cancelled before this moment, it is refunded in full; after it, not at all. Warn of it. */
  refundableUntil?: string;
  /** For a visit at home that was cancelled here: false if that was too late for a refund. */
  refundable?: boolean;
}

/** The answer of `state` and most updates. Nothing personal. */
export interface AppointmentState {
  orderId: string;
  userId?: string;
  phase: AppointmentPhase;
  /** The current one, or the last one if it was cancelled. */
  appointment?: AppointmentShown;
  waiting: { for: string; until?: string };
  attention: Attention<AppointmentAttentionReason>[];
  timeline: HistoryEntry[];
  /** Set once nothing is waited for any more. */
  outcome?: AppointmentOutcome;
  /** With `order_ended`: why. */
  order?: 'cancelled' | 'collected' | 'no_appointment';
}

/** The last state. */
export interface AppointmentResult extends AppointmentState {
  /** The version of this result's format; later runs read it. */
  version: number;
  outcome: AppointmentOutcome;
  /** The policy of the first request. */
  policy: ResolvedAppointmentPolicy;
  /** The ids of notifications that the product got. A later run does not repeat them. */
  announced: string[];
  /** The questions that stood at its end. */
  attention: RaisedAttention<AppointmentAttentionReason>[];
  /** How often each question was raised: one that is raised again is another notification. Absent is never. */
  raised?: Record<string, number>;
  /** Of one that was abandoned: until when a booking without an answer may still be carried out. A later run waits for it. */
  doubtUntil?: string;
  /** The appointment that the product cancelled, and when the service had answered that: a later run's first read may be older. */
  cancelled?: { appointmentId: string; at?: string };
}

/**
 * Notifications about an appointment, CloudEvents of type `labops.appointment.<type>`. An id is never derived from a
 * run, so a receiver can drop repeats: `<order id>/<what it is about>/<type>`.
 */
export type AppointmentNotification = AppointmentNotificationHead &
  (
    | { type: 'phase_changed'; data: { phase: AppointmentPhase; status: string; startAt?: string; endAt?: string } }
    /** The appointment fell through, but not because of the product: another slot must be chosen. */
    | { type: 'choice_needed'; data: { reason: 'cancelled' | 'not_shown'; until: string } }
    | { type: 'choice_reminder'; data: { reminder: number; until: string } }
    | { type: 'visit_reminder'; data: { reminder: number; startAt: string } }
    | { type: 'attention_raised'; data: Attention<AppointmentAttentionReason> }
    | { type: 'attention_cleared'; data: Attention<AppointmentAttentionReason> }
    | { type: 'ended'; data: { outcome: AppointmentOutcome; order?: AppointmentState['order'] } }
  );

export interface AppointmentNotificationHead {
  id: string;
  /** When it was learnt, ISO 8601 in UTC. */
  at: string;
  orderId: string;
  userId?: string;
  appointmentId?: string;
}
