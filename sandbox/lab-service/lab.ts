import { Appointments } from './appointments.js';
import { Clock } from './clock.js';
import { newHttpFaults } from './faults.js';
import { IdempotencyKeys } from './idempotency.js';
import { Links } from './links.js';
import { MatchReviews } from './match-reviews.js';
import { Orders } from './orders.js';
import { Reports } from './reports.js';
import { playedPlace } from './org-access.js';
import { RequestLog } from './http-fault-hooks.js';
import { settingsSchema, type Settings } from './settings.js';
import { Slots } from './slots.js';
import { LabState } from './state.js';
import { Stories } from './stories.js';
import { WebhookEndpoints } from './webhook-endpoints.js';
import { Webhooks } from './webhooks.js';

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
