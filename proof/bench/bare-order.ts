import { condition, defineQuery, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import type { BareActivities } from './bare-activities.js';

/*
 * The measure of `npm run bench`: the least that a Temporal workflow needs to follow an order from its placement to its
 * results. It makes the same calls, receives the same seven events and has a deadline at every wait. It writes no search
 * attributes, recognises no repeated or late event, places an order twice if an answer is lost, and takes no commands.
 */

export interface BareOrderInput {
  reference: string;
  userId: string;
  labTestId: string;
}

export interface BareEvent {
  status: string;
  at: string;
  /** Printed on the kit that arrived: it is registered now. */
  sampleId?: string;
}

export interface BareState {
  orderId: string;
  status: string;
  timeline: BareEvent[];
}

export const bareOrderName = 'bareOrder';
export const eventSignal = defineSignal<[BareEvent]>('event');
export const bareStateQuery = defineQuery<BareState>('state');

const { placeOrder, registerKit, readOrder } = proxyActivities<BareActivities>({ startToCloseTimeout: '1 minute' });

export async function bareOrder(input: BareOrderInput): Promise<BareState> {
  const state: BareState = { orderId: '', status: 'placing', timeline: [] };
  const received: BareEvent[] = [];
  setHandler(eventSignal, (event) => void received.push(event));
  setHandler(bareStateQuery, () => state);
  state.orderId = await placeOrder(input);
  while (!state.status.startsWith('completed')) {
    await condition(() => received.length > 0, '7 days');
    const event = received.shift();
    if (!event) continue;
    state.status = event.status;
    state.timeline.push(event);
    if (event.sampleId !== undefined) await registerKit({ userId: input.userId, sampleId: event.sampleId });
  }
  state.status = await readOrder(state.orderId);
  return state;
}
