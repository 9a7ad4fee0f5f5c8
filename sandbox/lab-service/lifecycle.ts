/**
 * The statuses of an order by collection method, from the contract's lifecycle.json. Pure. The control interface
 * may give an order any status; only cancelling and the simulated walk follow the rules.
 */

export const collectionMethods = ['testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection'] as const;
export type CollectionMethod = (typeof collectionMethods)[number];

/** The low-level statuses by their top level. */
type Tops = Readonly<
  Partial<Record<'received' | 'collecting_sample' | 'sample_with_lab' | 'completed' | 'failed' | 'cancelled', string>>
>;

const common: Tops = {
  received: 'ordered requisition_created requisition_bypassed',
  completed: 'completed corrected',
  failed: 'sample_error',
  cancelled: 'cancelled',
};
const appointment = 'appointment_pending appointment_scheduled appointment_cancelled';

const topLevelStatuses: Readonly<Record<CollectionMethod, Readonly<Record<string, string>>>> = {
  testkit: topsIn(common, {
    received: 'awaiting_registration testkit_registered registered',
    collecting_sample:
      'transit_customer out_for_delivery with_customer problem_in_transit_customer transit_lab problem_in_transit_lab',
    sample_with_lab: 'delivered_to_lab lab_processing_blocked',
    failed: 'failure_to_deliver_to_customer failure_to_deliver_to_lab lost',
    cancelled: 'do_not_process',
  }),
  walk_in_test: topsIn(common, {
    collecting_sample: `${appointment} redraw_available`,
    sample_with_lab: 'partial_results',
  }),
  at_home_phlebotomy: topsIn(common, {
    collecting_sample: `${appointment} draw_completed`,
    sample_with_lab: 'partial_results',
  }),
  on_site_collection: topsIn(common, { sample_with_lab: 'draw_completed partial_results' }),
};

/** The top level of each status. */
function topsIn(...all: readonly Tops[]): Record<string, string> {
  const pairs = all.flatMap((tops) => Object.entries(tops));
  return Object.fromEntries(pairs.flatMap(([top, statuses]) => statuses.split(' ').map((low) => [low, top])));
}

/** The two spellings of one status. */
const registeredStatuses: readonly string[] = ['testkit_registered', 'registered'];

const earlyStatuses = ['ordered', 'requisition_created', 'requisition_bypassed'];
const appointmentStatuses = appointment.split(' ');

const cancellableStatuses: Readonly<Record<CollectionMethod, readonly string[]>> = {
  testkit: [...earlyStatuses, 'awaiting_registration', ...registeredStatuses],
  walk_in_test: [...earlyStatuses, ...appointmentStatuses],
  at_home_phlebotomy: [...earlyStatuses, ...appointmentStatuses, 'draw_completed'],
  on_site_collection: [...earlyStatuses, 'draw_completed'],
};

/** From here on a kit has left the warehouse. */
const shippedStatuses: readonly string[] = [
  ...['transit_customer', 'out_for_delivery', 'with_customer', 'problem_in_transit_customer'],
  ...['failure_to_deliver_to_customer', 'transit_lab', 'problem_in_transit_lab', 'failure_to_deliver_to_lab'],
  'delivered_to_lab',
];

/** The status after which a status that is not on the success path branches off. */
const branchesAfter: Readonly<Record<string, string>> = {
  requisition_bypassed: 'ordered',
  problem_in_transit_customer: 'transit_customer',
  failure_to_deliver_to_customer: 'transit_customer',
  problem_in_transit_lab: 'transit_lab',
  failure_to_deliver_to_lab: 'transit_lab',
  lost: 'transit_lab',
  lab_processing_blocked: 'delivered_to_lab',
  corrected: 'completed',
  appointment_cancelled: 'appointment_scheduled',
  redraw_available: 'appointment_scheduled',
};

/** `received` of `received.testkit.ordered`. */
export function topLevel(status: string): string {
  return status.split('.')[0] ?? status;
}

/** `ordered` of `received.testkit.ordered`. */
export function lowLevel(status: string): string {
  return status.split('.').at(-1) ?? status;
}

/**
 * The full status for a low-level one. A status that already has dots is taken as it is; an unknown one keeps the
 * present top level, so invented statuses can be played too.
 */
export function fullStatus(method: CollectionMethod, status: string, presentTop: string): string {
  if (status.includes('.')) return status;
  return `${topLevelStatuses[method][status] ?? presentTop}.${method}.${status}`;
}

/** True if the service lets an order of this method go from `low` to cancelled. */
export function isCancellable(method: CollectionMethod, low: string): boolean {
  return cancellableStatuses[method].includes(low);
}

/** True if two low-level statuses are the same one: a registration has two spellings. */
export function sameStatus(one: string, other: string): boolean {
  return one === other || (registeredStatuses.includes(one) && registeredStatuses.includes(other));
}

/** True if a status ends an order for now: results can still be corrected. */
export function isFinal(status: string): boolean {
  return ['completed', 'failed', 'cancelled'].includes(topLevel(status));
}

export function isShipped(low: string): boolean {
  return shippedStatuses.includes(low);
}

/** True if laboratory results can be read from this status on. */
export function hasResults(low: string): boolean {
  return ['completed', 'corrected', 'partial_results'].includes(low);
}

/** Every full status that the simulation may be asked for. */
export function knownStatuses(): string[] {
  return collectionMethods.flatMap((method) =>
    Object.entries(topLevelStatuses[method]).map(([low, top]) => `${top}.${method}.${low}`),
  );
}

/** The two statuses of a registration, as the specification has them; its schema spells the second `registered`. */
export const registrationSteps = ['requisition_created', 'testkit_registered'] as const;

const untilAppointment = ['ordered', 'requisition_created', 'appointment_pending', 'appointment_scheduled'];

/** The way to results of what is not a kit. */
const successPaths = {
  walk_in_test: [...untilAppointment, 'completed'],
  at_home_phlebotomy: [...untilAppointment, 'draw_completed', 'completed'],
  on_site_collection: ['ordered', 'requisition_created', 'draw_completed', 'completed'],
};

function successPath(method: CollectionMethod, registrable: boolean): string[] {
  if (method !== 'testkit') return successPaths[method];
  const journey = ['transit_customer', 'out_for_delivery', 'with_customer'];
  const lab = ['transit_lab', 'delivered_to_lab', 'completed'];
  return registrable
    ? ['ordered', 'awaiting_registration', ...journey, ...registrationSteps, ...lab]
    : ['ordered', 'requisition_created', ...journey, ...lab];
}

/**
 * The low-level statuses that still lie between an order and `final`, along the success path and then off it where
 * `final` is not on it. Statuses that the order has been through are left out.
 *
 * @param past the low-level statuses of the order's events
 * @param registrable a kit whose patient was not known when it was ordered
 */
export function walkTo(
  final: string,
  order: { method: CollectionMethod; past: readonly string[]; registrable: boolean },
): string[] {
  const target = registeredStatuses.includes(final) ? registrationSteps[1] : final;
  if (order.past.includes(target)) return [];
  const path = successPath(order.method, order.registrable);
  const branch = target === 'sample_error' ? path.at(-2) : branchesAfter[target];
  const end = path.indexOf(path.includes(target) ? target : (branch ?? ''));
  const steps = path.slice(0, end + 1).filter((low) => !order.past.includes(low));
  return steps.at(-1) === target ? steps : [...steps, target];
}
