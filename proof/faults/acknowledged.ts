import type { Ending } from './ending.js';
import type { Stored } from './health-data.js';

/** What must be true in the end if a command was acknowledged, by the command's name. */
const effects: Record<string, (ending: Ending) => boolean> = {
  register: ({ truth }) => truth.orders.some(({ isRegistered }) => isRegistered),
  cancel: ({ truth }) => truth.orders.every(({ statuses }) => statuses.at(-1) === 'cancelled'),
  replace: ({ truth }) => truth.orders.length === 2,
  abandon: ({ result }) => (result as { outcome?: string }).outcome === 'abandoned',
  acknowledge: ({ result }) => JSON.stringify(result).includes('critical_result_acknowledged'),
  submit: ({ truth }) => truth.jobs.length === 1,
  undo: ({ truth }) => truth.deleted === 0,
  delete: ({ truth, answers }) =>
    answers.some(({ command }) => command === 'undo')
      ? truth.deleted === 0
      : truth.deleted === 1 && truth.health.every(isNothing),
};

/** Every acknowledged command that the service or the result does not show in the end. */
export function acknowledgedButLost(endings: readonly Ending[]): string[] {
  return endings.flatMap((ending) => {
    const { name, story, error, answers } = ending;
    if (error !== undefined) return [];
    const lost = answers.filter(({ command, answer }) => answer === 'done' && effects[command]?.(ending) === false);
    return lost.map(({ command }) => `${name} (${story}): "${command}" was acknowledged, and its effect is not there`);
  });
}

function isNothing(stored: Stored | undefined): boolean {
  return stored === undefined || stored.steps.length + stored.samples + stored.streams === 0;
}
