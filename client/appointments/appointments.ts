import type { Client } from '@temporalio/client';
import type { CancellationReason } from '../../service/appointments.js';
import type { LabService } from '../../service/lab-service.js';
import { bookAppointmentId, isAppointmentAddressable } from '../../workflows/appointment/address.js';
import { appointmentWantedSignal, bookAppointmentName } from '../../workflows/appointment/messages.js';
import { resolveAppointmentPolicy, type AppointmentPolicy } from '../../workflows/appointment/policy.js';
import { bookAppointmentStart } from '../../workflows/appointment/start.js';
import { ServiceNotConfigured, type RefusedField } from '../errors.js';
import { inOneLine, policyFaults } from '../input-faults.js';
import { inWords } from '../workflow-calls.js';
import { AppointmentHandle } from './appointment-handle.js';
import { AppointmentInvalid, AppointmentNotFound, appointmentWords } from './errors.js';

export interface AppointmentStart {
  /** The service's id of an order with the collection method `at_home_phlebotomy`. */
  orderId: string;
  /** Of whoever wanted the appointment first: a start that joins a running one does not change it. */
  policy?: AppointmentPolicy;
}

/** Appointments for a blood draw at home. */
export class AppointmentOperations {
  private readonly temporal: Client;
  private readonly taskQueue: string;
  private readonly service: LabService | undefined;

  constructor(temporal: Client, taskQueue: string, service: LabService | undefined) {
    this.temporal = temporal;
    this.taskQueue = taskQueue;
    this.service = service;
  }

  /**
   * Wants an appointment for an order: joins the workflow that runs for it, also one that a webhook has started, or
   * starts a new one. Returns as soon as that is durable. An appointment that the order has already is found, not made
   * again; then `slots` and `choose`.
   * @throws AppointmentInvalid naming each field and its rule, before anything is started
   */
  async start(start: AppointmentStart): Promise<AppointmentHandle> {
    check(start);
    const { orderId, policy } = start;
    await this.temporal.workflow.signalWithStart(bookAppointmentName, {
      ...bookAppointmentStart(orderId),
      taskQueue: this.taskQueue,
      signal: appointmentWantedSignal,
      signalArgs: [policy ? { policy } : {}],
    });
    return new AppointmentHandle(this.temporal, orderId);
  }

  /** The appointment that is followed, or was last. @throws AppointmentNotFound */
  async get({ orderId }: Pick<AppointmentStart, 'orderId'>): Promise<AppointmentHandle> {
    if (!isAppointmentAddressable(orderId)) throw new AppointmentNotFound('This id cannot be of an order of ours');
    await inWords(appointmentWords, () => this.temporal.workflow.getHandle(bookAppointmentId(orderId)).describe());
    return new AppointmentHandle(this.temporal, orderId);
  }

  /**
   * What `cancel` takes as its reason, straight from the service: the list is the same for every order.
   * @throws ServiceNotConfigured, and the service's own errors
   */
  async cancellationReasons(): Promise<CancellationReason[]> {
    if (!this.service) {
      throw new ServiceNotConfigured('Reasons are read from the service: give `service` to LabOperations');
    }
    return this.service.appointments.cancellationReasons();
  }
}

/** Everything that is wrong, at once. A caller in plain JavaScript is checked by no compiler. */
function check({ orderId, policy }: AppointmentStart): void {
  const faults: RefusedField[] = [];
  if (!isAppointmentAddressable(orderId)) {
    faults.push({ field: 'orderId', message: "must be the service's id of an order" });
  }
  faults.push(...policyFaults(() => resolveAppointmentPolicy(policy)));
  if (faults.length === 0) return;
  throw new AppointmentInvalid(`The appointment is not valid: ${inOneLine(faults)}`, { fields: faults });
}
