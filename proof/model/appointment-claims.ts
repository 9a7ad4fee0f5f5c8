import { isOpen, visitPhaseOf } from '../../protocol/appointment/lifecycle.js';
import type { AppointmentResult, AppointmentState } from '../../protocol/appointment/messages.js';
import { slotOf } from '../../protocol/appointment/slots.js';
import type { AppointmentSnapshot } from '../../service/appointment/snapshot.js';
import type { Appointment } from '../../workflows/appointment/appointment.js';
import { nobodyComes, presentIn, type AppointmentWorld } from './appointment-world.js';
import { carriedIn, type State, type Step } from './model.js';

/* What every step of an appointment must keep to. Each function answers with the faults of one step, in words. */

type AppointmentStep = Step<AppointmentWorld>;

export function appointmentFaults(step: AppointmentStep): string[] {
  const broken = step.after.world.broken.slice(step.before.world.broken.length);
  const claims = [
    oneAppointment,
    nothingWithoutARead,
    nothingLost,
    everythingAnnounced,
    noEndInADoubt,
    endsAreTrue,
    commandsReflected,
  ];
  return [...broken, ...claims.flatMap((claim) => claim(step))];
}

function oneAppointment({ after }: AppointmentStep): string[] {
  return after.world.appointments.filter(isOpen).length > 1 ? ['the order has two appointments'] : [];
}

const readings: readonly string[] = ['readAppointment', 'identifyAppointment'];

/** No end comes of silence, or of a webhook, without the service's answer; a question waits for an attempt to read. */
function nothingWithoutARead({ before, move, after, calls }: AppointmentStep): string[] {
  const { outcome } = resultOf(after) ?? {};
  const reads = calls.filter(({ call }) => readings.includes(call.name));
  const isAnswered = reads.some(({ answer: given }) => 'value' in given && hasReading(given.value));
  const isAsked = isAnswered || move.update?.name === 'cancel' || stayed(before, after);
  const ends = outcome === undefined || outcome === 'abandoned' || isAsked ? [] : [outcome];
  const stood = knownBefore(before)?.attention ?? [];
  const asked = (knownAfter(after)?.attention ?? []).filter(
    ({ reason }) => !stood.some((raised) => raised.reason === reason),
  );
  return [
    ...ends.map((end) => `the end ${end} without a read`),
    ...(reads.length === 0 ? asked.map(({ reason }) => `the question ${reason} without a read`) : []),
  ];
}

function hasReading(value: unknown): boolean {
  const { order, reading } = value as { order?: string; reading?: object };
  return order !== undefined || reading !== undefined;
}

/** A webhook that shows the appointment as it is now is taken in; one that comes late changes nothing. */
function nothingLost({ move, before, after }: AppointmentStep): string[] {
  const present = presentIn(after.world);
  if (move.signal?.name !== 'appointmentChanged' || !present || isDisturbed(before, after)) return [];
  const { events = [] } = move.signal.argument as Partial<AppointmentSnapshot>;
  if (events.length < present.events.length) return [];
  const { unclear, known } = knownAfter(after) ?? {};
  const shown = resultOf(after)?.appointment ?? known;
  const isTaken = shown?.appointmentId === present.appointmentId && shown.status === present.status;
  // A run that the webhook itself began follows it; what only the service can put in order is asked.
  const isHidden = shown === undefined && !isOpen(present);
  if (unclear || isHidden || after.world.order === 'gone' || stayed(before, after)) return [];
  return isTaken && shown?.startAt === present.startAt ? [] : ['the appointment that was reported got lost'];
}

/** What an operator gave up stays so. */
function stayed(before: State<AppointmentWorld>, after: State<AppointmentWorld>): boolean {
  return resultOf(before)?.outcome === 'abandoned' && resultOf(after)?.outcome === 'abandoned';
}

/** Where the appointment stands, that it fell away, and how it ended: in the step that learnt of it. */
function everythingAnnounced({ before, move, after }: AppointmentStep): string[] {
  const { announced } = after;
  const missing = (part: string, type: string) =>
    announced.some((id) => id.includes(part) && id.endsWith(`/${type}`))
      ? []
      : [`${type} of ${part} was not announced`];
  const outcome = resultOf(after)?.outcome;
  if (outcome !== undefined) return missing(`/${outcome}`, 'ended');
  const now = knownAfter(after);
  const then = knownBefore(before);
  const known = now?.known;
  if (!now || move.update) return [];
  const isNews = then?.stage?.phase !== now.stage.phase || then.stage.startAt !== now.stage.startAt;
  if (known && isOpen(known) && isNews) return missing(`${known.appointmentId}/${known.status}`, 'phase_changed');
  const hadVisit = then?.known !== undefined && isOpen(then.known);
  const hasFallen = hadVisit && now.stage.phase === 'awaiting_choice' && !now.fallen;
  return hasFallen ? missing(`${then?.known?.appointmentId}/`, 'choice_needed') : [];
}

/** Only an operator ends what a booking that may still be carried out would contradict. */
function noEndInADoubt({ after }: AppointmentStep): string[] {
  const { outcome } = resultOf(after) ?? {};
  const { doubt } = after.world;
  if (outcome === undefined || outcome === 'abandoned' || !doubt) return [];
  return after.now < doubt.until ? [`the end ${outcome} while a booking may still be carried out`] : [];
}

/** An end is what the service has, or what somebody decided. */
function endsAreTrue({ before, move, after }: AppointmentStep): string[] {
  const { world } = after;
  const outcome = resultOf(after)?.outcome;
  const present = presentIn(world);
  const wrong = (isTrue: boolean) => (isTrue || outcome === undefined ? [] : [`the end ${outcome}, which is not so`]);
  const isDrawn = present !== undefined && visitPhaseOf(present) === 'completed';
  switch (outcome) {
    case 'completed':
      return wrong(isDrawn || world.order === 'collected');
    case 'cancelled':
      return wrong(nobodyComes(world, after.now) || isDisturbed(before, after));
    case 'expired':
      return wrong(!(present && isOpen(present)) || isDisturbed(before, after));
    case 'order_ended':
      return wrong(world.order === 'cancelled' || world.order === 'collected');
    case 'order_gone':
      return wrong(world.order === 'gone');
    case 'abandoned':
      return wrong(move.cancel === true || stayed(before, after));
    default:
      return [];
  }
}

/** A command that was carried out shows in its answer, in the state after it, and at the service. */
function commandsReflected(step: AppointmentStep): string[] {
  const { move, reply, after } = step;
  if (move.signal?.name === 'bookingRequested' && knownAfter(after)?.requested === false) {
    return ['a request had no effect'];
  }
  if (!move.update || reply?.value === undefined) return [];
  const isReflected = isCarriedOut(step, reply.value as AppointmentState);
  return isReflected ? [] : [`${move.name} was acknowledged and had no effect`];
}

function isCarriedOut({ before, move, after, calls }: AppointmentStep, state: AppointmentState): boolean {
  const { name, argument = {} } = move.update ?? {};
  const { slotId, rebook } = argument as { slotId?: string; rebook?: boolean };
  const present = presentIn(after.world);
  const open = present && isOpen(present) ? present : undefined;
  // The same choice again is answered with what is known.
  const isRepeated = calls.every(({ call }) => call.name !== 'bookSlot' && call.name !== 'rescheduleAppointment');
  if (slotId !== undefined && isRepeated) return state.appointment?.startAt === slotOf(slotId)?.start;
  const isShown = open !== undefined && state.appointment?.appointmentId === open.appointmentId;
  switch (name) {
    case 'chooseSlot':
    case 'reschedule':
      return isShown && open.startAt === slotOf(slotId)?.start && state.appointment?.startAt === open.startAt;
    case 'requestAppointment':
      return isShown;
    case 'cancel': {
      const phase = rebook ? 'awaiting_choice' : 'cancelled';
      const { known } = knownBefore(before) ?? {};
      // One that was never reported, and that the service does not show, cannot be known of.
      const isUnknown = !(known && isOpen(known)) && isDisturbed(before, after);
      return state.phase === phase && (isUnknown || nobodyComes(after.world, after.now));
    }
    default:
      return true;
  }
}

/** The service has failed, or has not shown what there is: nobody can know better. */
function isDisturbed(before: State<AppointmentWorld>, after: State<AppointmentWorld>): boolean {
  return after.world.left.faults < before.world.left.faults;
}

function resultOf({ result }: State<AppointmentWorld>): AppointmentResult | undefined {
  const { outcome } = (result ?? {}) as Partial<AppointmentResult>;
  return outcome === undefined ? undefined : (result as AppointmentResult);
}

function knownAfter({ input, result }: State<AppointmentWorld>): Appointment | undefined {
  return result === undefined ? carriedIn<Appointment>(input) : undefined;
}

function knownBefore({ input, result }: State<AppointmentWorld>): Partial<Appointment> | undefined {
  return result === undefined ? carriedIn(input) : undefined;
}
