import type { KitOrderHandle, KitOrderResult, OrderPolicy, PlaceKitOrderInput } from '../../client/index.js';
import { importFor, kitFor, patientDetails, registration, shippingDetails } from '../../test/rig/cast.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import type { Scene } from './product.js';

/** Short enough that what follows a lost answer comes within the run. Every other deadline is the default. */
const policy: OrderPolicy = { creationTimeout: '5s', creationSettling: '8s' };

/** An order of a story, and what the lab, the post and the customer do with it. */
class Ordered {
  readonly #scene: Scene;
  readonly handle: KitOrderHandle;
  readonly orderId: string;

  constructor(scene: Scene, handle: KitOrderHandle, orderId: string) {
    this.#scene = scene;
    this.handle = handle;
    this.orderId = orderId;
  }

  /** The service reports these statuses, one after the other. */
  async moves(statuses: readonly string[], orderId = this.orderId): Promise<void> {
    for (const status of statuses) {
      await this.#scene.pause();
      await this.#scene.control.move(orderId, status);
    }
  }

  async completes(interpretation: 'normal' | 'abnormal' | 'critical', orderId = this.orderId): Promise<void> {
    await this.moves(['transit_lab', 'delivered_to_lab'], orderId);
    await this.#scene.pause();
    await this.#scene.control.move(orderId, { status: 'completed', interpretation });
  }

  async registers(orderId = this.orderId): Promise<void> {
    const { caller, control } = this.#scene;
    const { kit_sample_id: sampleId, order } = await control.order(orderId);
    const body = registration(sampleId ?? '', order.user_id);
    await caller.command('register', async (options) => this.handle.register(body, { orderId, ...options }));
  }

  async result(): Promise<KitOrderResult> {
    return this.#scene.caller.read(async (options) => this.handle.result(options));
  }

  /** Waits until a person is asked to decide about the kit. */
  async asksFor(reason: string): Promise<void> {
    await this.#scene.caller.until(
      async (options) => this.handle.state(options),
      ({ attention }) => attention.some((each) => each.reason === reason),
    );
  }

  async decides(decision: 'replace' | 'abandon'): Promise<string> {
    const { orderId } = this;
    const state = await this.#scene.caller.command(decision, async (options) =>
      this.handle.resolveProblem(decision, { orderId, ...options }),
    );
    return state.orderId;
  }
}

async function place(scene: Scene, input: Omit<PlaceKitOrderInput, 'reference'>): Promise<Ordered> {
  const { caller, operations, reference } = scene;
  const placed = { ...input, policy: { ...policy, ...input.policy }, reference } as PlaceKitOrderInput;
  const handle = await caller.command('place', async (options) => operations.orders.place(placed, options));
  const orderId = await caller.read(async (options) => handle.orderId(options));
  return new Ordered(scene, handle, orderId);
}

async function placeKit(scene: Scene, more: OrderPolicy = {}): Promise<Ordered> {
  const { reference: _, ...input } = kitFor(await scene.newUser(), scene.reference, more);
  return place(scene, input);
}

const toCustomer = ['transit_customer', 'with_customer'];

export async function results(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene);
  await order.moves(toCustomer);
  await order.registers();
  await order.completes('normal');
  return order.result();
}

export async function patientKnown(scene: Scene): Promise<KitOrderResult> {
  const order = await place(scene, {
    kind: 'with_patient',
    order: {
      user_id: await scene.newUser(),
      lab_test_id: labTestIds.kit,
      patient_details: patientDetails,
      patient_address: shippingDetails,
    },
  });
  await order.moves(toCustomer);
  await order.completes('abnormal');
  return order.result();
}

export async function imported(scene: Scene): Promise<KitOrderResult> {
  const request = importFor(await scene.newUser(), `SAMPLE-${scene.reference}`);
  const order = await place(scene, { kind: 'import', order: request });
  await order.moves(['delivered_to_lab']);
  await scene.control.move(order.orderId, { status: 'completed', interpretation: 'normal' });
  return order.result();
}

export async function cancelled(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene);
  await scene.pause();
  await scene.caller.command('cancel', async (options) => order.handle.cancel(options));
  return order.result();
}

export async function cancelledTooLate(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene);
  await order.moves(toCustomer);
  await scene.caller.refused('cancel', async (options) => order.handle.cancel(options));
  await order.registers();
  await order.completes('normal');
  return order.result();
}

export async function replaced(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene, { onLost: 'ask' });
  await order.moves(['transit_customer', 'lost']);
  await order.asksFor('decision_needed');
  const replacement = await order.decides('replace');
  await order.moves(toCustomer, replacement);
  await order.registers(replacement);
  await order.completes('normal', replacement);
  return order.result();
}

export async function abandoned(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene, { onLost: 'ask' });
  await order.moves(['transit_customer', 'lost']);
  await order.asksFor('decision_needed');
  await order.decides('abandon');
  return order.result();
}

export async function sampleUnusable(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene, { onSampleError: 'fail', redrawWait: '1s' });
  await order.moves(toCustomer);
  await order.registers();
  await order.moves(['transit_lab', 'delivered_to_lab', 'sample_error']);
  return order.result();
}

export async function redrawn(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene, { onSampleError: 'ask' });
  await order.moves(toCustomer);
  await order.registers();
  await order.moves(['transit_lab', 'delivered_to_lab', 'sample_error']);
  const redraw = await scene.control.redraw(order.orderId);
  await order.moves(toCustomer, redraw.order.id);
  await order.completes('normal', redraw.order.id);
  return order.result();
}

export async function corrected(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene);
  await order.moves(toCustomer);
  await order.registers();
  await order.completes('normal');
  await order.result();
  await scene.control.move(order.orderId, { status: 'corrected', interpretation: 'abnormal' });
  return scene.caller.until(
    async (options) => order.handle.result(options),
    ({ interpretation }) => interpretation === 'abnormal',
  );
}

export async function critical(scene: Scene): Promise<KitOrderResult> {
  const order = await placeKit(scene);
  await order.moves(toCustomer);
  await order.registers();
  await order.completes('critical');
  const { orderId } = order;
  await order.asksFor('critical_result');
  await scene.caller.command('acknowledge', async (options) =>
    order.handle.acknowledgeCriticalResult({ orderId, by: 'invented-clinician', outcome: 'confirmed', ...options }),
  );
  return order.result();
}
