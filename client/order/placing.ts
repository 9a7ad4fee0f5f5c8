import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { askingMarkerSchema, type Marker } from '../../service/lab-tests.js';
import { answerFaults } from '../../service/order/answers.js';
import { importOrderRequestSchema, orderRequestSchema, testkitOrderRequestSchema } from '../../service/order/orders.js';
import { brokenRulesOf } from '../../service/validation.js';
import { canonicalJson } from '../../protocol/json.js';
import { isAddressable, ofCanonicalUser } from '../../protocol/ids.js';
import { kitKinds, type KitRequest, type PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import type { CallOptions } from '../call-options.js';
import type { RefusedField } from '../../service/lab-operations-error.js';
import { policyFaults, referenceFaults, refuseFaulty, unknownFaults } from '../input-faults.js';
import { OrderInvalid } from './errors.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/* The input of a placing: its check before anything is started, and what makes it the same order again. */

export interface PlaceOptions extends CallOptions {
  /**
   * The markers that are ordered, as the catalogue shows them (`catalogue.labTest(id)`, or `catalogue.markers` for single ones):
   * the order's `aoe_answers` are checked against their questions before anything is started. Without them the worker checks an
   * order with answers just before it sends it.
   */
  markers?: readonly Pick<Marker, 'id' | 'aoe'>[] | null | undefined;
}

/**
 * Refuses everything that is wrong, at once. A caller in plain JavaScript is checked by no compiler.
 * @throws OrderInvalid
 */
export function checkPlacing(input: PlaceKitOrderInput, markers: PlaceOptions['markers']): void {
  const { reference, kind: _kind, order: _order, policy, ...unknown } = input;
  const ofOrder = orderFaults(input);
  const faults = [
    ...unknownFaults(unknown),
    ...referenceFaults(reference),
    ...ofOrder,
    // What is not an order has no answers.
    ...(ofOrder.length === 0 ? wrongAnswers(input, markers) : []),
    ...policyFaults(() => resolvePolicy('order', policy)),
  ];
  refuseFaulty('The order', faults, OrderInvalid);
}

const schemas: Readonly<Record<KitRequest['kind'], z.ZodType>> = {
  unregistered: testkitOrderRequestSchema,
  with_patient: orderRequestSchema,
  import: importOrderRequestSchema,
};

function orderFaults({ kind, order }: PlaceKitOrderInput): RefusedField[] {
  if (!kitKinds.includes(kind)) return [{ field: 'kind', message: `must be one of ${kitKinds.join(', ')}` }];
  if (typeof order !== 'object' || order === null) return [{ field: 'order', message: 'is required' }];
  if ('passthrough' in order) {
    return [{ field: 'order.passthrough', message: 'must be absent: it is reserved for the reference' }];
  }
  const faults = brokenRulesOf(schemas[kind], order).map(({ field, message }) => ({
    field: `order.${field}`,
    message,
  }));
  // It becomes a search attribute, which Temporal does not encrypt: a product's own key may be an e-mail address.
  const isUser = typeof order.user_id !== 'string' || isAddressable(order.user_id);
  return isUser ? faults : [...faults, { field: 'order.user_id', message: "must be the service's id of a user" }];
}

function wrongAnswers({ kind, order }: PlaceKitOrderInput, markers: PlaceOptions['markers']): RefusedField[] {
  if (markers == null) return [];
  if (!Array.isArray(markers)) return [{ field: 'markers', message: 'must be a list of markers' }];
  const read = markers.map((marker: unknown) => askingMarkerSchema.safeParse(marker));
  const unreadable = read.flatMap(({ success }, index) => (success ? [] : [index]));
  if (unreadable.length > 0) {
    const message = 'must be a marker as the catalogue shows it, with its id';
    return unreadable.map((index) => ({ field: `markers.${index}`, message }));
  }
  if (kind !== 'with_patient') return [];
  const asking = read.flatMap(({ data }) => data ?? []);
  return answerFaults(asking, order.aoe_answers).map(({ field, message }) => ({ field: `order.${field}`, message }));
}

/** A user's id in either spelling is the same order. */
export function withCanonicalUser(input: PlaceKitOrderInput): PlaceKitOrderInput {
  return { ...input, order: ofCanonicalUser(input.order) } as PlaceKitOrderInput;
}

/**
 * Identifies an order without keeping its details readable. The policy is not part of it: a product that changes its
 * policy between a call and its retry means the same order, which keeps the first policy.
 */
export function placingDigest({ kind, order }: PlaceKitOrderInput): string {
  return createHash('sha256').update(canonicalJson({ kind, order })).digest('hex');
}
