import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createLabService, type LabService } from '../service/lab-service.js';
import type { ServiceConfig } from '../service/http.js';
import type { OrderFinder } from './orders/order-finder.js';
import { OrderOperations } from './orders/orders.js';
import { ReportOperations } from './reports/reports.js';

export interface LabOperationsOptions {
  /** The worker's task queue. Default `lab-operations`. */
  taskQueue?: string;
  /**
   * How to reach the lab service, for what is never in Temporal: lab values. Without it everything else works, and
   * `results` and `biomarkers` are `ServiceNotConfigured`.
   */
  service?: ServiceConfig;
}

/**
 * Lab operations for a product backend: starts and commands the durable workflows that a worker runs. It talks to
 * Temporal only, and to the lab service for lab values.
 */
export class LabOperations {
  readonly orders: OrderOperations;
  readonly reports: ReportOperations;
  private readonly service: LabService | undefined;
  private readonly closeConnection: (() => Promise<void>) | undefined;

  /** @param temporal a client of yours; it stays yours to close */
  constructor(temporal: Client, options: LabOperationsOptions = {}, closeConnection?: () => Promise<void>) {
    this.service = options.service && createLabService(options.service);
    this.closeConnection = closeConnection;
    const finder: OrderFinder = { temporal, ...(this.service && { service: this.service }) };
    const { taskQueue = 'lab-operations' } = options;
    this.orders = new OrderOperations(finder, taskQueue);
    this.reports = new ReportOperations(finder, taskQueue);
  }

  /**
   * Connects by Temporal's standard settings: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS…, or
   * a profile of its configuration file.
   */
  static async connect(options: LabOperationsOptions = {}): Promise<LabOperations> {
    const { connectionOptions, namespace } = loadClientConnectConfig();
    const connection = await Connection.connect(connectionOptions);
    const temporal = new Client({ connection, ...(namespace !== undefined && { namespace }) });
    return new LabOperations(temporal, options, () => connection.close());
  }

  /** Closes what it opened itself: its connection to Temporal, if it connected, and to the service. */
  async close(): Promise<void> {
    await this.service?.close();
    await this.closeConnection?.();
  }
}
