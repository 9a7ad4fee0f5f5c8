import type { NotificationEvent } from '../../client/index.js';
import type { NotificationReceiver } from './notification-receiver.js';
import { Occurrences } from './occurrences.js';

type Area = 'order' | 'report' | 'link' | 'appointment' | 'user';

/** A notification of one area: its type is `labops.<area>.…`. */
export type EventOf<In extends Area> = Extract<NotificationEvent, { type: `labops.${In}.${string}` }>;

/** The last word of a type: `ended` of `labops.link.ended`. */
type TypeIn<In extends Area, Whole = EventOf<In>['type']> = Whole extends `labops.${In}.${infer Type}` ? Type : never;

type EventOfType<In extends Area, Type extends string> = Extract<NotificationEvent, { type: `labops.${In}.${Type}` }>;

/** The notifications about the subject of one story: each is shown, one after the other, and then known to the story. */
export class Notifications<In extends Area> {
  readonly #area: In;
  readonly #shown = new Occurrences<EventOf<In>>();
  #showing: Promise<void> = Promise.resolve();

  constructor(
    { received }: NotificationReceiver,
    area: In,
    isAbout: (event: EventOf<In>) => boolean,
    show: (event: EventOf<In>) => void | Promise<void>,
  ) {
    this.#area = area;
    received.each((event) => {
      if (!this.#isOfArea(event) || !isAbout(event)) return;
      this.#showing = this.#showing.then(async () => {
        await show(event);
        this.#shown.add(event);
      });
    });
  }

  /** The first of this type that fits, received before or yet to come. */
  first<Type extends TypeIn<In>>(
    type: Type,
    fits: (event: EventOfType<In, Type>) => boolean = () => true,
  ): Promise<EventOfType<In, Type>> {
    const isIt = (event: EventOf<In>): boolean =>
      this.#isOfType(event, type) && fits(event as unknown as EventOfType<In, Type>);
    return this.#shown.first(isIt) as unknown as Promise<EventOfType<In, Type>>;
  }

  /** True if one of this type was received. */
  has(type: TypeIn<In>): boolean {
    return this.#shown.some((event) => this.#isOfType(event, type));
  }

  /** Resolves when all that were received are shown. */
  async settled(): Promise<void> {
    await this.#showing;
  }

  #isOfArea(event: NotificationEvent): event is EventOf<In> {
    return event.type.startsWith(`labops.${this.#area}.`);
  }

  #isOfType(event: EventOf<In>, type: string): boolean {
    return event.type === `labops.${this.#area}.${type}`;
  }
}
