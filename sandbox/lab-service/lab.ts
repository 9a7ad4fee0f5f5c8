import { Appointments } from './appointments.js';
import { Clock, dayMs } from './clock.js';
import { newHttpFaults, RequestLog } from './faults.js';
import { Links } from './links.js';
import { MatchReviews } from './match-reviews.js';
import { Orders, Stories } from './orders.js';
import { Reports } from './reports.js';
import { playedPlace, WebhookEndpoints } from './webhook-endpoints.js';
import { type Settings, settingsSchema } from './settings.js';
import { Slots } from './slots.js';
import { LabState } from './state.js';
import { Webhooks } from './webhooks.js';
import { ServiceProblem } from './validation.js';

/** Everything that one stand-in is made of. Its parts and the routes get it whole, and take from it what is there now. */
export class Lab {
  settings!: Settings;
  clock!: Clock;
  endpoints!: WebhookEndpoints;
  idempotency!: IdempotencyKeys;
  state!: LabState;
  webhooks!: Webhooks;
  links!: Links;
  orders!: Orders;
  slots!: Slots;
  appointments!: Appointments;
  stories!: Stories;
  reports!: Reports;
  matchReviews!: MatchReviews;
  faults!: ReturnType<typeof newHttpFaults>;
  requests!: RequestLog;
  readonly #settings: Partial<Settings>;
  readonly log: (line: string) => void;

  /** @param log gets a line for what an operator of the stand-in should see */
  constructor(settings: Partial<Settings>, log: (line: string) => void = () => undefined) {
    this.#settings = settings;
    this.log = log;
    this.#begin();
  }

  changeSettings(settings: Settings): void {
    if (settings.daySeconds !== this.settings.daySeconds) this.clock.daySeconds = settings.daySeconds;
    this.settings = settings;
  }

  /** Starts over: the seed and the settings of the start, nothing planned, the wall clock's time. */
  async reset(): Promise<void> {
    await this.close();
    this.#begin();
  }

  async close(): Promise<void> {
    this.clock.clear();
    await this.webhooks.close();
  }

  #begin(): void {
    this.settings = settingsSchema.parse(this.#settings);
    this.clock = new Clock(this.settings.daySeconds);
    this.endpoints = new WebhookEndpoints(this.clock, playedPlace);
    this.idempotency = new IdempotencyKeys(this.clock);
    this.state = new LabState();
    this.webhooks = new Webhooks(this);
    this.links = new Links(this);
    this.orders = new Orders(this);
    this.slots = new Slots(this);
    this.appointments = new Appointments(this);
    this.stories = new Stories(this);
    this.reports = new Reports(this);
    this.matchReviews = new MatchReviews(this);
    this.faults = newHttpFaults();
    this.requests = new RequestLog();
  }
}

/**
 * `X-Idempotency-Key`: the first answer to a key is given again, for 24 hours where an order is created, failures too,
 * unless the request that failed said `X-Idempotency-Error: no-cache`. Whether a key with another body is refused is not
 * documented; here it gets the stored answer. The hours are the clock's own, never compressed: a caller's retries are not part of
 * a story.
 */
export class IdempotencyKeys {
  readonly #clock: Clock;
  readonly #answers = new Map<string, { readonly until: number; readonly again: () => object }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param keepFailures false for `no-cache`; @param keptMs how long the answer is given again */
  once(key: string | undefined, keepFailures: boolean, work: () => object, keptMs = dayMs): object {
    if (key === undefined) return work();
    const now = this.#clock.now();
    const stored = this.#answers.get(key);
    if (stored !== undefined && now < stored.until) return stored.again();
    const keep = (again: () => object) => this.#answers.set(key, { until: now + keptMs, again });
    try {
      const body = work();
      keep(() => body);
      return body;
    } catch (problem) {
      if (problem instanceof ServiceProblem && keepFailures) {
        keep(() => {
          throw problem;
        });
      }
      throw problem;
    }
  }
}
