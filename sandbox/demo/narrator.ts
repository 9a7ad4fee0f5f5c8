import type { OrderState, TimelineEntry } from '../../client/index.js';
import type { Calendar } from './calendar.js';
import type { OrderNotification } from './notification-receiver.js';
import type { Screen, Style } from './screen.js';
import { happening, phaseWords, toldWords } from './words.js';

export interface Voice {
  /** At the head of each line of the story. */
  label: string;
  colour: Style;
  /** A story of people at a screen: told in real seconds instead of the days of the post. */
  inRealTime?: true;
}

/** What happened to one kit on one day: one line. */
interface Group {
  orderId: string;
  at: string;
  entries: TimelineEntry[];
}

/** How much room the labels of the stories get. */
export const labelWidth = 10;

/** What the signs at the heads of the lines mean. */
export const legend =
  '● lab, post, provider   ▸ product, operator, customer   ✉ what the product is told   ◷ what the workflow waits for';

/** Says what happens in one story, each line with the story's name and its own day. */
export class Narrator {
  readonly #screen: Screen;
  readonly #calendar: Calendar;
  readonly #voice: Voice;
  readonly #told = new Set<string>();
  /** Phases that the product was told of, by the event: they go into the event's line. */
  readonly #phases = new Map<string, OrderNotification>();
  #began = Date.now();
  /** The latest moment that a line has shown: what happened before it is told of when it is known. */
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

  /** What the product or a person does. */
  acts(text: string): void {
    this.#line(Date.now(), this.#screen.styled('bold', `▸ ${text}`));
  }

  /** What the lab service or a provider does, now or at a moment of theirs. */
  happens(text: string, moment: number | string = Date.now()): void {
    this.#line(moment, `● ${text}`);
  }

  /** What a workflow waits for now. */
  waits(text: string): void {
    this.#line(Date.now(), this.#screen.styled('gray', `◷ ${text}`));
  }

  /** What the product is told. */
  tells(moment: string, text: string): void {
    this.#line(moment, this.#screen.styled('blueBright', `✉ ${text}`));
  }

  /** The head of a line and a question, for an answer in the same line. */
  question(text: string): string {
    return `${this.#head(Date.now())}${this.#screen.styled(['bold', 'yellow'], `▸ ${text} `)}`;
  }

  /** An address, alone on its line so that it can be clicked or copied whole. */
  address(url: string): void {
    this.#screen.line(`  ${this.#label()} ${this.#screen.styled('gray', url)}`);
  }

  /** What is new in an order's state: events of the lab and the post, and what the workflow waits for now. */
  state(state: OrderState): void {
    const fresh = this.untold(state);
    const waits = this.#waitsFor(state);
    const changed = waits !== this.#waits;
    this.#waits = waits;
    const groups = this.#groups(fresh);
    for (const group of groups) this.#events(group, state, group === groups.at(-1) ? waits : '');
    for (const entry of fresh) this.#told.add(keyOf(entry));
    if (fresh.length === 0 && changed && waits !== '') this.waits(waits);
  }

  /** The lab service's events that no line has shown yet. An acknowledgement has no event: its story says who acts. */
  untold({ timeline }: OrderState): TimelineEntry[] {
    return timeline.filter((entry) => entry.eventId !== undefined && !this.#told.has(keyOf(entry)));
  }

  /** Whether a line has told of the event: what the product is told of it comes after it. */
  hasTold(orderId: string, eventId: string): boolean {
    return this.#told.has(`${orderId}/${eventId}`);
  }

  /** The product was told of a phase, perhaps before anybody has looked at the order again. */
  phaseArrived(eventId: string, notification: OrderNotification): void {
    this.#phases.set(`${notification.data.order_id}/${eventId}`, notification);
  }

  hasPhaseOf({ orderId, eventId }: TimelineEntry): boolean {
    return this.#phases.has(`${orderId}/${eventId}`);
  }

  /** What the product was told, unless the line of the event says so already. */
  product(eventId: string, notification: OrderNotification): void {
    const key = `${notification.data.order_id}/${eventId}`;
    if (notification.type === 'phase_changed' && !this.#phases.delete(key)) return;
    const urgent = notification.type === 'attention_raised';
    const text = `✉ ${toldWords(notification)}`;
    this.#line(notification.time, this.#screen.styled(urgent ? ['bold', 'yellow'] : 'blueBright', text));
  }

  asTold(text: string): void {
    this.#line(Date.now(), this.#screen.styled(['bold', 'green'], `✔ ${text}`));
  }

  notAsTold(text: string): void {
    this.#line(Date.now(), this.#screen.styled(['bold', 'red'], `✘ not as told: ${text}`));
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
    const what = entries.map(({ status, detail }) => happening(status, detail)).join(', ');
    const told = this.#screen.styled('blueBright', this.#takePhase(entries));
    const rest = waits === '' ? '' : this.#screen.styled('gray', `  ◷ ${waits}`);
    this.#line(at, `● ${kit > 0 ? ofKit(kit + 1, what) : what}${told}${rest}`);
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
