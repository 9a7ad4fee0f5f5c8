import { Appointments } from './appointments.js';
import { Clock } from './clock.js';
import { Connections } from './connections.js';
import { HealthData } from './health-data.js';
import { newHttpFaults } from './http-faults.js';
import { IdempotencyKeys } from './idempotency.js';
import { Links } from './links.js';
import { Orders, type CriticalResult, type OrderEventType } from './orders.js';
import { Reports } from './reports.js';
import { Organisation, PLAYED } from './organisation.js';
import { RequestLog } from './request-log.js';
import { SettingsStore, type Settings } from './settings.js';
import { Slots } from './slots.js';
import { LabState, type Order } from './state.js';
import { STORIES, Stories } from './stories.js';
import { WebhookEndpoints } from './webhook-endpoints.js';
import { Webhooks } from './webhooks.js';

/** Everything that one stand-in is made of, wired together. Routes get it whole. */
export class Lab {
  readonly settings: SettingsStore;
  readonly clock: Clock;
  readonly state = new LabState();
  readonly organisation: Organisation;
  readonly endpoints: WebhookEndpoints;
  readonly webhooks: Webhooks;
  readonly connections: Connections;
  readonly healthData: HealthData;
  readonly links: Links;
  readonly orders: Orders;
  readonly slots: Slots;
  readonly appointments: Appointments;
  readonly stories: Stories;
  readonly reports: Reports;
  readonly idempotency: IdempotencyKeys;
  readonly faults = newHttpFaults();
  readonly requests = new RequestLog();

  constructor(initial: Partial<Settings>, managementKey?: string) {
    this.settings = new SettingsStore(initial);
    this.clock = new Clock(this.settings.current.daySeconds);
    this.organisation = new Organisation(this.clock, managementKey);
    this.endpoints = new WebhookEndpoints(this.clock, PLAYED);
    this.webhooks = new Webhooks(this.state, this.clock, this.settings, this.endpoints);
    this.connections = new Connections(this.settings, this.webhooks);
    this.healthData = new HealthData(this.settings, this.webhooks);
    this.links = new Links(this.clock, this.settings, this.connections);
    this.orders = new Orders(this.state, this.clock, this.settings, {
      announced: (eventType: OrderEventType, order: Order) => this.webhooks.announce(eventType, order),
      criticalResult: (order: Order, result: CriticalResult) => this.webhooks.announceCriticalResult(order, result),
      created: (order: Order) => this.#playByItself(order),
      registered: (order: Order) => this.stories.registered(order),
      cancelled: (order: Order) => this.appointments.orderCancelled(order),
    });
    this.slots = new Slots(this.clock, this.settings);
    this.appointments = new Appointments(this.clock, this.settings, this.slots, this.orders, (eventType, appointment) =>
      this.webhooks.announceAppointment(eventType, appointment),
    );
    this.stories = new Stories(this.clock, this.orders);
    this.reports = new Reports(this.clock, this.settings, (eventType, job) =>
      this.webhooks.announceJob(eventType, job),
    );
    this.idempotency = new IdempotencyKeys(this.clock);
  }

  changeSettings(changes: Partial<Settings>): void {
    this.settings.update(changes);
    if (changes.daySeconds !== undefined) this.clock.daySeconds = changes.daySeconds;
    if (changes.webhookUrl !== undefined) this.webhooks.enableEndpoint();
  }

  /** As if started anew: the seed and the settings of the start, nothing planned, the wall clock's time. */
  reset(): void {
    this.clock.clear({ reset: true });
    this.settings.reset();
    this.clock.daySeconds = this.settings.current.daySeconds;
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

  #playByItself(order: Order): void {
    const name = this.settings.current.storyForNewOrders;
    const story = name === null ? undefined : STORIES[name];
    if (story !== undefined && order.labTest.method === 'testkit') this.stories.play(order, story);
  }
}
