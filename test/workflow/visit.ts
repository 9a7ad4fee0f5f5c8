import { expect } from 'vitest';
import type { AppointmentHandle } from '../../client/appointment/appointment-handle.js';
import type { AppointmentStart } from '../../client/appointment/appointments.js';
import type { SandboxControl } from '../../sandbox/control.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { bookAppointmentId } from '../../protocol/ids.js';
import type { AppointmentResult, AppointmentState, Slot } from '../../protocol/appointment/messages.js';
import { eventually } from '../rig/eventually.js';
import type { Notification } from '../rig/notification-receiver.js';
import { patientAddress, patientDetails } from '../rig/cast.js';
import type { Stage } from './story.js';

type Move = Parameters<SandboxControl['moveAppointment']>[1];

/** An appointment in a story: the product on one side, the provider on the other. */
export class Visit {
  readonly handle: AppointmentHandle;
  readonly orderId: string;
  private readonly stage: Stage;

  private constructor(stage: Stage, handle: AppointmentHandle) {
    this.stage = stage;
    this.handle = handle;
    this.orderId = handle.orderId;
  }

  /** An order for a blood draw at home, of a new user; nobody has an appointment yet. */
  static async newOrder(stage: Stage): Promise<string> {
    await stage.syncClock();
    const { order } = await stage.service.orders.create({
      user_id: await stage.newUser(),
      lab_test_id: labTestIds.atHomePhlebotomy,
      patient_details: patientDetails,
      patient_address: { ...patientAddress, access_notes: 'Ring twice' },
    });
    return order.id;
  }

  /** An order for a blood draw at a service centre. */
  static async newWalkIn(stage: Stage): Promise<string> {
    await stage.syncClock();
    const { order } = await stage.service.orders.create({
      user_id: await stage.newUser(),
      lab_test_id: labTestIds.walkIn,
      patient_details: patientDetails,
      patient_address: patientAddress,
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

  async slot(index = 0): Promise<Slot> {
    await this.stage.syncClock();
    const { slots } = await this.handle.slots();
    const slot = slots[index];
    if (!slot) throw new Error('there is no such slot');
    return slot;
  }

  /** The product chooses one of the slots. */
  async choose(index = 0): Promise<Slot> {
    const slot = await this.slot(index);
    await this.handle.choose({ slotId: slot.id });
    return slot;
  }

  /** Moves the appointment, as the provider would. */
  async move(move: Move): Promise<void> {
    await this.stage.syncClock();
    await this.stage.sandbox.moveAppointment(this.orderId, move);
  }

  /** Waits until the state has all this. */
  async expectState(expected: Partial<AppointmentState>): Promise<AppointmentState> {
    return eventually(async () => {
      const state = await this.handle.state();
      expect(state).toMatchObject(expected);
      return state;
    });
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

  /** The notifications about the appointment, in brief. */
  get notified(): string[] {
    return this.notifications.map(({ type, data }) => {
      const what = data['outcome'] ?? data['phase'] ?? data['reason'] ?? data['reminder'];
      return `${type.replace('appointment.', '')} ${String(what)}`;
    });
  }

  /** Waits until the product has been notified of exactly this. */
  async expectNotifications(...expected: string[]): Promise<void> {
    await eventually(() => expect(this.notified).toEqual(expected));
  }
}
