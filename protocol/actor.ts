import { isReference, referencePattern } from './ids.js';

/** The sender of a command. */
export interface OfActor {
  /** Who sends it: your id of a person or a program, `^[A-Za-z0-9._:-]{1,128}$`, never a name. */
  by?: string;
}

export const isActor = isReference;

/** The rule for a field that names an actor, as a fault's text. */
export const actorRule = `must be an id that matches ${referencePattern.source}, not a name`;
