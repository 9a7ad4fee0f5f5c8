import type { Measured } from './rounds.js';
import type { Stage } from './stage.js';

export interface MeasureOptions {
  rounds: number;
  /** Open orders of the fleet. */
  orders: number;
  /** Prints a line before the table. */
  say: (line: string) => void;
}

/** One table of the bench. */
export interface Measure {
  name: string;
  /** Stands above its table: what is counted, and in which unit. */
  title: string;
  /** True: it takes long, and runs only if `--only` names it. */
  onlyIfNamed?: true;
  run(stage: Stage, options: MeasureOptions): Promise<Measured[]>;
}
