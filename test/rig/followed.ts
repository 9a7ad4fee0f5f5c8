import type { OrderHandle } from '../../client/index.js';
import type { OrderState } from '../../protocol/order/state.js';

/** The state of an order that has been placed. */
export async function followed(handle: Pick<OrderHandle, 'state'>): Promise<OrderState> {
  const state = await handle.state();
  if (state.phase === 'placing') throw new Error(`The order ${state.reference} is still being placed.`);
  return state;
}

/** The same for what reads states until one is as expected. */
export function following(handle: Pick<OrderHandle, 'state'>): { state(): Promise<OrderState> } {
  return { state: () => followed(handle) };
}
