import type { PlayedOrder } from '../played-order.js';
import type { Stage } from '../stage.js';

/** The values of the order's results, read through the client, as one line. The sandbox's first kit has three. */
export async function readValues(stage: Stage, order: PlayedOrder): Promise<string> {
  const { results } = await order.handle.results();
  const values = Array.isArray(results) ? results : [];
  stage.check('three values can be read', values.length === 3);
  return values.map(({ name, result, unit }) => `${name} ${result} ${unit}`).join(', ');
}
