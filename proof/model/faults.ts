import type { Choose } from './model.js';
import type { Answer } from './run.js';

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
