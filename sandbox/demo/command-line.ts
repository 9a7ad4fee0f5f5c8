import { parseArgs } from 'node:util';
import { ports } from './config.js';
import { programme } from './stories/programme.js';

export interface CommandLine {
  /** End when the stories have been played, instead of staying up. */
  once: boolean;
  /** The only act to play, from 1; all acts when not given. */
  act: number | undefined;
  help: boolean;
}

/** The arguments are not those of the demo: says which one, and shows the usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const portSettings = Object.values(ports)
  .map(([, setting, usual]) => `${setting} (${usual})`)
  .join(', ');

export const usage = `Usage: npm run demo [-- <options>]

Starts Temporal with its Web UI, the lab service's stand-in, the worker and the ingress, and plays stories of
orders, an appointment, a lab report, a provider link, health data and deletions through the public client, with days
compressed to seconds. In a terminal it asks you for the code of the link. After the stories it stays up until Ctrl-C.

Options:
  --once   ask nothing and exit after the stories; exit status 0 only if all succeeded
  --act n  play only act n
  --help   show this

Settings (environment): ${portSettings}, DEMO_DAY_SECONDS (1);
TEMPORAL_CLI, the temporal program to use; DEMO_PROGRAMS, a folder that \`npm run build\` has written, to start from
instead of the sources; NO_COLOR, for plain text.
`;

/** @throws UsageError */
export function readCommandLine(args: readonly string[]): CommandLine {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { once: { type: 'boolean' }, act: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    return { once: values.once ?? false, act: actNumber(values.act), help: values.help ?? false };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // Node's sentence names the argument; what it adds about escaping positionals helps nobody here.
    const reason = error instanceof Error ? error.message.split('. ', 1).join('') : String(error);
    throw new UsageError(`${reason}.\n\n${usage}`);
  }
}

function actNumber(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const act = Number(value);
  if (programme[act - 1]) return act;
  throw new UsageError(`--act is "${value}": give a number from 1 to ${programme.length}.\n\n${usage}`);
}
