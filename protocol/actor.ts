import { isReference, referencePattern } from './ids.js';

/** A command says who sends it. */
export interface OfActor {
  /** Who sends it: your id of a person or a program, `^[A-Za-z0-9._:-]{1,128}$`, never a name. */
  by?: string;
}

export const isActor = isReference;

/** What a field that names an actor must be. */
export const actorRule = `must be an id that matches ${referencePattern.source}, not a name`;
