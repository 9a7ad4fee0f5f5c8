import type { Appointments } from './appointments.js';
import { createAppointments } from './appointments.js';
import type { ServiceConfig } from './http.js';
import { createTransport } from './http.js';
import type { LabTests } from './lab-tests.js';
import { createLabTests } from './lab-tests.js';
import type { Links } from './link.js';
import { createLinks } from './link.js';
import type { Management } from './management.js';
import { createManagement } from './management.js';
import type { Orders } from './orders.js';
import { createOrders } from './orders.js';
import type { Portal } from './portal.js';
import { createPortal } from './portal.js';
import type { Reports } from './reports.js';
import { createReports } from './reports.js';
import type { Timeseries } from './timeseries.js';
import { createTimeseries } from './timeseries.js';
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
  readonly appointments: Appointments;
  readonly timeseries: Timeseries;
  readonly management: Management;
  /** Waits for calls under way and closes the connections; later calls reject with `ServiceUnreachable`. */
  close(): Promise<void>;
}

export function createLabService(config: ServiceConfig): LabService {
  const transport = createTransport(config);
  const { managementBaseUrl: baseUrl } = config;
  // The first has said what there is to say about the configuration.
  const management = baseUrl === undefined ? transport : createTransport({ ...config, baseUrl, warn: () => undefined });
  return {
    users: createUsers(transport),
    links: createLinks(transport),
    portal: createPortal(transport),
    orders: createOrders(transport),
    labTests: createLabTests(transport),
    reports: createReports(transport),
    appointments: createAppointments(transport),
    timeseries: createTimeseries(transport),
    management: createManagement(management),
    close: async () => {
      await Promise.all([transport.close(), management.close()]);
    },
  };
}
