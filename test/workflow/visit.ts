import type { AppointmentHandle } from '../../client/appointment/appointment-handle.js';
import type { AppointmentStart } from '../../client/appointment/appointments.js';
import type { SandboxControl } from '../../sandbox/control.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { bookAppointmentId } from '../../protocol/ids.js';
import type { AppointmentResult, AppointmentState } from '../../protocol/appointment/messages.js';
import { eventually } from '../rig/eventually.js';
import type { Notification } from '../rig/notification-receiver.js';
import { patientAddress, patientDetails } from '../rig/cast.js';
import type { Stage } from './story.js';
import { Watched } from './watched.js';

type Move = Parameters<SandboxControl['moveAppointment']>[1];

/** An appointment in a story: the product on one side, the provider on the other. */
export class Visit extends Watched<AppointmentState> {
  readonly handle: AppointmentHandle;
  readonly orderId: string;
  private readonly stage: Stage;

  private constructor(stage: Stage, handle: AppointmentHandle) {
    super(handle);
    this.stage = stage;
    this.handle = handle;
    this.orderId = handle.orderId;
  }

  /** An order of a new user for a blood draw, at home unless the lab test says otherwise; nobody has an appointment yet. */
  static async newOrder(stage: Stage, labTestId: string = labTestIds.atHomePhlebotomy): Promise<string> {
    await stage.syncClock();
    const { order } = await stage.service.orders.create({
      user_id: await stage.newUser(),
      lab_test_id: labTestId,
      patient_details: patientDetails,
      patient_address: { ...patientAddress, access_notes: 'Ring twice' },
    });
    return order.id;
  }

  static async start(stage: Stage, options: Partial<AppointmentStart> = {}): Promise<Visit> {
    const orderId = options.orderId ?? (await Visit.newOrder(stage));
    const visit = new Visit(stage, await stage.product.appointments.start({ ...options, orderId }));
    stage.onClear(() => stage.cancelIfRunning(visit.workflowId));
    return visit;
  }

  /** The workflow that a webhook has started. */
  static async adopted(stage: Stage, orderId: string): Promise<Visit> {
    const handle = await eventually(() => stage.product.appointments.getHandle({ orderId }));
    const visit = new Visit(stage, handle);
    stage.onClear(() => stage.cancelIfRunning(visit.workflowId));
    return visit;
  }

  /** The product chooses the first of the slots. */
  async choose(): Promise<void> {
    await this.stage.syncClock();
    const { slots } = await this.handle.slots();
    await this.handle.choose({ slotId: slots[0]?.id ?? '' });
  }

  /** Moves the appointment, as the provider would. */
  async move(move: Move): Promise<void> {
    await this.stage.syncClock();
    await this.stage.sandbox.moveAppointment(this.orderId, move);
  }

  /** Lets time pass until the appointment ends, and returns its result. */
  async result(): Promise<AppointmentResult> {
    return this.stage.finish(this.workflowId);
  }

  get workflowId(): string {
    return bookAppointmentId(this.orderId);
  }

  get notifications(): Notification[] {
    return this.stage.receiver.aboutAppointmentsOf(this.orderId);
  }

  get notified(): string[] {
    return this.notifications.map(({ type, data }) => {
      const what = data['outcome'] ?? data['phase'] ?? data['reason'] ?? data['reminder'];
      return `${type.replace('appointment.', '')} ${String(what)}`;
    });
  }
}
