import type { Command } from 'commander';
import type { PlacingSwitch } from '../operators/placing-stop.js';
import type { CommandLine } from './command-line.js';
import { moment } from './output.js';

const shows = '`labops placing show` shows whether placing is stopped';

/** The stop of placing. */
export function placingCommands(program: Command, commandLine: CommandLine): void {
  const placing = program
    .command('placing')
    .description('stop everything that creates orders and appointments, or resume it');
  const show = (state: PlacingSwitch): void => commandLine.print(state, () => textOf(state));
  placing
    .command('stop')
    .description('order, replace and book nothing until it is resumed; requested orders wait')
    .requiredOption('--reason <text>', 'why, for people who wait for an order; nothing personal')
    .action(async ({ reason }: { reason: string }) =>
      commandLine.send(`Placing may be stopped nevertheless: ${shows}`, async ({ lab }) => {
        show(await lab.placing.stop({ reason }));
        commandLine.note('Every worker knows within a minute. What was sent cannot be undone.');
      }),
    );
  placing
    .command('resume')
    .description('place what waits')
    .action(async () =>
      commandLine.send(`Placing may be resumed nevertheless: ${shows}`, async ({ lab }) => {
        show(await lab.placing.resume());
        commandLine.note('Orders that wait are placed within ten minutes, replacements within an hour.');
      }),
    );
  placing
    .command('show')
    .description('show whether placing is stopped, since when, why and by whom')
    .action(async () => commandLine.run(async ({ lab }) => show(await lab.placing.state())));
}

function textOf(state: PlacingSwitch): string {
  return state.stopped
    ? `Placing was stopped at ${moment(state.since)}${state.by === undefined ? '' : `, by ${state.by}`}: ${state.reason}`
    : 'Placing is not stopped.';
}
