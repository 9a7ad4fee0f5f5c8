import {
  inferredEdges,
  registeredEdges,
  registrableEdges,
  seedEdges,
  textEdges,
} from '../../test/unit/order/lifecycle-edges.js';
import type { Chain } from '../../workflows/order/chain.js';
import { explore, type Exploration } from './explore.js';
import { carriedIn } from './model.js';
import { lowOf } from './order-world.js';
import { orderModel } from './order.js';

/** Enough for every way through the documented statuses. */
const longestWay = 20;

/**
 * The order's way as the lab service documents it: which status follows which, with no webhook lost and every answer given. Two
 * states are the same if the order's status, its phase and the open questions are: that suffices for a picture.
 */
export function exploreDocumented(): Promise<Exploration> {
  const edges = [...registeredEdges, ...registrableEdges, ...textEdges, ...seedEdges, ...inferredEdges];
  const followers: Record<string, string[]> = {};
  for (const [, from, to] of edges) (followers[from] ??= []).push(to);
  const model = orderModel({ events: longestWay, commands: 0, faults: 0, followers, isReported: true });
  return explore({
    ...model,
    // What comes after an end leads back to any phase.
    events: (state) => (state.result === undefined ? model.events(state) : []),
    phaseOf: (state) => `${model.phaseOf(state)}${state.result === undefined ? '' : end}`,
    essence: (state) => {
      const { attention = [] } = carriedIn<Partial<Chain>>(state.input);
      const waits = state.path.length - state.path.findLastIndex((cause) => cause !== 'the next deadline');
      return [
        model.phaseOf(state),
        state.world.orders.map(lowOf),
        attention.map(({ reason }) => reason).toSorted(),
        waits,
      ];
    },
  });
}

/** Marks an outcome, which has the name of a phase in most cases. */
const end = ' (end)';

/** The phases as a Mermaid diagram; on an edge stands everything that leads from one phase to the other. */
export function diagramOf({ edges }: Exploration): string {
  const lines = [...edges].flatMap(([edge, causes]) => {
    const [from = '', to = ''] = edge.split(' → ').map((phase) => phase.replace(end, ''));
    const isEnd = edge.endsWith(end);
    const label = [...new Set([...causes].map(labelOf))].toSorted().join(', ');
    if (from === to) return [`  ${to} --> [*]: ${label}`];
    return [`  ${from} --> ${to}: ${label}`, ...(isEnd ? [`  ${to} --> [*]`] : [])];
  });
  const labelled = lines.filter((line) => !lines.some((other) => other.startsWith(`${line}:`)));
  return ['stateDiagram-v2', ...[...new Set(labelled)].toSorted()].join('\n');
}

function labelOf(cause: string): string {
  return cause.replace(/^(first|second) order: /, '').replace('the next deadline', 'nothing happens in time');
}
