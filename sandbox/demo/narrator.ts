import type { OrderState, TimelineEntry } from '../../client/index.js';
import type { Calendar } from './calendar.js';
import type { OrderNotification } from './notification-receiver.js';
import type { Screen, Style } from './screen.js';
import { happening, toldWords } from './words.js';

export interface Voice {
  /** At the head of each line of the story. */
  label: string;
  colour: Style;
}

interface Group {
  orderId: string;
  at: string;
  entries: TimelineEntry[];
}

/** How much room the labels of the stories get. */
const labelWidth = 10;

/** Says what happens in one story, each line with the story's name and its own day. */
export class Narrator {
  readonly #screen: Screen;
  readonly #calendar: Calendar;
  readonly #voice: Voice;
  readonly #told = new Set<string>();
  #began = Date.now();
  #waits = '';

  constructor(screen: Screen, calendar: Calendar, voice: Voice) {
    this.#screen = screen;
    this.#calendar = calendar;
    this.#voice = voice;
  }

  /** Day 0 is now. */
  begin(): void {
    this.#began = Date.now();
  }

  /** What the product or a person does. */
  acts(text: string): void {
    this.#line(Date.now(), this.#screen.styled('bold', `▸ ${text}`));
  }

  /** An address, on a line of its own so that it can be clicked or copied whole. */
  address(url: string): void {
    this.#line(Date.now(), this.#screen.styled('gray', `  ${url}`));
  }

  /** What is new in an order's state: events of the lab and the post, and what the workflow waits for now. */
  state(state: OrderState): void {
    const fresh = state.timeline.filter((entry) => !this.#told.has(keyOf(entry)));
    for (const entry of fresh) this.#told.add(keyOf(entry));
    const waits = this.#waitsFor(state);
    const changed = waits !== this.#waits;
    this.#waits = waits;
    const groups = this.#groups(fresh);
    for (const group of groups) this.#events(group, state, group === groups.at(-1) ? waits : '');
    if (fresh.length === 0 && changed && waits !== '') this.#line(Date.now(), this.#screen.styled('gray', `◷ ${waits}`));
  }

  /** Whether an event was shown: what the product is told of it comes after it. */
  hasTold(key: string): boolean {
    return this.#told.has(key);
  }

  product(notification: OrderNotification): void {
    const urgent = notification.type === 'attention_raised';
    const text = `✉ product told: ${toldWords(notification)}`;
    this.#line(notification.time, this.#screen.styled(urgent ? ['bold', 'yellow'] : 'gray', text));
  }

  asTold(text: string): void {
    this.#line(Date.now(), this.#screen.styled(['bold', 'green'], `✔ ${text}`));
  }

  notAsTold(text: string): void {
    this.#line(Date.now(), this.#screen.styled(['bold', 'red'], `✘ not as told: ${text}`));
  }

  /** What happened to one kit on one day is one line. */
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
    const rest = waits === '' ? '' : this.#screen.styled('gray', ` · ${waits}`);
    this.#line(at, `● ${kit > 0 ? `kit ${kit + 1}: ` : ''}${what}${rest}`);
  }

  #waitsFor({ waiting, outcome }: OrderState): string {
    if (outcome !== undefined) return '';
    const until = waiting.until === undefined ? '' : `, until day ${this.#day(waiting.until)}`;
    return `waits for ${waiting.for}${until}`;
  }

  #day(moment: string | number): number {
    return this.#calendar.dayOf(moment, this.#began);
  }

  #line(moment: string | number, text: string): void {
    const label = this.#screen.styled(this.#voice.colour, this.#voice.label.padEnd(labelWidth));
    const day = this.#screen.styled('gray', `day ${String(this.#day(moment)).padStart(2)}`);
    this.#screen.line(`  ${label} ${day}  ${text}`);
  }
}

function keyOf({ orderId, eventId }: TimelineEntry): string {
  return `${orderId}/${eventId}`;
}
