import { Appointments } from './appointments.js';
import { Clock } from './clock.js';
import { Connections } from './connections.js';
import { HealthData } from './health-data.js';
import { newHttpFaults } from './faults.js';
import { IdempotencyKeys } from './idempotency.js';
import { Links } from './links.js';
import { Orders } from './orders.js';
import { Reports } from './reports.js';
import { Organisation, PLAYED } from './organisation.js';
import { RequestLog } from './request-log.js';
import { settingsSchema, type Settings } from './settings.js';
import { Slots } from './slots.js';
import { LabState } from './state.js';
import { Stories } from './stories.js';
import { WebhookEndpoints } from './webhook-endpoints.js';
import { Webhooks } from './webhooks.js';

/** Everything that one stand-in is made of. Its parts and the routes get it whole. */
export class Lab {
  /** Those in force. A change replaces them, so they are read at each use. */
  settings: Settings;
  readonly #firstSettings: Settings;
  readonly clock: Clock;
  readonly organisation: Organisation;
  readonly endpoints: WebhookEndpoints;
  readonly idempotency: IdempotencyKeys;
  readonly state = new LabState();
  readonly webhooks = new Webhooks(this);
  readonly connections = new Connections(this);
  readonly healthData = new HealthData(this);
  readonly links = new Links(this);
  readonly orders = new Orders(this);
  readonly slots = new Slots(this);
  readonly appointments = new Appointments(this);
  readonly stories = new Stories(this);
  readonly reports = new Reports(this);
  readonly faults = newHttpFaults();
  readonly requests = new RequestLog();
  readonly log: (line: string) => void;

  /** @param log gets a line for what an operator of the stand-in should see */
  constructor(initial: Partial<Settings>, managementKey?: string, log: (line: string) => void = () => undefined) {
    this.log = log;
    this.settings = settingsSchema.parse(initial);
    this.#firstSettings = this.settings;
    this.clock = new Clock(this.settings.daySeconds);
    this.organisation = new Organisation(this.clock, managementKey);
    this.endpoints = new WebhookEndpoints(this.clock, PLAYED);
    this.idempotency = new IdempotencyKeys(this.clock);
  }

  changeSettings(settings: Settings): void {
    if (settings.daySeconds !== this.settings.daySeconds) this.clock.daySeconds = settings.daySeconds;
    if (settings.webhookUrl !== this.settings.webhookUrl) this.webhooks.enableEndpoint();
    this.settings = settings;
  }

  /** Starts over: the seed and the settings of the start, nothing planned, the wall clock's time. */
  reset(): void {
    this.clock.clear({ reset: true });
    this.settings = this.#firstSettings;
    this.clock.daySeconds = this.settings.daySeconds;
    this.webhooks.clear();
    this.endpoints.clear();
    this.organisation.clear();
    this.stories.clear();
    this.links.clear();
    this.appointments.clear();
    this.slots.clear();
    this.reports.clear();
    this.state.clear();
    this.idempotency.clear();
    this.faults.remove();
    this.requests.clear();
  }

  async close(): Promise<void> {
    this.clock.clear();
    await this.webhooks.close();
  }
}
