import { standingOf, type Standing } from '../../protocol/order/lifecycle.js';
import type { OrderEvent } from '../../service/order/snapshot.js';
import type { KitOrderResult } from '../../protocol/order/messages.js';
import type { Chain } from '../../workflows/order/chain.js';
import { momentsOf } from '../../workflows/order/deadlines.js';
import { carriedIn, type State, orderOf } from './model.js';
import type { OrderWorld } from './order-world.js';

/*
 * What the future of an order depends on. Two histories with the same essence go on alike, though their events differ: an order
 * counts by what its events mean, and an event's id by its place among those that are still referred to.
 */

const day = 86_400_000;

/** Puts the ids of one order's events into a canonical form: 0 for the first that anything refers to, then 1, and so on. */
type Renumber = (id: number | undefined) => number | undefined;

export function orderEssence({ input, world, result, now }: State<OrderWorld>): unknown {
  if (result !== undefined) return [endEssence(result as Partial<KitOrderResult>), worldEssence(world, {})];
  const chain = carriedIn<Chain>(input);
  return [chainEssence(chain, world), worldEssence(world, chain), upcoming(chain, now)];
}

function upcoming(chain: Chain, now: number): string[] {
  const { recheckAt, unansweredRead } = chain;
  const again = unansweredRead && { name: 'read again', at: unansweredRead.againAt };
  const recheck = recheckAt === undefined ? undefined : { name: 'recheck', at: recheckAt };
  return orderOf([...momentsOf(chain), again, recheck], now, day);
}

/** A later run learns of an end by its result. */
function endEssence({
  outcome,
  chain = [],
  replacements = [],
  attention = [],
  criticalResults = [],
}: Partial<KitOrderResult>): unknown {
  const questions = attention.map(({ reason, orderId }) => `${reason} ${orderId}`).toSorted();
  const critical = criticalResults.map(({ isOpen, status }) => [isOpen, status]);
  return [
    outcome,
    chain.map(({ orderId, phase }) => [orderId, phase]),
    replacements.map(({ orderId }) => orderId),
    questions,
    critical,
  ];
}

function chainEssence(chain: Chain, world: OrderWorld): unknown {
  const { journal: _journal, outbox: _outbox, ...rest } = chain;
  const {
    policy: _policy,
    unansweredRead,
    raised: _raised,
    orders,
    announced,
    replacements,
    resolutions,
    criticalResults,
    ...others
  } = rest;
  const numbers = new Map<string, Renumber>();
  for (const { orderId, events } of world.orders) {
    const known = orders.find((order) => order.orderId === orderId)?.events ?? [];
    const standings = [standingOf(events), standingOf(known)];
    const marks = [
      ...announced.filter((mark) => mark.orderId === orderId).map(({ eventId }) => eventId),
      ...replacements.filter(({ replaces }) => replaces === orderId).map(({ atEventId }) => atEventId),
      ...resolutions.filter((answer) => answer.orderId === orderId).map(({ eventId }) => eventId),
    ];
    numbers.set(orderId, renumbering([...standings.flatMap(idsIn), ...marks]));
  }
  const numberOf = (orderId: string, id: number | undefined) => (numbers.get(orderId) ?? ((same) => same))(id);
  const meaning = (orderId: string, events: readonly OrderEvent[]) => {
    const renumber: Renumber = (id) => numberOf(orderId, id);
    // The second shows where the kit is, which an end hides: it may be taken back.
    return [events, [...events, received]].map((each) => inNumbers(standingOf(each), renumber));
  };
  const shortened = JSON.stringify([others, criticalResults]).replaceAll(
    keyPattern,
    (text, orderId: string, id: string) => {
      const number = numberOf(orderId, Number(id));
      return number === undefined ? 'past' : `${orderId}/#${number}${text.at(-1)}`;
    },
  );
  return {
    shortened,
    unanswered: unansweredRead?.orderId,
    orders: orders.map(({ orderId, events, latest }) => [orderId, meaning(orderId, events), { ...latest, events: [] }]),
    announced: announced.map((mark) => ({ ...mark, eventId: numberOf(mark.orderId, mark.eventId) })),
    replacements: replacements.map((each) => ({ ...each, atEventId: numberOf(each.replaces, each.atEventId) })),
    resolutions: resolutions.map((answer) => ({ ...answer, eventId: numberOf(answer.orderId, answer.eventId) })),
  };
}

/** The world, with what the workflow does not know yet word by word, and the rest by its meaning. */
function worldEssence(world: OrderWorld, chain: Partial<Chain>): unknown {
  const { orders, ...rest } = world;
  return {
    ...rest,
    orders: orders.map(({ events, ...order }) => {
      const known = chain.orders?.find(({ orderId }) => orderId === order.orderId)?.events.length ?? 0;
      return [order, events.slice(known).map(({ status }) => status), standingOf(events).phase, events.at(-1)?.status];
    }),
  };
}

const received: OrderEvent = { id: 1_000_000, at: '9999-01-01T00:00:00.000Z', status: 'received.testkit.probe' };

/** `<order id>/<event id>.<name>`, in keys of deadlines and questions. */
const keyPattern = /([0-9a-f-]{36})\/(\d+)([./])/g;

function idsIn({ arrivedBy, problem, last }: Standing): number[] {
  return [arrivedBy, problem?.eventId, last?.id].filter((id) => id !== undefined);
}

function renumbering(ids: readonly number[]): Renumber {
  const sorted = [...new Set(ids)].toSorted((a, b) => a - b);
  return (id) => {
    const index = id === undefined ? -1 : sorted.indexOf(id);
    return index === -1 ? undefined : index;
  };
}

function inNumbers({ arrivedBy, problem, last, lastChange, ...standing }: Standing, renumber: Renumber): unknown {
  return {
    ...standing,
    arrivedBy: renumber(arrivedBy),
    problem: problem && { ...problem, eventId: renumber(problem.eventId) },
    last: last && { at: last.at, status: last.status, id: renumber(last.id) },
    lastChange: lastChange?.status,
  };
}
