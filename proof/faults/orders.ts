import type { OrderHandle, KitOrderResult, OrderPolicy, PlaceKitOrderInput } from '../../client/index.js';
import { importFor, kitFor, patientDetails, registration, shippingDetails } from '../../test/rig/cast.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import type { Scene, Story } from './product.js';

/** Short enough that what follows a lost answer comes within the run. Every other deadline is the default. */
const policy: OrderPolicy = { creationTimeout: '5s', creationSettling: '8s' };

const toCustomer = ['transit_customer', 'with_customer'];
const toLab = ['transit_lab', 'delivered_to_lab'];

/** An order of a story, and what the lab, the post and the customer do with it. */
class Ordered {
  readonly #scene: Scene;
  readonly handle: OrderHandle;
  readonly orderId: string;

  constructor(scene: Scene, handle: OrderHandle, orderId: string) {
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

  /** The kit arrives at home and is registered. */
  async arrives(): Promise<void> {
    await this.moves(toCustomer);
    await this.registers();
  }

  async completes(interpretation: 'normal' | 'abnormal' | 'critical', orderId = this.orderId): Promise<void> {
    await this.moves(toLab, orderId);
    await this.#scene.pause();
    await this.#scene.control.move(orderId, { status: 'completed', interpretation });
  }

  async registers(orderId = this.orderId): Promise<void> {
    const { caller, control } = this.#scene;
    const { kit_sample_id: sampleId, order } = await control.order(orderId);
    const body = registration(sampleId ?? '', order.user_id);
    await caller.command('register', async (options) => this.handle.register({ registration: body, orderId }, options));
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
      this.handle.resolveProblem({ orderId, decision }, options),
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

/** A story of a kit, which ends with its order. */
function kit(
  outcome: string,
  play: (order: Ordered, scene: Scene) => Promise<KitOrderResult | void>,
  more: OrderPolicy = {},
): Story {
  return {
    outcome,
    play: async (scene) => {
      const { reference: _, ...input } = kitFor(await scene.newUser(), scene.reference, more);
      const order = await place(scene, input);
      return (await play(order, scene)) ?? order.result();
    },
  };
}

export const orderStories: Readonly<Record<string, Story>> = {
  results: kit('completed', async (order) => {
    await order.arrives();
    await order.completes('normal');
  }),

  'patient known': {
    outcome: 'completed',
    play: async (scene) => {
      const patient = { patient_details: patientDetails, patient_address: shippingDetails };
      const request = { user_id: await scene.newUser(), lab_test_id: labTestIds.kit, ...patient };
      const order = await place(scene, { kind: 'with_patient', order: request });
      await order.moves(toCustomer);
      await order.completes('abnormal');
      return order.result();
    },
  },

  import: {
    outcome: 'completed',
    play: async (scene) => {
      const request = importFor(await scene.newUser(), `SAMPLE-${scene.reference}`);
      const order = await place(scene, { kind: 'import', order: request });
      await order.moves(['delivered_to_lab']);
      await scene.control.move(order.orderId, { status: 'completed', interpretation: 'normal' });
      return order.result();
    },
  },

  cancelled: kit('cancelled', async (order, { caller, pause }) => {
    await pause();
    await caller.command('cancel', async (options) => order.handle.cancel({}, options));
  }),

  'cancelled too late': kit('completed', async (order, { caller }) => {
    await order.moves(toCustomer);
    await caller.refused('cancel', async (options) => order.handle.cancel({}, options));
    await order.registers();
    await order.completes('normal');
  }),

  replaced: kit(
    'completed',
    async (order) => {
      await order.moves(['transit_customer', 'lost']);
      await order.asksFor('decision_needed');
      const replacement = await order.decides('replace');
      await order.moves(toCustomer, replacement);
      await order.registers(replacement);
      await order.completes('normal', replacement);
    },
    { onLost: 'ask' },
  ),

  abandoned: kit(
    'abandoned',
    async (order) => {
      await order.moves(['transit_customer', 'lost']);
      await order.asksFor('decision_needed');
      await order.decides('abandon');
    },
    { onLost: 'ask' },
  ),

  'sample unusable': kit(
    'failed',
    async (order) => {
      await order.arrives();
      await order.moves([...toLab, 'sample_error']);
    },
    { onSampleError: 'fail', redrawWait: '1s' },
  ),

  redraw: kit(
    'completed',
    async (order, { control }) => {
      await order.arrives();
      await order.moves([...toLab, 'sample_error']);
      const redraw = await control.redraw(order.orderId);
      await order.moves(toCustomer, redraw.order.id);
      await order.completes('normal', redraw.order.id);
    },
    { onSampleError: 'ask' },
  ),

  corrected: kit('completed', async (order, { caller, control }) => {
    await order.arrives();
    await order.completes('normal');
    await order.result();
    await control.move(order.orderId, { status: 'corrected', interpretation: 'abnormal' });
    return caller.until(
      async (options) => order.handle.result(options),
      ({ interpretation }) => interpretation === 'abnormal',
    );
  }),

  critical: kit('completed', async (order, { caller }) => {
    await order.arrives();
    await order.completes('critical');
    await order.asksFor('critical_result');
    const acknowledged = { orderId: order.orderId, by: 'invented-clinician', outcome: 'confirmed' } as const;
    await caller.command('acknowledge', async (options) =>
      order.handle.acknowledgeCriticalResult(acknowledged, options),
    );
  }),
};
