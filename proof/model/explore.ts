import { canonicalJson } from '../../protocol/json.js';
import {
  beginning,
  type Choose,
  type Model,
  type Move,
  type State,
  type Step,
  withoutTimes,
  movesFrom,
  type Left,
} from './model.js';
import type { Message } from './run.js';
import { notificationsOf, play } from './step.js';

export interface Exploration {
  name: string;
  states: number;
  transitions: number;
  ends: number;
  /** Broken claims, each with the shortest way to it. */
  faults: string[];
  /** `<phase> → <phase>` with what led from one to the other. */
  edges: Map<string, Set<string>>;
  isComplete: boolean;
}

/** A broken claim mostly shows in many states: after so many faults the search stops. */
const mostFaults = 20;

/** Breadth first, so the way to a fault is the shortest. Ends with `isComplete: false` at so many states. */
export async function explore<World extends { left: Left }>(
  model: Model<World>,
  mostStates = Infinity,
): Promise<Exploration> {
  const found: Exploration = {
    name: model.name,
    ...{ states: 0, transitions: 0, ends: 0, faults: [], edges: new Map<string, Set<string>>(), isComplete: true },
  };
  const seen = new Set<string>();
  const open: State<World>[] = [];
  const take = (step: Step<World>) => {
    found.transitions += 1;
    const { before, move, after } = step;
    for (const fault of [...generalFaults(step), ...model.faults(step)]) {
      found.faults.push(`${fault}\n  ${after.path.join('\n  ')}`);
    }
    noteEdge(found.edges, model, before, move, after);
    const key = keyOf(model, after);
    if (seen.has(key)) return;
    seen.add(key);
    if (after.result !== undefined) found.ends += 1;
    open.push(after);
  };
  for (const { input, signals = [], world, ...updates } of model.beginnings) {
    const state: State<World> = { input, world, now: beginning, announced: [], ends: 0, path: [] };
    for (const step of await allSteps(model, state, { name: 'start', ...updates }, signals)) take(step);
  }
  for (let state = open.shift(); state; state = open.shift()) {
    if (seen.size >= mostStates || found.faults.length > mostFaults) found.isComplete = false;
    if (!found.isComplete) break;
    for (const move of movesFrom(model, state)) for (const step of await allSteps(model, state, move)) take(step);
  }
  found.states = seen.size;
  return found;
}

/** Every outcome of one thing that happens: one for each way in which the world may answer. */
async function allSteps<World>(
  model: Model<World>,
  before: State<World>,
  move: Move<World>,
  signals: readonly Message[] = [],
): Promise<Step<World>[]> {
  const steps: Step<World>[] = [];
  for (let taken: number[] | undefined = []; taken;) {
    const picked: { of: number; which: number }[] = [];
    const given: number[] = taken;
    const choose: Choose = (of) => {
      const which = given[picked.length] ?? 0;
      picked.push({ of, which });
      return which;
    };
    steps.push(await play(model, before, move, signals, choose));
    taken = following(picked);
  }
  return steps;
}

/** The next combination of choices, like an odometer; undefined after the last. */
function following(picked: readonly { of: number; which: number }[]): number[] | undefined {
  const last = picked.findLastIndex(({ of, which }) => which + 1 < of);
  if (last === -1) return undefined;
  return picked.slice(0, last + 1).map(({ which }, index) => (index === last ? which + 1 : which));
}

function generalFaults<World>({ before, after, announced, calls }: Step<World>): string[] {
  const { failed } = (after.result ?? {}) as { failed?: string };
  const again = announced.filter((id) => before.announced.includes(id));
  const sent = calls.flatMap(({ call }) => notificationsOf(call));
  return [
    ...(failed === undefined ? [] : [`the workflow failed: ${failed}`]),
    ...again.map((id) => `announced twice: ${id}`),
    ...(new Set(sent).size < sent.length ? [`sent twice in one step: ${sent.join(', ')}`] : []),
    ...(after.result === undefined && after.wakesAt === undefined ? ['neither a deadline nor an end'] : []),
  ];
}

/** Two states with the same key have the same future. */
function keyOf<World>(model: Model<World>, state: State<World>): string {
  return withoutTimes(state.now, canonicalJson([state.ends, model.essence(state)]));
}

function noteEdge<World>(
  edges: Map<string, Set<string>>,
  { phaseOf }: Model<World>,
  before: State<World>,
  move: Move<World>,
  after: State<World>,
): void {
  const from = move.name === 'start' ? '[*]' : phaseOf(before);
  const to = phaseOf(after);
  if (from === to) return;
  const edge = `${from} → ${to}`;
  edges.set(edge, (edges.get(edge) ?? new Set()).add(move.name));
}
