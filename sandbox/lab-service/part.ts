import type { Lab } from './lab.js';

/** A part of the stand-in. It takes from the others what is there now: after a reset they are new. */
export abstract class Part {
  protected readonly lab: Lab;

  constructor(lab: Lab) {
    this.lab = lab;
  }
}
