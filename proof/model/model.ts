import type { Workflow } from '@temporalio/common';
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
  type: string;
  workflowId: string;
  workflow: Workflow;
  /** So many milliseconds pass between two things that happen, if no deadline comes before; absent is a minute. */
  pause?: number;
  /** How it can begin: with which input, messages and world. */
  beginnings: readonly ({ input: unknown; signals?: readonly Message[]; world: World } & Pick<
    Move<World>,
    'update' | 'followUp'
  >)[];
  moves: (state: State<World>) => Move<World>[];
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
export function carriedIn(input: unknown): Record<string, unknown> {
  const { carried = {} } = input as { carried?: Record<string, unknown> };
  return (carried['deletion'] as Record<string, unknown> | undefined) ?? carried;
}
