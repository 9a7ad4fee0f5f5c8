import type { ServiceConfig } from './http.js';
import { createTransport } from './http.js';
import type { LabTests } from './lab-tests.js';
import { createLabTests } from './lab-tests.js';
import type { Links } from './link.js';
import { createLinks } from './link.js';
import type { Orders } from './orders.js';
import { createOrders } from './orders.js';
import type { Portal } from './portal.js';
import { createPortal } from './portal.js';
import type { Reports } from './reports.js';
import { createReports } from './reports.js';
import type { Users } from './users.js';
import { createUsers } from './users.js';

/** One deployment of the lab service. Create one per process: its connections are kept open and shared. */
export interface LabService {
  readonly users: Users;
  readonly links: Links;
  readonly portal: Portal;
  readonly orders: Orders;
  readonly labTests: LabTests;
  readonly reports: Reports;
  /** Waits for calls under way and closes the connections; later calls reject with `ServiceUnreachable`. */
  close(): Promise<void>;
}

export function createLabService(config: ServiceConfig): LabService {
  const transport = createTransport(config);
  return {
    users: createUsers(transport),
    links: createLinks(transport),
    portal: createPortal(transport),
    orders: createOrders(transport),
    labTests: createLabTests(transport),
    reports: createReports(transport),
    close: () => transport.close(),
  };
}
