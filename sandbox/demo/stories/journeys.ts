import type { StoryStep } from '../../lab-service/orders.js';
import type { PlayedOrder } from '../played-order.js';
import type { Stage } from '../stage.js';

/** Shorter than in life: several are played side by side, and should end together. */

export const toCustomer: readonly StoryStep[] = [
  { after: '1d', status: 'transit_customer' },
  { after: '1d', status: 'with_customer' },
];

export const toLab: readonly StoryStep[] = [
  { after: '1d', awaits: 'registration', status: 'transit_lab' },
  { after: '1d', status: 'delivered_to_lab' },
];

export const withResults: readonly StoryStep[] = [...toCustomer, ...toLab, { after: '2d', status: 'completed' }];

/** As long as in life. */
export const unhurried: readonly StoryStep[] = [
  { after: '1d', status: 'transit_customer' },
  { after: '2d', status: 'out_for_delivery' },
  { after: '8h', status: 'with_customer' },
  { after: '3d', awaits: 'registration', status: 'transit_lab' },
  { after: '2d', status: 'delivered_to_lab' },
  { after: '3d', status: 'completed' },
];

/** The customer registers the kit as soon as it is there. */
export async function registerOnArrival(stage: Stage, order: PlayedOrder): Promise<void> {
  await order.reaches('with_customer');
  stage.acts('the customer registers the kit');
  await order.register();
}

/** The values of the order's results, read through the client, as one line. The sandbox's first kit has three. */
export async function readValues(stage: Stage, order: PlayedOrder): Promise<string> {
  const { results } = await order.handle.results();
  const values = Array.isArray(results) ? results : [];
  stage.check('three values can be read', values.length === 3);
  return values.map(({ name, result, unit }) => `${name} ${result} ${unit}`).join(', ');
}
