import type { LabOperations, LabService } from '../../client/index.js';
import type { SandboxControl } from '../../sandbox/control.js';
import type { HealthData } from './health-data.js';
import type { Caller } from './product.js';
import type { Stage } from './stage.js';

/** What one subject's story is played on. */
export interface Scene {
  /** The product's reference, unique on the stage. */
  reference: string;
  /** Distinguishes subjects of one run, from 0 on. */
  index: number;
  caller: Caller;
  operations: LabOperations;
  control: SandboxControl;
  service: LabService;
  reportRoot: string;
  /** What is stored about users; undefined without a database. */
  health: HealthData | undefined;
  /** A new user, whom only this subject has. */
  newUser: () => Promise<string>;
  /** How long a deletion can be undone: longer than a product may have to repeat its request, as in production. */
  graceMs: number;
  /** The time between two steps of the world. */
  pause: () => Promise<void>;
  /** The users of this subject so far. */
  users: string[];
}

export function sceneOf(
  { operations, control, service, reportRoot, health }: Stage,
  caller: Caller,
  { pauseMs, ...given }: Pick<Scene, 'reference' | 'index' | 'graceMs'> & { pauseMs: number },
): Scene {
  const users: string[] = [];
  return {
    ...given,
    ...{ caller, operations, control, service, reportRoot, health, users },
    newUser: async () => {
      const { user } = await control.createUser();
      users.push(user.user_id);
      return user.user_id;
    },
    pause: async () => caller.pause(pauseMs),
  };
}
