import ms from 'ms';
import {
  defaultPolicy,
  type Duration,
  type OrderPolicy,
  type OrderState,
  type TimelineEntry,
} from '../../client/index.js';
import type { NotificationEvent } from '../../client/notifications/index.js';
import type { EventOf } from './notifications.js';
import type { Screen, Style } from './screen.js';
import { eventWords, notificationWords, phaseWords } from './words.js';

/** The compressed days of the stories: how long they are, and which day of a story a moment falls on. */
export class Calendar {
  readonly dayMs: number;

  constructor(daySeconds: number) {
    this.dayMs = daySeconds * 1000;
  }

  /** The day of a story: 0 is the day it began. */
  dayOf(moment: string | number, began: number): number {
    const at = typeof moment === 'number' ? moment : Date.parse(moment);
    return Math.max(0, Math.floor((at - began) / this.dayMs));
  }

  /** Real milliseconds of a span of story time. A policy takes nothing shorter than a second. */
  compressed(span: Duration): number {
    return Math.max(1000, Math.round((ms(span) / ms('1d')) * this.dayMs));
  }

  /**
   * The policy that an order gets: the requested one or the defaults, with days as short as the sandbox's. What is measured
   * in the time of networks instead of the post is not compressed.
   */
  policy(requested: OrderPolicy): OrderPolicy {
    const compressed = Object.entries({ ...defaultPolicy, ...requested }).map(([name, value]) => {
      if (unmeasured.test(name)) return [name, value];
      const spans = value as Duration | Duration[];
      const inRealTime = (span: Duration) => `${this.compressed(span)}ms`;
      return [name, Array.isArray(spans) ? spans.map(inRealTime) : inRealTime(spans)];
    });
    return { ...(Object.fromEntries(compressed) as OrderPolicy), ...networkTime };
  }
}

/** The local sandbox answers in milliseconds: after a lost answer nobody has to wait for as long as by default. */
const networkTime = {
  creationTimeout: '2s',
  creationSettling: '3s',
  notificationDeadline: '1m',
} as const satisfies OrderPolicy;

/** Settings that are not spans of time. No story counts in business days. */
const unmeasured = /^(on[A-Z]\w*|replacementLimit|holidays|utcOffset)$/;

type PhaseChanged = Extract<EventOf<'order'>, { type: 'labops.order.phase_changed' }>;

export interface Voice {
  /** At the head of each line of the story. */
  label: string;
  colour: Style;
  /** Shows real seconds instead of the days of the post: the story is about people at a screen. */
  inRealTime?: true;
}

/** The events of one kit on one day: one line. */
interface Group {
  orderId: string;
  at: string;
  entries: TimelineEntry[];
}

/** The width of the stories' labels. */
export const labelWidth = 10;

/** Explains the sign at the head of each line. */
export const legend =
  '● lab, post, provider   ▸ product, operator, customer   ✉ notification to the product   ◷ the workflow waits for';

/** Prints the lines of one story, each with the story's label and its day. */
export class Narrator {
  readonly #screen: Screen;
  readonly #calendar: Calendar;
  readonly #voice: Voice;
  readonly #shown = new Set<string>();
  /** Notifications of phases by their event: they go into the event's line. */
  readonly #phases = new Map<string, PhaseChanged>();
  #began = Date.now();
  /** The latest moment that a line has shown: the days never go back, though some events are known late. */
  #latest = 0;
  #waits = '';

  constructor(screen: Screen, calendar: Calendar, voice: Voice) {
    this.#screen = screen;
    this.#calendar = calendar;
    this.#voice = voice;
  }

  /** Day 0 is now. */
  begin(): void {
    this.#began = Date.now();
    this.#latest = this.#began;
  }

  /** The product or a person does something. */
  acts(text: string): void {
    this.#line(Date.now(), this.#screen.styled('bold', `▸ ${text}`));
  }

  /** The lab service or a provider does something, now or at a moment of theirs. */
  happens(text: string, moment: number | string = Date.now()): void {
    this.#line(moment, `● ${text}`);
  }

  /** A workflow waits for something. */
  waits(text: string): void {
    this.#line(Date.now(), this.#screen.styled('gray', `◷ ${text}`));
  }

  /** The product receives a notification. */
  readonly notifies = (event: NotificationEvent): void => {
    const isUrgent = event.type === 'labops.order.attention_raised';
    const text = `✉ ${notificationWords(event)}`;
    this.#line(event.time, this.#screen.styled(isUrgent ? ['bold', 'yellow'] : 'blueBright', text));
  };

  /** The head of a line and a question, for an answer in the same line. */
  question(text: string): string {
    return `${this.#head(Date.now())}${this.#screen.styled(['bold', 'yellow'], `▸ ${text} `)}`;
  }

  /** An address, alone on its line, so it can be clicked or copied whole. */
  address(url: string): void {
    this.#screen.line(`  ${this.#label()} ${this.#screen.styled('gray', url)}`);
  }

  /** Shows what is new in an order's state: events of the lab and the post, and what the workflow waits for now. */
  state(state: OrderState): void {
    const fresh = this.unshown(state);
    const waits = this.#waitsFor(state);
    const changed = waits !== this.#waits;
    this.#waits = waits;
    const groups = this.#groups(fresh);
    for (const group of groups) this.#events(group, state, group === groups.at(-1) ? waits : '');
    for (const entry of fresh) this.#shown.add(keyOf(entry));
    if (fresh.length === 0 && changed && waits !== '') this.waits(waits);
  }

  /** The lab service's events that no line has shown yet. An acknowledgement has no event. */
  unshown({ timeline }: OrderState): TimelineEntry[] {
    return timeline.filter((entry) => entry.eventId !== undefined && !this.#shown.has(keyOf(entry)));
  }

  /** True if a line has shown the event: a notification about it comes after it. */
  hasShown(orderId: string, eventId: string): boolean {
    return this.#shown.has(`${orderId}/${eventId}`);
  }

  /** Keeps the notification of a phase for the line of its event. */
  phaseArrived(eventId: string, event: PhaseChanged): void {
    this.#phases.set(`${event.data.order_id}/${eventId}`, event);
  }

  hasPhaseOf({ orderId, eventId }: TimelineEntry): boolean {
    return this.#phases.has(`${orderId}/${eventId}`);
  }

  /** Shows a notification about an order, unless the line of its event has shown it. */
  product(eventId: string, event: EventOf<'order'>): void {
    const key = `${event.data.order_id}/${eventId}`;
    if (event.type === 'labops.order.phase_changed' && !this.#phases.delete(key)) return;
    this.notifies(event);
  }

  succeeded(text: string): void {
    this.#line(Date.now(), this.#screen.styled(['bold', 'green'], `✔ ${text}`));
  }

  failed(text: string): void {
    this.#line(Date.now(), this.#screen.styled(['bold', 'red'], `✘ failed: ${text}`));
  }

  #groups(entries: readonly TimelineEntry[]): Group[] {
    const groups: Group[] = [];
    for (const entry of entries) {
      const last = groups.at(-1);
      const joins = last?.orderId === entry.orderId && this.#day(last.at) === this.#day(entry.at);
      if (joins) last.entries.push(entry);
      else groups.push({ orderId: entry.orderId, at: entry.at, entries: [entry] });
    }
    return groups;
  }

  #events({ orderId, at, entries }: Group, { chain }: OrderState, waits: string): void {
    const kit = chain.findIndex((link) => link.orderId === orderId);
    const what = entries.map(({ status, detail }) => eventWords(status, detail)).join(', ');
    const phase = this.#screen.styled('blueBright', this.#takePhase(entries));
    const rest = waits === '' ? '' : this.#screen.styled('gray', `  ◷ ${waits}`);
    this.#line(at, `● ${kit > 0 ? ofKit(kit + 1, what) : what}${phase}${rest}`);
  }

  #takePhase(entries: readonly TimelineEntry[]): string {
    const phases = entries.flatMap((entry) => {
      const phase = this.#phases.get(keyOf(entry));
      this.#phases.delete(keyOf(entry));
      return phase === undefined ? [] : [`  ✉ ${phaseWords(phase)}`];
    });
    return phases.join('');
  }

  #waitsFor({ waiting, outcome }: OrderState): string {
    if (outcome !== undefined) return '';
    const until = waiting.until === undefined ? '' : `, until day ${this.#day(waiting.until)}`;
    return `${waiting.for}${until}`;
  }

  #day(moment: string | number): number {
    return this.#calendar.dayOf(moment, this.#began);
  }

  #line(moment: string | number, text: string): void {
    this.#screen.line(`${this.#head(moment)}${text}`);
  }

  #head(moment: string | number): string {
    return `  ${this.#label()} ${this.#screen.styled('gray', this.#when(moment).padStart('day  0'.length))}  `;
  }

  #when(moment: string | number): string {
    this.#latest = Math.max(this.#latest, typeof moment === 'number' ? moment : Date.parse(moment));
    if (!this.#voice.inRealTime) return `day ${String(this.#day(this.#latest)).padStart(2)}`;
    return `${Math.max(0, Math.round((this.#latest - this.#began) / 1000))} s`;
  }

  #label(): string {
    return this.#screen.styled(this.#voice.colour, this.#voice.label.padEnd(labelWidth));
  }
}

function keyOf({ orderId, eventId }: TimelineEntry): string {
  return `${orderId}/${eventId}`;
}

/** "kit shipped" of the second kit is "kit 2 shipped". */
function ofKit(number: number, what: string): string {
  return what.startsWith('kit ') ? what.replace('kit', `kit ${number}`) : `kit ${number}: ${what}`;
}
