import {
  createNotificationHandler,
  type NotificationEvent,
  type NotificationHandler,
} from '../../client/notifications/index.js';
import { serveHttp, type HttpEndpoint } from '../temporal/ports.js';

/** Keeps what has happened, so a story can wait for something that may have happened already. */
export class Occurrences<T> {
  readonly #past: T[] = [];
  readonly #listeners = new Set<(item: T) => void>();

  add(item: T): void {
    this.#past.push(item);
    for (const listener of this.#listeners) listener(item);
  }

  /** The first that fits, past or future. */
  first(fits: (item: T) => boolean): Promise<T> {
    const past = this.#past.find(fits);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve) => {
      const listener = (item: T): void => {
        if (!fits(item)) return;
        this.#listeners.delete(listener);
        resolve(item);
      };
      this.#listeners.add(listener);
    });
  }

  /** Calls the listener with each, past or future. */
  each(listener: (item: T) => void): void {
    for (const item of this.#past) listener(item);
    this.#listeners.add(listener);
  }

  some(fits: (item: T) => boolean): boolean {
    return this.#past.some(fits);
  }
}

/** The product's own endpoint for notifications, mounted as a product mounts it. It drops repeats. */
export class NotificationReceiver {
  readonly received = new Occurrences<NotificationEvent>();
  readonly #handler: NotificationHandler;
  #endpoint: HttpEndpoint | undefined;

  /** @param secret `whsec_…`, the worker's NOTIFY_SECRET */
  constructor(secret: string) {
    const handled = new Set<string>();
    this.#handler = createNotificationHandler({
      secrets: [secret],
      on: {},
      // The demo's worker is of this version, so it sends no type that is unknown here.
      onOther: (event) => {
        handled.add(event.id);
        this.received.add(event as NotificationEvent);
      },
      alreadyHandled: (id) => handled.has(id),
    });
  }

  /** Listens on a free port and returns the address. */
  async start(): Promise<string> {
    this.#endpoint = await serveHttp((request, response) => void this.#handler.node(request, response));
    return `${this.#endpoint.url}/notifications`;
  }

  async close(): Promise<void> {
    await this.#endpoint?.close();
  }
}

export type Area = 'order' | 'report' | 'link' | 'appointment' | 'match_review' | 'user';

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
