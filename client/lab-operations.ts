import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createLabService, type LabService } from '../service/lab-service.js';
import type { ServiceConfig } from '../service/http.js';
import { AppointmentOperations } from './appointments/appointments.js';
import { readKeyRing } from './config.js';
import { labDataConverter } from './encryption/data-converter.js';
import { parseKeyRing } from './encryption/key-ring.js';
import { LinkOperations } from './links/links.js';
import type { OrderFinder } from './orders/order-finder.js';
import { OrderOperations } from './orders/orders.js';
import { UserOperations } from './users/users.js';
import { RejectedEventOperations } from './rejected-events/rejected-events.js';
import { ReportOperations } from './reports/reports.js';
import { WebhookOperations } from './webhook-endpoints/webhook-endpoints.js';

export interface LabOperationsOptions {
  /** The worker's task queue. Default `lab-operations`. */
  taskQueue?: string;
  /**
   * How to reach the lab service, for what is never in Temporal: lab values, biomarkers, the reasons for
   * cancelling an appointment, and users but for their deletion. Without it everything else works, and these are `ServiceNotConfigured`.
   */
  service?: ServiceConfig;
}

export interface ConnectOptions extends LabOperationsOptions {
  /** The worker's encryption keys, as `parseKeyRing` reads them. Default: the setting LABOPS_ENCRYPTION_KEYS. */
  encryptionKeys?: string;
}

/**
 * Lab operations for a product backend: starts and commands the durable workflows that a worker runs. It talks to
 * Temporal only, and to the lab service for lab values and users.
 */
export class LabOperations {
  readonly orders: OrderOperations;
  readonly links: LinkOperations;
  readonly users: UserOperations;
  readonly reports: ReportOperations;
  readonly rejectedEvents: RejectedEventOperations;
  /** Where the service delivers events; what receives them is `createWebhookHandler`. */
  readonly webhooks: WebhookOperations;
  readonly appointments: AppointmentOperations;
  private readonly service: LabService | undefined;
  private readonly closeConnection: (() => Promise<void>) | undefined;

  /**
   * @param temporal a client of yours; it stays yours to close. Where the worker has encryption keys it needs them too,
   * as its `dataConverter`: see `labDataConverter`
   */
  constructor(temporal: Client, options: LabOperationsOptions = {}, closeConnection?: () => Promise<void>) {
    this.service = options.service && createLabService(options.service);
    this.closeConnection = closeConnection;
    const finder: OrderFinder = { temporal, ...(this.service && { service: this.service }) };
    const { taskQueue = 'lab-operations' } = options;
    this.orders = new OrderOperations(finder, taskQueue);
    this.links = new LinkOperations(temporal, taskQueue);
    this.users = new UserOperations(temporal, taskQueue, this.service);
    this.reports = new ReportOperations(finder, taskQueue);
    this.rejectedEvents = new RejectedEventOperations(temporal, taskQueue);
    this.webhooks = new WebhookOperations(temporal, taskQueue);
    this.appointments = new AppointmentOperations(temporal, taskQueue, this.service);
  }

  /**
   * Connects by Temporal's standard settings: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS…, or
   * a profile of its configuration file; with the encryption keys of the setting LABOPS_ENCRYPTION_KEYS.
   * @throws KeyRingInvalid
   */
  static async connect(options: ConnectOptions = {}): Promise<LabOperations> {
    const { encryptionKeys } = options;
    const ring = encryptionKeys === undefined ? readKeyRing() : parseKeyRing(encryptionKeys);
    const { connectionOptions, namespace } = loadClientConnectConfig();
    const connection = await Connection.connect(connectionOptions);
    const temporal = new Client({
      connection,
      ...(namespace !== undefined && { namespace }),
      ...(ring && { dataConverter: labDataConverter(ring) }),
    });
    return new LabOperations(temporal, options, () => connection.close());
  }

  /** Closes what it opened itself: its connection to Temporal, if it connected, and to the service. */
  async close(): Promise<void> {
    await this.service?.close();
    await this.closeConnection?.();
  }
}
