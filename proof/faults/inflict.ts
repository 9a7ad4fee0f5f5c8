import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from './schedule.js';
import type { Stage } from './stage.js';

/** Plays the schedule. Resolves when the last fault is over and everything is up again. */
export async function inflict(stage: Stage, faults: readonly Fault[]): Promise<void> {
  const began = Date.now();
  await Promise.all(
    faults.map(async (fault) => {
      await pause(Math.max(0, began + fault.atMs - Date.now()));
      await play(stage, fault);
    }),
  );
  await heal(stage);
}

async function play(stage: Stage, fault: Fault): Promise<void> {
  const { parts, ways, control, receiver } = stage;
  switch (fault.kind) {
    case 'kill':
      return parts[fault.part].kill(fault.forMs);
    case 'freeze':
      return parts[fault.part].freeze(fault.forMs);
    case 'way':
      ways[fault.way].set(fault.does);
      await pause(fault.forMs);
      return ways[fault.way].set(undefined);
    case 'service': {
      const id = await control.addFault(fault.fault);
      await pause(fault.forMs);
      return control.removeFaults(id);
    }
    case 'webhooks': {
      const id = await control.addWebhookFault(fault.fault);
      await pause(fault.forMs);
      await control.removeWebhookFaults(id);
      if (['hold', 'reorder'].includes(fault.fault.action.kind)) await control.releaseWebhooks('reversed');
      return;
    }
    case 'receiver': {
      const flag = flags[fault.does];
      receiver[flag] = true;
      await pause(fault.forMs);
      receiver[flag] = false;
    }
  }
}

const flags = { refuses: 'isDown', hangs: 'hangs', 'loses answers': 'losesAnswers' } as const;

/** Whatever overlapped, nothing fails any more. */
async function heal({ ways, control, receiver }: Stage): Promise<void> {
  for (const way of Object.values(ways)) way.set(undefined);
  for (const flag of Object.values(flags)) receiver[flag] = false;
  await control.removeFaults();
  await control.removeWebhookFaults();
  await control.releaseWebhooks('reversed');
}
