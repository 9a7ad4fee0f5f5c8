import type { ActivityCall, Answer, Message, Reply } from './run.js';

/** What can happen next. Without a message and without a deadline only the world outside changes. */
export interface Move<World> {
  name: string;
  /** What the world outside is afterwards; the messages are made from it. */
  world?: World;
  signal?: Message;
  update?: Message;
  /** Another one, as soon as the first is answered. */
  followUp?: Message;
  /** The next timer fires. */
  deadline?: true;
  /** The workflow is cancelled: an operator gives it up. */
  cancel?: true;
}

/** One state of a workflow and of the world outside, between two things that happen. */
export interface State<World> {
  /** What a new run would be started with. */
  input: unknown;
  /** Set once the workflow is over. */
  result?: unknown;
  world: World;
  /** Milliseconds since the epoch. */
  now: number;
  /** The ids of everything that was announced so far, in all runs. */
  announced: readonly string[];
  /** How many runs have ended. */
  ends: number;
  /** When the next timer fires; absent after the end. */
  wakesAt?: number;
  /** How it was reached, for the report of a broken claim. */
  path: readonly string[];
}

/** One thing that happened, and all that the workflow did about it. */
export interface Step<World> {
  before: State<World>;
  move: Move<World>;
  after: State<World>;
  /** In their order, with the answers that they got. */
  calls: readonly { call: ActivityCall; answer: Answer }[];
  /** To the last update. */
  reply?: Reply;
  /** What was announced in this step. */
  announced: readonly string[];
}

/** When an activity is called. */
interface Moment {
  /** Milliseconds since the epoch. */
  now: number;
  /** The result of the run before, if that had ended. */
  previous?: unknown;
}

/** Picks one of several possibilities; every one of them is explored. */
export type Choose = (possibilities: number) => number;

export interface Model<World> {
  name: string;
  workflowId: string;
  workflow: (input: never) => Promise<unknown>;
  /** So many milliseconds pass between two things that happen, if no deadline comes before; absent is a minute. */
  pause?: number;
  /** How it can begin: with which input, messages and world. */
  beginnings: readonly ({ input: unknown; signals?: readonly Message[]; world: World } & Pick<
    Move<World>,
    'update' | 'followUp'
  >)[];
  /** What the service may do, while it does anything more; after the end only what is reported matters. */
  events: (state: State<World>) => Move<World>[];
  /** What a product or an operator may ask for, sensible or not. */
  commands: (state: State<World>) => Move<World>[];
  /** True if the next deadline would bring what it has brought before, again and again. */
  repeats?: (state: State<World>) => boolean;
  /** The world's answer to an activity. It may change the world. */
  answer: (world: World, call: ActivityCall, choose: Choose, at: Moment) => Answer;
  /** The part of the state on which the future depends; times count only by what they are before and after. What is announced is not in it: it is checked along the shortest way. */
  essence: (state: State<World>) => unknown;
  /** What this step breaks, in words. */
  faults: (step: Step<World>) => string[];
  /** The phase that the diagram shows. */
  phaseOf: (state: State<World>) => string;
}

/** The first moment of every model: a Friday. */
export const beginning = Date.parse('2024-03-01T10:00:00.000Z');

/** What a run carries: the state itself, or, of a deletion, a part of it. */
export function carriedIn<Carried = Record<string, unknown>>(input: unknown): Carried {
  const { carried = {} } = input as { carried?: { deletion?: object } };
  return (carried.deletion ?? carried) as Carried;
}

/** The outcome of a run that is over. */
export function endOf<World>({ result }: State<World>): string | undefined {
  const { outcome, failed } = (result ?? {}) as { outcome?: string; failed?: string };
  return outcome ?? failed;
}

/** How much more may happen in a world. */
export interface Left {
  events: number;
  commands: number;
  /** Calls that are not answered, or are answered with what is not so. */
  faults: number;
}

/** True if the world uses one of its faults here; both ways are explored. */
export function fails(world: { left: Left }, choose: Choose): boolean {
  if (world.left.faults === 0 || choose(2) === 0) return false;
  world.left.faults -= 1;
  return true;
}

export const noAnswer: Answer = { failure: { type: 'ServiceUnavailable', isFinal: false } };

/** Everything that can happen next. After an end only signals matter: nothing else reaches a workflow that is over. */
export function movesFrom<World extends { left: Left }>(model: Model<World>, state: State<World>): Move<World>[] {
  const { world, result, wakesAt } = state;
  const moves = [
    ...(world.left.events > 0 ? model.events(state) : []),
    ...(world.left.commands > 0 ? model.commands(state) : []),
  ];
  if (result !== undefined) return moves.filter(({ signal }) => signal !== undefined);
  return wakesAt === undefined || model.repeats?.(state)
    ? moves
    : [{ name: 'the next deadline', deadline: true }, ...moves];
}

/** The service does something, and its webhook arrives or is lost. */
export function reportedOrNot<World>(name: string, world: World, signal: Message): Move<World>[] {
  return [
    { name, world, signal },
    { name: `${name}, unreported`, world },
  ];
}

/** The world after one of its events. */
export function afterEvent<World extends { left: Left }>(world: World, change: (next: World) => void): World {
  const next = structuredClone(world);
  next.left.events -= 1;
  change(next);
  return next;
}

/** The world after a command was sent. */
export function afterCommand<World extends { left: Left }>(world: World): World {
  return { ...world, left: { ...world.left, commands: world.left.commands - 1 } };
}

/** Milliseconds since the epoch, in 2020 and later. */
const earliest = Date.parse('2020-01-01T00:00:00Z');

/** A JSON text with every time in it, ISO 8601 or milliseconds since the epoch, written as `past` or `future`. */
export function withoutTimes(now: number, json: string): string {
  return json
    .replaceAll(/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g, (text) => tense(Date.parse(text), now))
    .replaceAll(/\b\d{13}\b/g, (text) => (Number(text) < earliest ? text : tense(Number(text), now)));
}

function tense(time: number, now: number): string {
  return time > now ? '"future"' : '"past"';
}

export interface Upcoming {
  name: string;
  at: number;
}

/**
 * What is to come, in the order in which it will, and how far it is away, in whole units: between two moments there is room for
 * so many others.
 * @param unit milliseconds
 */
export function orderOf(moments: readonly (Upcoming | undefined)[], now: number, unit: number): string[] {
  return moments
    .filter((moment) => moment !== undefined)
    .toSorted((a, b) => a.at - b.at || a.name.localeCompare(b.name))
    .map(({ name, at }) => `${name} ${Math.max(Math.ceil((at - now) / unit), 0)}`);
}
