import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AppointmentSnapshot } from '../../service/appointment-snapshot.js';
import type { AppointmentPolicy, ResolvedAppointmentPolicy } from './policy.js';

/**
 * Who the appointment workflow is: its name, input, result, signals, query and updates. The wire name of a message is
 * its export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const bookAppointmentName = 'bookAppointment';

export interface BookAppointmentInput {
  /** The service's id of an order that is drawn at home. */
  orderId: string;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** Sent with the start by whoever wants an appointment. */
export interface AppointmentWanted {
  policy?: AppointmentPolicy;
}

/**
 * The product wants an appointment: it will choose, and is asked to when an appointment falls away. A run that only
 * webhooks have started follows what others book, and ends when that is cancelled.
 */
export const appointmentWantedSignal = defineSignal<[AppointmentWanted]>('appointmentWanted');
export const appointmentChangedSignal = defineSignal<[AppointmentSnapshot]>('appointmentChanged');

export interface SlotQuestion {
  /** First of the 14 days, YYYY-MM-DD; the service decides where it is absent. */
  startDate?: string;
}

export interface SlotChoice {
  /** `id` of a slot that `findSlots` answered with. */
  slotId: string;
  /** For whoever comes; at most 1,000 characters. It stays in the history: see docs/operations.md. */
  notes?: string;
}

export interface AppointmentRequest {
  /** The service's slug of the company that is to come. */
  provider: string;
  /** For whoever comes, for instance which days suit; at most 1,000 characters. It stays in the history. */
  notes?: string;
}

export interface AppointmentCancellation {
  /** One of the service's cancellation reasons; where it is absent, the first of its list. */
  reasonId?: string;
  /** It stays in the history. */
  notes?: string;
  /** true: only this appointment is cancelled, and another one is to be chosen. Default false: it is the end. */
  rebook?: boolean;
}

export const findSlotsUpdate = defineUpdate<Slots, [SlotQuestion]>('findSlots');
export const chooseSlotUpdate = defineUpdate<AppointmentState, [SlotChoice]>('chooseSlot');
export const requestAppointmentUpdate = defineUpdate<AppointmentState, [AppointmentRequest]>('requestAppointment');
export const rescheduleUpdate = defineUpdate<AppointmentState, [SlotChoice]>('reschedule');
export const cancelAppointmentUpdate = defineUpdate<AppointmentState, [AppointmentCancellation]>('cancel');
export const appointmentStateQuery = defineQuery<AppointmentState>('state');

/** What can be chosen near the order's address at the moment. Somebody else may be faster. */
export interface Slots {
  slots: Slot[];
  /** IANA name of the zone in which the days are counted. */
  timezone?: string;
}

export interface Slot {
  /** What it is chosen by. It is none of the service's ids, and nothing can be booked with it elsewhere. */
  id: string;
  /** ISO 8601 in UTC. */
  start: string;
  end: string;
  /** In the service's unit, which is not documented. */
  price?: number;
  isPriority?: boolean;
}

/** Where the appointment stands. LabPhase carries it. */
export type AppointmentPhase =
  /** There is none: somebody has to choose. */
  | 'awaiting_choice'
  /** The provider has still to say whether and when. */
  | 'awaiting_confirmation'
  | 'confirmed'
  /** Somebody is there. */
  | 'in_progress'
  | AppointmentOutcome;

export type AppointmentOutcome =
  /** Blood was drawn, as the appointment or its order says. */
  | 'completed'
  /** By the product; or, where the product never asked for one, by anybody. */
  | 'cancelled'
  /** Nobody chose in time. */
  | 'expired'
  /** The order was cancelled, or needs no appointment any more: see `order`. */
  | 'order_ended'
  /** The service no longer knows the order. */
  | 'order_gone'
  /** Nothing moved for `giveUpAfter` beyond a deadline. A later webhook starts a new run. */
  | 'unresolved'
  /** An operator ended the workflow; at the service everything is as it was. */
  | 'abandoned';

/** Why a person should look. */
export type AppointmentAttention =
  /** Pending for longer than `confirmationWait`. */
  | 'confirmation_overdue'
  /** The time is over, and nobody said that blood was drawn. */
  | 'visit_overdue'
  | 'notifications_undelivered';

/** The order's appointment. Where it is, who comes and what was noted stays in the service. */
export interface AppointmentShown {
  appointmentId: string;
  /** The service's own, also one that is not known yet; `unknown` where it never said. */
  status: string;
  startAt?: string;
  endAt?: string;
  provider?: string;
  /** false: cancel it with `rebook` and choose another one instead. */
  canReschedule?: boolean;
}

/** What `state` and most updates answer with. Nothing personal. */
export interface AppointmentState {
  orderId: string;
  userId?: string;
  phase: AppointmentPhase;
  /** The present one, or the last one where it was cancelled. */
  appointment?: AppointmentShown;
  waiting: { for: string; until?: string };
  attention: AppointmentAttention[];
  timeline: AppointmentEntry[];
  /** Set once nothing is waited for any more. */
  outcome?: AppointmentOutcome;
  /** With `order_ended`: why. */
  order?: 'cancelled' | 'collected' | 'not_at_home';
}

export interface AppointmentEntry {
  at: string;
  /** In our own words and the service's statuses: nothing personal. */
  what: string;
}

export interface AppointmentResult {
  outcome: AppointmentOutcome;
  orderId: string;
  userId?: string;
  appointment?: AppointmentShown;
  order?: AppointmentState['order'];
  timeline: AppointmentEntry[];
  /** Of whoever wanted the appointment. */
  policy: ResolvedAppointmentPolicy;
  /** What the product was told of: ids of notifications. A later run does not repeat them. */
  announced: string[];
}
