import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Address, PatientDetails } from './order-requests.js';
import type { LabTest } from './seed.js';
import type { UserInfo } from './users.js';

/** The state of the service. In memory only: a new process starts with the seed. */

/** A source that a user is connected to. */
export interface Connection {
  readonly slug: string;
  readonly createdAt: number;
  /** The provider's own name of the user's account. */
  readonly providerId: string;
  /** Why nothing is fetched any more; null while all is well. */
  readonly error: { readonly type: string; readonly at: number } | null;
}

export interface User {
  readonly id: string;
  readonly createdAt: number;
  client_user_id: string;
  readonly fallback_time_zone: string | null;
  readonly fallback_birth_date: string | null;
  readonly ingestion_start: string | null;
  readonly ingestion_end: string | null;
  /** Demographics; null until they are set. */
  info: UserInfo | null;
  connections: readonly Connection[];
}

/** A user whose deletion is scheduled: it can still be restored. */
export interface DeletedUser {
  readonly user: User;
  readonly stopErasing: () => void;
}

export interface OrderEvent {
  readonly id: number;
  readonly createdAt: number;
  /** `received.testkit.ordered` */
  readonly status: string;
  readonly statusDetail: string | null;
}

export interface Shipment {
  readonly id: string;
  readonly createdAt: number;
  readonly outboundTrackingNumber: string;
  readonly inboundTrackingNumber: string;
}

export type Origin = 'initial' | 'redraw' | 'recreation';
export const interpretations = z.enum(['normal', 'abnormal', 'critical', 'unknown']);
export type Interpretation = z.output<typeof interpretations>;

/** false: no webhook reports it. */
export const webhook = z.boolean().default(true);

/** What a request says of a new order, in the service's spelling; null where it says nothing. */
export interface OrderRequest {
  readonly passthrough: string | null;
  /** As the creator sent it; null when it named none. */
  readonly lab_account_id: string | null;
  readonly activate_by: string | null;
  readonly priority: boolean;
  readonly billing_type: string | null;
  readonly icd_codes: readonly string[] | null;
  readonly clinical_notes: string | null;
  readonly shipping_details: Address | null;
  patient_details: PatientDetails | null;
  patient_address: Address | null;
  physician: { readonly first_name: string; readonly last_name: string; readonly npi: string } | null;
}

export interface Order extends OrderRequest {
  readonly id: string;
  readonly labTest: LabTest;
  readonly transactionId: string;
  readonly origin: Origin;
  readonly parentId: string | null;
  readonly createdAt: number;
  readonly detailsId: string;
  /** Printed on the kit: what the person at home reads off it. Null for orders without a kit. */
  readonly kitSampleId: string | null;
  /** A kit whose patient was not known when it was ordered. */
  readonly registrable: boolean;
  userId: string;
  updatedAt: number;
  events: readonly OrderEvent[];
  sampleId: string | null;
  healthInsuranceId: string | null;
  /** The latest one's. */
  appointmentId: string | null;
  hasRequisition: boolean;
  shipment: Shipment | null;
  interpretation: Interpretation | null;
  hasMissingResults: boolean | null;
  /** When results were last reported; null while there are none. */
  resultsAt: number | null;
}

export interface PortalLink {
  readonly url: string;
  readonly context: string;
  readonly userId: string;
  readonly orderId: string | null;
  readonly expiresInSeconds: number;
}

/** The service's event ids are one counter for all orders: ascending, not dense, and far from 1. */
const firstEventId = 4056;
const eventIdGaps = [1, 1, 3, 1, 2] as const;

export class LabState {
  readonly users = new Map<string, User>();
  readonly usersByClientId = new Map<string, User>();
  /** By id, in order of deletion. */
  readonly deletedUsers = new Map<string, DeletedUser>();
  /** In order of creation. */
  readonly orders = new Map<string, Order>();
  portalLinks: readonly PortalLink[] = [];
  #eventCount = 0;
  #nextEventId = firstEventId;

  nextEventId(): number {
    const id = this.#nextEventId;
    this.#nextEventId += eventIdGaps[this.#eventCount++ % eventIdGaps.length] ?? 1;
    return id;
  }

  addUser(user: User): void {
    this.users.set(user.id, user);
    this.usersByClientId.set(user.client_user_id, user);
  }

  renameUser(user: User, clientUserId: string): void {
    this.usersByClientId.delete(user.client_user_id);
    user.client_user_id = clientUserId;
    this.usersByClientId.set(clientUserId, user);
  }

  /** The user is as good as gone; another one may take its client id. */
  setAside(user: User, stopErasing: () => void): void {
    this.users.delete(user.id);
    this.usersByClientId.delete(user.client_user_id);
    this.deletedUsers.set(user.id, { user, stopErasing });
  }

  /** The user of the latest deletion that fits. */
  deletedUser(fits: (user: User) => boolean): DeletedUser | undefined {
    return [...this.deletedUsers.values()].findLast(({ user }) => fits(user));
  }

  restore(user: User): void {
    this.deletedUsers.delete(user.id);
    this.addUser(user);
  }

  eraseUser(user: User): void {
    this.deletedUsers.delete(user.id);
    this.portalLinks = this.portalLinks.filter(({ userId }) => userId !== user.id);
  }

  /** The order whose kit carries this sample id, printed or registered; the latest if there are several. */
  orderOfSample(sampleId: string): Order | undefined {
    return this.#orders((order) => order.kitSampleId === sampleId || order.sampleId === sampleId).at(-1);
  }

  /** In order of creation, as in each of these lists. */
  ordersOfUser(userId: string): Order[] {
    return this.#orders((order) => order.userId === userId);
  }

  ordersOfTransaction(transactionId: string): Order[] {
    return this.#orders((order) => order.transactionId === transactionId);
  }

  #orders(fits: (order: Order) => boolean): Order[] {
    return [...this.orders.values()].filter(fits);
  }
}

export function newId(): string {
  return randomUUID();
}

/** The number that is printed on a kit. Not documented; assumed to be a short code. */
export function newKitSampleId(): string {
  return `KIT${randomBytes(5).toString('hex').toUpperCase()}`;
}
