import { appointmentSchema } from '../../service/appointment/appointments.js';
import { appointmentSnapshotOf } from '../../service/appointment/snapshot.js';
import type { AppointmentResult, AppointmentState } from '../../protocol/appointment/messages.js';
import type { ResolvedAppointmentPolicy } from '../../protocol/appointment/policy.js';
import { slotIdOf } from '../../protocol/appointment/slots.js';
import { bookAppointmentStart } from '../../protocol/starts.js';
import { bookAppointmentId } from '../../protocol/ids.js';
import { day, hour, long, minute, second, type Life } from './life.js';
import { Past, type Request, type ServiceAnswer } from './service.js';
import { claims, resultOf, webhook, type Stage, type World } from './stage.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

const orderId = '00000000-0000-4000-8000-00000000000a';
const workflowId = bookAppointmentId(orderId);

type Place = 'home' | 'centre';

interface Slot {
  id: string;
  day: string;
  start: string;
  end: string;
}

interface Visit {
  id: string;
  by: 'product' | 'elsewhere';
  start?: string;
  end?: string;
  events: { created_at: string; status: string }[];
}

const open: readonly string[] = ['pending', 'reserved', 'confirmed', 'in_progress'];
const statusOf = ({ events }: Visit): string => events.at(-1)?.status ?? '';
const isOpen = (visit: Visit): boolean => open.includes(statusOf(visit));

/** One order's visits, at home or at a service centre: booked, moved and cancelled here, by the provider and by others. */
export class AppointmentWorld implements World {
  readonly spans = { disturbed: 12 * day, calm: 60 * day };
  private readonly stage: Stage;
  private readonly place: Place;
  private readonly state = { visits: [] as Visit[], order: 'collecting_sample' };
  private readonly past: Past<AppointmentWorld['state']>;
  /** The time of each open visit, in the order in which they were made and moved. */
  private readonly times: { id: string; start: string | undefined; at: number }[] = [];
  /** From when to when the service had which open visit. */
  private readonly stood: { visit: Visit; from: number; until: number }[] = [];
  private readonly keys = new Map<string, Visit>();
  private readonly slots: Slot[];
  private readonly policy: ResolvedAppointmentPolicy;
  private bookings = 0;

  constructor(stage: Stage) {
    const { life } = stage;
    this.stage = stage;
    this.place = life.oneOf(['home', 'centre']);
    this.past = new Past(life, this.state);
    this.slots = [1, 2, 4].map((days) => slotIn(days, this.place, life));
    this.policy = resolvePolicy('appointment', {
      ...resolvePolicy('appointment'),
      choiceWait: life.span(life.oneOf([20 * second, minute, hour]), 6 * day),
      ...{ choiceReminders: [life.span(second, day)], confirmationWait: life.span(minute, 2 * day) },
      ...{ visitOverdue: life.span(hour, day), walkInOverdue: day, giveUpAfter: life.span(hour, 4 * day) },
      ...{ confirmation: life.oneOf(['wait', 'later'] as const), firstPoll: life.span(minute, hour) },
      ...{ longestPoll: 12 * hour, bookingTimeout: life.oneOf([5 * second, 30 * second, 2 * minute]) },
    });
  }

  private get present(): Visit | undefined {
    return this.state.visits.at(-1);
  }

  private get openVisit(): Visit | undefined {
    return this.present && isOpen(this.present) ? this.present : undefined;
  }

  private body(visit: Visit) {
    return {
      ...{ id: visit.id, order_id: orderId, status: statusOf(visit), events: visit.events, provider: 'provider-1' },
      ...{ start_at: visit.start ?? null, end_at: visit.end ?? null, can_reschedule: true },
      type: this.place === 'home' ? 'phlebotomy' : 'patient_service_center',
    };
  }

  private become(visit: Visit, status: string): void {
    const { life, server } = this.stage;
    visit.events.push({ created_at: new Date(life.now).toISOString(), status });
    if (isOpen(visit)) this.times.push({ id: visit.id, start: visit.start, at: life.now });
    this.past.changed(this.state);
    life.tell(`  the service: ${visit.id} is ${status}${visit.start === undefined ? '' : ` for ${visit.start}`}`);
    const last = this.stood.at(-1);
    if (!open.includes(status) && last?.visit === visit) last.until = life.now;
    const snapshot = appointmentSnapshotOf(appointmentSchema.parse(structuredClone(this.body(visit))));
    const start = bookAppointmentStart(orderId, snapshot, this.policy);
    webhook(this.stage, `${visit.id} ${status}`, () => {
      server.signalOrStart(start, 'appointmentChanged', snapshot);
      // The product does the same, at the same time.
      if (status === 'cancelled' && !life.isCalm && life.happens(0.2))
        life.after(life.span(10, minute), () => void server.update(workflowId, 'cancel', {}));
    });
  }

  private book(by: Visit['by'], slot: Slot | undefined, isLater: boolean): Visit {
    const { life } = this.stage;
    const at = slot && { start: slot.start, end: slot.end };
    const visit: Visit = { id: `visit-${this.state.visits.length + 1}`, by, events: [], ...at };
    this.state.visits.push(visit);
    this.stood.push({ visit, from: life.now, until: Infinity });
    this.become(visit, isLater ? 'pending' : 'confirmed');
    if (isLater && life.happens(0.8)) life.after(life.span(minute, 2 * day), () => this.confirm(visit, slot));
    if (slot) this.expect(visit, slot);
    return visit;
  }

  private confirm(visit: Visit, slot: Slot | undefined): void {
    if (statusOf(visit) !== 'pending') return;
    const { start, end } = slot ?? this.stage.life.oneOf(this.slots);
    Object.assign(visit, { start, end });
    this.become(visit, this.stage.life.happens(0.8) ? 'confirmed' : 'cancelled');
  }

  private move(visit: Visit, slot: Slot): void {
    Object.assign(visit, { start: slot.start, end: slot.end });
    this.become(visit, 'confirmed');
    this.expect(visit, slot);
  }

  /** The visit takes place, if it is still so by then. */
  private expect(visit: Visit, { end }: Slot): void {
    const { life } = this.stage;
    life.after(Date.parse(end) - life.now, () => {
      if (statusOf(visit) !== 'confirmed' || visit.end !== end) return;
      this.become(visit, 'completed');
      this.state.order = 'sample_with_lab';
      this.past.changed(this.state);
    });
  }

  handle(request: Request): ServiceAnswer {
    const { method, path, headers, body } = request;
    if (method === 'GET' || path.endsWith('/availability')) return this.read(request);
    const { booking_key: key = '', async_confirmation: isLater = false } = body as {
      booking_key?: string;
      async_confirmation?: boolean;
    };
    const slot = this.slots.find(({ id }) => key === `key ${id}`);
    if (path.endsWith('/book') || path.endsWith('/request')) {
      return this.take(slot, path.endsWith('/request'), isLater, headers['x-idempotency-key'] ?? '');
    }
    const visit = this.openVisit;
    if (!visit) return { status: 404, body: { detail: 'Appointment not found' } };
    if (path.endsWith('/cancel')) this.become(visit, 'cancelled');
    else if (slot) this.move(visit, slot);
    else return slotGone;
    return { status: 200, body: this.body(visit) };
  }

  private take(slot: Slot | undefined, isRequest: boolean, isLater: boolean, key: string): ServiceAnswer {
    const before = this.keys.get(key);
    if (before) return { status: 200, body: this.body(before) };
    if (this.openVisit) return refused('The order already has an appointment.');
    if (this.state.order !== 'collecting_sample') return refused('The order is in no status to have an appointment.');
    const isOffered = slot !== undefined && Date.parse(slot.start) > this.stage.life.now;
    if (!isRequest && !isOffered) return slotGone;
    this.bookings += 1;
    const visit = this.book('product', slot, isLater || isRequest);
    if (key !== '') this.keys.set(key, visit);
    return { status: 200, body: this.body(visit) };
  }

  private read({ path, query }: Request): ServiceAnswer {
    // A booking that was just made may not be shown for a second.
    const { visits, order } = this.past.seen(900);
    if (path.endsWith('/availability')) return this.offered(query['start_date']);
    if (path.endsWith('/cancellation-reasons')) return { status: 200, body: [{ id: 'reason-1', name: 'invented' }] };
    if (!path.endsWith('/appointment')) return { status: 200, body: orderBody(order, this.place) };
    const shown = visits.at(-1);
    const isShown = shown !== undefined && (this.place === 'home' || isOpen(shown));
    return isShown
      ? { status: 200, body: this.body(shown) }
      : { status: 404, body: { detail: 'Appointment not found' } };
  }

  private offered(from: unknown): ServiceAnswer {
    const location = this.place === 'centre' ? { code: 'SITE1', name: 'Invented site' } : null;
    const left = this.slots.filter(({ start }) => Date.parse(start) > this.stage.life.now);
    const days = left
      .filter((slot) => (from ?? slot.day) === slot.day)
      .map(({ id, day: date, start, end }) => ({ date, location, slots: [{ booking_key: `key ${id}`, start, end }] }));
    return { status: 200, body: { slots: days, timezone: 'America/New_York' } };
  }

  begin(): void {
    const { life, server } = this.stage;
    const { choiceWait } = this.policy;
    life.tell(`at ${this.place}; a choice is waited for ${long(choiceWait)}`);
    const isRequested = life.happens(0.75);
    if (isRequested) this.request();
    else this.elsewhere();
    const soon = () => life.span(life.oneOf([200, 5 * second, choiceWait / 2]), 5 * day);
    for (let count = life.between(1, 5); count > 0; count -= 1) life.after(soon(), () => this.command());
    // Just before the wait for a choice ends.
    if (life.happens(0.5)) life.after(choiceWait - life.span(second, 6 * minute), () => this.choose());
    const others = isRequested ? life.between(-1, 2) : life.between(0, 4);
    for (let count = others; count > 0; count -= 1) life.after(soon(), () => this.elsewhere());
    if (life.happens(0.1)) life.after(soon(), () => this.cancelOrder());
    if (life.happens(0.05)) life.after(soon(), () => server.cancel(workflowId));
    if (life.happens(0.1)) life.after(soon(), () => this.request());
  }

  private request(): void {
    const start = bookAppointmentStart(orderId, undefined, this.policy);
    this.stage.server.signalOrStart(start, 'bookingRequested', { policy: this.policy });
  }

  private choose(name = 'chooseSlot'): void {
    const { life, server } = this.stage;
    void server.update(workflowId, name, { slotId: life.oneOf(this.slots).id });
  }

  private command(): void {
    const { life, server } = this.stage;
    const name = life.oneOf(['chooseSlot', 'chooseSlot', 'reschedule', 'cancel', 'rebook', 'findSlots', 'request']);
    if (name === 'chooseSlot' || name === 'reschedule') this.choose(name);
    else if (name === 'cancel' || name === 'rebook')
      void server.update(workflowId, 'cancel', name === 'rebook' ? { rebook: true } : {});
    else if (name === 'findSlots') void server.update(workflowId, 'findSlots', {});
    else if (this.place === 'home') void server.update(workflowId, 'requestAppointment', { provider: 'provider-1' });
  }

  private elsewhere(): void {
    const { life } = this.stage;
    const visit = this.openVisit;
    const slot = life.oneOf(this.slots);
    if (!visit) {
      if (this.state.order === 'collecting_sample') this.book('elsewhere', slot, false);
    } else if (life.happens(0.7)) this.become(visit, 'cancelled');
    else {
      visit.by = 'elsewhere';
      this.move(visit, slot);
    }
  }

  /** A visit at home is cancelled with its order. */
  private cancelOrder(): void {
    if (this.state.order !== 'collecting_sample') return;
    this.state.order = 'cancelled';
    this.past.changed(this.state);
    if (this.place === 'home' && this.openVisit) this.become(this.openVisit, 'cancelled');
  }

  calmDown(): void {
    if (this.openVisit) this.become(this.openVisit, 'cancelled');
  }

  check(): void {
    const { life, server } = this.stage;
    const choices = server.replies.filter(({ name }) => name === 'chooseSlot' || name === 'requestAppointment').length;
    if (this.bookings > choices)
      life.broken('never two bookings for one choice', `${this.bookings} bookings for ${choices} choices`);
    this.checkEnds();
    this.checkCommands();
  }

  /** What others book, or what is booked after the end, is another thing; what was asked for before it is not. */
  private checkEnds(): void {
    const { life, server } = this.stage;
    const isDrawn = this.state.visits.some((visit) => statusOf(visit) === 'completed');
    for (const execution of server.executions) {
      const { closedAt = 0 } = execution;
      const { outcome = '' } = resultOf<AppointmentResult>(execution);
      if (outcome === 'completed' && !isDrawn) life.broken(claims.endsAreTrue, 'completed, and no blood was drawn');
      const booked = this.stood.find(
        ({ visit, from, until }) =>
          visit.by === 'product' && from <= closedAt + minute && until > closedAt + minute && !isOfNext(closedAt, from),
      );
      // Its time may go by while its order is cancelled.
      const isPast = outcome === 'order_ended' && Date.parse(booked?.visit.start ?? '') <= closedAt;
      if (booked && !isPast && ['expired', 'cancelled', 'order_ended'].includes(outcome))
        life.broken(claims.endsAreTrue, `${outcome}, and the visit that was booked stands`);
      // Whoever made it, a read would have shown it.
      const shown = this.stood.find(({ from, until }) => from < closedAt - 10 * minute && until > closedAt + minute);
      if (shown && outcome === 'cancelled') life.broken(claims.endsAreTrue, `cancelled, and ${shown.visit.id} stands`);
    }
    function isOfNext(closedAt: number, from: number): boolean {
      return server.executions.some(({ startedAt }) => closedAt <= startedAt && startedAt <= from);
    }
  }

  private checkCommands(): void {
    const { life, server } = this.stage;
    for (const { name, argument, askedAt, repliedAt = 0, refused: refusal, value } of server.replies) {
      if (refusal !== undefined || value === undefined) continue;
      const { appointment } = value as AppointmentState;
      const { slotId } = argument as { slotId?: string };
      // Read a moment ago, it may have been made or cancelled since.
      const standing = this.stood.find(
        ({ from, until }) => from < askedAt - 10 * second && until > repliedAt + 10 * second,
      );
      if (name === 'cancel' && standing) life.broken(claims.reflected, `cancel, and ${standing.visit.id} stands`);
      if (name !== 'chooseSlot' && name !== 'reschedule') continue;
      const slot = this.slots.find(({ id }) => id === slotId);
      const isThere = this.state.visits.some(({ id }) => id === appointment?.appointmentId);
      // It was carried out, and somebody else changed the visit after that: the answer shows the change.
      const meanwhile = this.times.filter(({ at }) => askedAt <= at && at <= repliedAt);
      const done = meanwhile.findIndex(({ start }) => start === slot?.start);
      const after = done < 0 ? [] : meanwhile.slice(done + 1);
      const isOvertaken = after.some(
        ({ id, start }) => id === appointment?.appointmentId && start === appointment.startAt,
      );
      if ((appointment?.startAt !== slot?.start && !isOvertaken) || !isThere)
        life.broken(claims.reflected, `${name}, and the visit is at ${appointment?.startAt ?? 'no time'}`);
    }
  }
}

function slotIn(days: number, place: Place, life: Life): Slot {
  const midnight = Math.ceil(life.now / day) * day + days * day;
  const [start = '', end = ''] = [9, 10].map((hours) => new Date(midnight + hours * hour).toISOString());
  const name = { day: start.slice(0, 10), start, end };
  return { ...name, id: slotIdOf({ ...name, ...(place === 'centre' && { site: 'SITE1' }) }) };
}

const slotGone: ServiceAnswer = { status: 404, body: { detail: 'The slot is no longer available' } };

function refused(detail: string): ServiceAnswer {
  return { status: 400, body: { detail } };
}

function orderBody(top: string, place: Place) {
  const method = place === 'home' ? 'at_home_phlebotomy' : 'walk_in_test';
  const low = { collecting_sample: 'appointment_pending', sample_with_lab: 'delivered_to_lab' }[top] ?? 'cancelled';
  return {
    ...{ id: orderId, user_id: '00000000-0000-4000-8000-000000000001', status: top },
    lab_test: { id: 'test-1', method, lab: { slug: 'invented' } },
    details: { type: method, data: {} },
    patient_address: { first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip: '62701', country: 'US' },
    events: [{ id: 1, created_at: '2024-03-01T09:00:00.000Z', status: `${top}.${method}.${low}` }],
    created_at: '2024-03-01T09:00:00.000Z',
  };
}
