import { type Appointments, createAppointments } from './appointment/appointments.js';
import { type CentreDirectory, createCentreDirectory } from './appointment/centres.js';
import { type Documents, createDocuments } from './documents.js';
import { checkedDescription } from './description.js';
import { type AddressedConfig, createTransport, type ServiceConfig } from './http/http.js';
import { type LabTests, createLabTests } from './lab-tests.js';
import { type Installation, defaultInstallation } from './installation.js';
import { type Links, createLinks } from './link/link.js';
import { type Orders, createOrders } from './order/orders.js';
import { type Portal, createPortal, type Users, createUsers } from './users.js';
import { type Providers, createProviders } from './link/providers.js';
import { type Reports, createReports } from './report/reports.js';
import { type Timeseries, createTimeseries } from './timeseries.js';
import { type MatchReviews, createMatchReviews } from './match-review/match-reviews.js';
import { type WalkIns, createWalkIns } from './appointment/walk-ins.js';
import {
  createTeams,
  type Teams,
  createOrgLabAccounts,
  type OrgLabAccounts,
  createTeamApiKeys,
  type TeamApiKeys,
  createManagementKeys,
  type ManagementKeys,
} from './management/organisation.js';
import { createWebhooks, type Webhooks } from './management/webhooks.js';

/** One deployment of the lab service. Create one per process: its connections are kept open and shared. */
export interface LabService {
  /** Signs what is created, and says which orders are ours. */
  readonly installation: Installation;
  readonly users: Users;
  readonly links: Links;
  readonly providers: Providers;
  readonly portal: Portal;
  readonly orders: Orders;
  readonly documents: Documents;
  readonly labTests: LabTests;
  readonly reports: Reports;
  readonly appointments: Appointments;
  readonly matchReviews: MatchReviews;
  readonly centres: CentreDirectory;
  readonly walkIns: WalkIns;
  readonly timeseries: Timeseries;
  readonly management: Management;
  /** Waits for calls under way and closes the connections; later calls reject with `ServiceUnreachable`. */
  close(): Promise<void>;
}

export function createLabService(serviceConfig: ServiceConfig): LabService {
  const config = addressed(serviceConfig);
  const transport = createTransport(config);
  const { managementBaseUrl: baseUrl } = config;
  // The first has reported the warnings about the configuration.
  const management = baseUrl === undefined ? transport : createTransport({ ...config, baseUrl, warn: () => undefined });
  return {
    installation: config.installation ?? defaultInstallation,
    users: createUsers(transport),
    links: createLinks(transport),
    providers: createProviders(transport),
    portal: createPortal(transport),
    orders: createOrders(transport, config.orderRules),
    documents: createDocuments(transport),
    labTests: createLabTests(transport),
    reports: createReports(transport),
    appointments: createAppointments(transport),
    matchReviews: createMatchReviews(transport),
    centres: createCentreDirectory(transport),
    walkIns: createWalkIns(transport),
    timeseries: createTimeseries(transport),
    management: {
      teams: createTeams(management),
      webhooks: createWebhooks(management),
      managementKeys: createManagementKeys(management),
      teamApiKeys: createTeamApiKeys(management),
      labAccounts: createOrgLabAccounts(management),
    },
    close: async () => {
      await Promise.all([transport.close(), management.close()]);
    },
  };
}

/** Puts what the description says where the configuration says nothing. @throws TypeError */
function addressed({ description = {}, environment = '', ...config }: ServiceConfig): AddressedConfig {
  const described = checkedDescription(description);
  if (Array.isArray(described)) throw new TypeError(`description: ${described.join('; ')}`);
  const { brand, ordersPath, usersPath, createOrderPath, managementBaseUrl, addresses = {} } = described;
  const baseUrl = config.baseUrl ?? addresses[environment];
  if (baseUrl === undefined) throw new TypeError('baseUrl is missing, and no environment of a description is named');
  return {
    ...config,
    baseUrl,
    brand: config.brand ?? brand,
    ordersPath: config.ordersPath ?? ordersPath,
    usersPath: config.usersPath ?? usersPath,
    createOrderPath: config.createOrderPath ?? createOrderPath,
    managementBaseUrl: config.managementBaseUrl ?? managementBaseUrl,
  };
}

/**
 * The management API of an organisation. Every call carries the management key (`ServiceConfig.managementKey`; without
 * one it is `RequestInvalid`) and rejects with a `ServiceError`; requests are checked before anything is sent. It
 * belongs to a paid tier, so a team without it is refused. An org key may do everything; a team key reaches its own
 * teams and nothing of the organisation: `Unauthorized`.
 *
 * No key and no secret is in an error. Some answers are keys and secrets; their docs say so.
 */
export interface Management {
  readonly teams: Teams;
  readonly webhooks: Webhooks;
  readonly managementKeys: ManagementKeys;
  readonly teamApiKeys: TeamApiKeys;
  readonly labAccounts: OrgLabAccounts;
}
