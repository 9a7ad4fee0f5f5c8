import { z } from 'zod';
import { appointmentBody } from './appointments.js';
import { command, orText, required, requiredOrder, userIdOrNew } from './control-command.js';
import { inventedAddress, inventedPatient } from './users.js';
import type { Lab } from './lab.js';
import { orderBody } from './order-body.js';
import { requireLabTest, requisitionNotes } from './order-requests.js';
import { moveSchema, storyStepsSchema } from './orders.js';
import { labTestIds } from './seed.js';
import { interpretations, webhook, type Order } from './state.js';

const newOrderSchema = z.strictObject({
  /** Default: a new user with demographics. */
  user_id: z.uuid().optional(),
  /** Default: the seed's first kit. */
  lab_test_id: z.uuid().default(labTestIds.kit),
  passthrough: z.string().nullable().default(null),
  lab_account_id: z.uuid().nullable().default(null),
  /** true: the patient is known from the start. Default false: a kit then awaits its registration. */
  patientKnown: z.boolean().default(false),
  webhook,
});

const appointmentMoveSchema = z.strictObject({
  /** `in_progress`, `completed`, `cancelled`, …; unknown ones too. */
  event_status: z.string().min(1),
  webhook,
});

export type RevealedOrder = ReturnType<typeof revealed>;

/** An order as the service shows it, and what the service does not show. */
function revealed(lab: Lab, order: Order) {
  return {
    order: orderBody(order, lab.state, lab.settings, 'answer'),
    /** Printed on the kit; a register request must name it. Null if there is no kit. */
    kit_sample_id: order.kitSampleId,
    parent_id: order.parentId,
    order_transaction_id: order.transactionId,
    /** As it was sent, even if the deployment does not echo it. */
    passthrough: order.passthrough,
    /** The account's standing comment and the order's own. */
    requisitionNotes: requisitionNotes(order),
  };
}

/** Commands about orders. */
export function orderCommands(lab: Lab) {
  const orderId = z.string();

  return {
    /** Every order, in order of creation. */
    orders: command(z.tuple([]), () => [...lab.state.orders.values()].map((order) => revealed(lab, order))),

    /** One order, with the number that is printed on its kit. */
    order: command(z.tuple([orderId]), (id) => revealed(lab, requiredOrder(lab, id))),

    /** Makes an order in the dashboard: no product placed it, but its webhooks are sent. */
    createOrder: command(z.tuple([newOrderSchema.prefault({})]), (order) => revealed(lab, dashboardOrder(lab, order))),

    /** Adds an event of any status, even one that is unknown or impossible now. */
    move: command(z.tuple([orderId, orText(moveSchema, 'status')]), (id, move) => {
      const order = requiredOrder(lab, id);
      lab.orders.move(order, move);
      return revealed(lab, order);
    }),

    /** Sets the interpretation of an order's results, without an event of the order. */
    interpret: command(
      z.tuple([orderId, z.strictObject({ interpretation: interpretations, webhook })]),
      (id, { interpretation, webhook: isReported }) => {
        const order = requiredOrder(lab, id);
        lab.orders.interpret(order, interpretation, isReported);
        return revealed(lab, order);
      },
    ),

    /** Sends the webhook of a critical result, by default a final one. The order stays as it is. */
    reportCritical: command(
      z.tuple([
        orderId,
        z
          .strictObject({
            status: z.string().min(1).default('final'),
            /** null leaves the field out. Default: the order’s, or `critical`. */
            interpretation: z.string().nullable().optional(),
          })
          .prefault({}),
      ]),
      (id, result) => {
        const order = requiredOrder(lab, id);
        lab.orders.reportCritical(order, result);
        return revealed(lab, order);
      },
    ),

    /** Plays the steps of a story. It ends early if the order is cancelled or deleted. */
    playStory: command(z.tuple([orderId, storyStepsSchema]), (id, steps) =>
      lab.stories.play(requiredOrder(lab, id), steps),
    ),

    /** The service makes a redraw (or recreation) order in the same transaction, with this one as its parent. */
    redraw: command(
      z.tuple([
        orderId,
        z
          .strictObject({
            origin: z.enum(['redraw', 'recreation']).default('redraw'),
            /** Not documented for an order that the service made; default null. */
            passthrough: z.string().nullable().default(null),
            webhook,
          })
          .prefault({}),
      ]),
      (id, { origin, ...options }) => revealed(lab, lab.orders.follow(requiredOrder(lab, id), origin, options)),
    ),

    /** The service forgets the order: reading it is answered 404, and its story ends. */
    deleteOrder: command(z.tuple([orderId]), (id) => {
      lab.state.orders.delete(requiredOrder(lab, id).id);
    }),
  };
}

/** Commands about appointments. */
export function appointmentCommands(lab: Lab) {
  return {
    /** Gives an order's appointment any status; the order follows. */
    moveAppointment: command(
      z.tuple([z.string(), orText(appointmentMoveSchema, 'event_status')]),
      (id, { event_status: status, ...options }) => {
        const appointment = required(lab.appointments.of(requiredOrder(lab, id)), `appointment of the order ${id}`);
        lab.appointments.move(appointment, status, options);
        return appointmentBody(appointment);
      },
    ),
  };
}

function dashboardOrder(lab: Lab, requested: z.output<typeof newOrderSchema>): Order {
  const labTest = requireLabTest(requested.lab_test_id);
  const userId = userIdOrNew(lab, requested.user_id);
  const isKit = labTest.method === 'testkit';
  // Only a kit can be ordered without its patient.
  const patientKnown = requested.patientKnown || !isKit;
  const request = {
    passthrough: requested.passthrough,
    lab_account_id: requested.lab_account_id,
    shipping_details: isKit ? inventedAddress : null,
    patient_details: patientKnown ? inventedPatient : null,
    patient_address: patientKnown ? inventedAddress : null,
  };
  return lab.orders.place({ userId, labTest, request }, { webhook: requested.webhook });
}
