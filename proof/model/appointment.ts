import { isOpen } from '../../protocol/appointment/lifecycle.js';
import type { AppointmentResult } from '../../protocol/appointment/messages.js';
import { currentPhase, type Appointment } from '../../workflows/appointment/appointment.js';
import { deadlinesOf } from '../../workflows/appointment/deadlines.js';
import { bookAppointment } from '../../workflows/appointment/workflow.js';
import { appointmentFaults } from './appointment-claims.js';
import {
  addAppointment,
  answer,
  move,
  orderId,
  presentIn,
  setStatus,
  slotAt,
  type AppointmentWorld,
} from './appointment-world.js';
import {
  afterCommand,
  afterEvent,
  endOf,
  reportedOrNot,
  type Left,
  beginning,
  carriedIn,
  type Model,
  type Move,
  type State,
  orderOf,
  type Upcoming,
} from './model.js';
import type { Message } from './run.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

export interface AppointmentBounds extends Left {
  place: AppointmentWorld['place'];
  /** Only the first webhook of an appointment that was made elsewhere starts the workflow; absent is a product's request. */
  isMadeElsewhere?: boolean;
}

const day = 86_400_000;

/** Short spans that differ, so deadlines come in many orders. */
const policy = resolvePolicy('appointment', {
  ...{ choiceReminders: ['1d'], choiceWait: '2d', confirmationWait: '1d', visitReminders: ['1d'], visitOverdue: '1d' },
  ...{ walkInOverdue: '1d', giveUpAfter: '1d', firstPoll: '1d', longestPoll: '1d', bookingTimeout: '2m' },
});

/** One order's appointment, from the request or the first webhook to its end, and what is reported or requested after that. */
export function appointmentModel({ place, isMadeElsewhere, ...left }: AppointmentBounds): Model<AppointmentWorld> {
  const world: AppointmentWorld = { place, appointments: [], order: 'open', keys: {}, broken: [], left };
  if (isMadeElsewhere) addAppointment(world, 'confirmed', slotAt(place, 1, beginning), beginning);
  const input = { orderId, policy };
  const signal = isMadeElsewhere ? reported(world) : requested;
  return {
    name: 'appointment',
    workflowId: `appointment/${orderId}`,
    workflow: bookAppointment,
    beginnings: [{ input, signals: [signal], world }],
    events: serviceMoves,
    commands: commandsFor,
    answer,
    essence,
    faults: appointmentFaults,
    phaseOf: (state) => endOf(state) ?? currentPhase(carriedIn<Appointment>(state.input)),
  };
}

const requested: Message = { name: 'bookingRequested', argument: { policy } };

/** The webhook of the present appointment. */
function reported(world: AppointmentWorld): Message {
  return { name: 'appointmentChanged', argument: structuredClone(presentIn(world)) };
}

/** Each event is reported, or its webhook is lost; no webhook reports what happens to the order. */
function serviceMoves(state: State<AppointmentWorld>): Move<AppointmentWorld>[] {
  const { world, now } = state;
  const after = (change: (next: AppointmentWorld) => void) => afterEvent(world, change);
  const events = [...visitEvents(world, now), ...(world.place === 'home' ? cancelledOrder(world, now) : [])];
  const found = events.flatMap(({ name, change }) => {
    const next = after(change);
    return reportedOrNot(name, next, reported(next));
  });
  const orders = (['cancelled', 'collected', 'gone'] as const).map((order) => ({
    name: `the order is ${order}`,
    world: after((next) => (next.order = order)),
  }));
  const [first] = presentIn(world)?.events ?? [];
  const stale = { ...presentIn(world), status: first?.status, events: [first] };
  const late = {
    name: 'a late webhook',
    world: after(() => undefined),
    signal: { ...reported(world), argument: stale },
  };
  return [
    ...found,
    ...madeAgain(state),
    ...(world.order === 'open' ? orders : []),
    ...((presentIn(world)?.events ?? []).length > 1 ? [late] : []),
  ];
}

/** The webhook of the cancellation comes when there is another appointment, whose own webhook is lost. */
function madeAgain({ world, now }: State<AppointmentWorld>): Move<AppointmentWorld>[] {
  const present = presentIn(world);
  if (!present || !isOpen(present) || world.order !== 'open') return [];
  const cancelled = afterEvent(world, (next) => setStatus(next, 'cancelled', now));
  const next = structuredClone(cancelled);
  addAppointment(next, 'confirmed', slotAt(world.place, 2, now), now + 1);
  return [{ name: 'cancelled, and made again unreported', world: next, signal: reported(cancelled) }];
}

interface ServiceEvent {
  name: string;
  change: (next: AppointmentWorld) => void;
}

/** Every status of an open appointment; the last one is not known to the project. */
const statuses = ['confirmed', 'in_progress', 'completed', 'cancelled', 'unheard_of'];

function visitEvents(world: AppointmentWorld, now: number): ServiceEvent[] {
  const present = presentIn(world);
  const slotId = slotAt(world.place, 2, now);
  if (!present || !isOpen(present)) {
    const another = {
      name: 'made elsewhere',
      change: (next: AppointmentWorld) => addAppointment(next, 'confirmed', slotId, now),
    };
    return world.order === 'open' ? [another] : [];
  }
  const changes = statuses
    .filter((status) => status !== present.status)
    .map((status) => ({ name: status, change: (next: AppointmentWorld) => setStatus(next, status, now) }));
  return [...changes, { name: 'moved elsewhere', change: (next) => move(next, slotId, now) }];
}

/** A cancelled order cancels its visit at home. */
function cancelledOrder(world: AppointmentWorld, now: number): ServiceEvent[] {
  const present = presentIn(world);
  if (!present || !isOpen(present)) return [];
  const change = (next: AppointmentWorld) => {
    next.order = 'cancelled';
    setStatus(next, 'cancelled', now);
  };
  return [{ name: 'cancelled with its order', change }];
}

/** What a product or an operator may ask for, sensible or not. */
function commandsFor({ world, now }: State<AppointmentWorld>): Move<AppointmentWorld>[] {
  const { place } = world;
  const after = afterCommand(world);
  const slots = { 'the first slot': slotAt(place, 1, now), 'the second slot': slotAt(place, 2, now) };
  const updates = [
    ...Object.entries(slots).map(([which, slotId]) => [`choose ${which}`, 'chooseSlot', { slotId }] as const),
    ['move to the second slot', 'reschedule', { slotId: slots['the second slot'] }] as const,
    ...(place === 'home' ? [['ask a provider', 'requestAppointment', { provider: 'provider-1' }] as const] : []),
    ['cancel', 'cancel', {}] as const,
    ['cancel, to choose again', 'cancel', { rebook: true }] as const,
  ];
  return [
    ...updates.map(([what, name, argument]) => ({ name: `command ${what}`, update: { name, argument }, world: after })),
    { name: 'requested', signal: requested, world: after },
    { name: 'given up by an operator', cancel: true, world: after },
  ];
}

function essence({ input, world, result, now }: State<AppointmentWorld>): unknown {
  const { keys, unsettled, ...rest } = world;
  const service = [rest, unsettled !== undefined, Object.keys(keys).length, startOf(presentIn(world)?.startAt, now)];
  if (result !== undefined) {
    const { outcome, appointment, order, announced = [], attention = [] } = result as Partial<AppointmentResult>;
    const ended = announced.filter((id) => id.endsWith('/ended'));
    return [outcome, appointment, order, ended, attention.map(({ reason }) => reason), service];
  }
  const appointment = carriedIn<Appointment>(input);
  const { journal: _journal, policy: _policy, raised: _raised, announced: _announced, ...known } = appointment;
  const { received: _received, silentReads: _reads, booking, attention, ...others } = known;
  const chosen = booking && [startOf(booking.slotId.split('_')[1], now), unsettled?.key === booking.key];
  const asked = attention.map(({ reason }) => reason);
  const upcoming = orderOf(deadlinesOf(appointment), now, day / 2);
  return [others, chosen ?? null, asked, upcoming, startOf(appointment.known?.startAt, now), service];
}

/** When a visit is, as far as it matters to the slots that may be chosen: they are in whole days. */
function startOf(startAt: string | undefined, now: number): string[] {
  const start: Upcoming | undefined = startAt === undefined ? undefined : { name: 'visit', at: Date.parse(startAt) };
  return orderOf([start], now, day);
}
