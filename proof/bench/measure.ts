import type { Measured } from './rounds.js';
import type { Stage } from './stage.js';

export interface MeasureOptions {
  rounds: number;
}

/** One table of the bench. */
export interface Measure {
  name: string;
  /** Stands above its table: what is counted, and in which unit. */
  title: string;
  run(stage: Stage, options: MeasureOptions): Promise<Measured[]>;
}
