import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isPort, numbersIn, withoutDeployment } from '../config.js';
import { programme } from './stories/programme.js';

/** The settings cannot be used: every fault is named, each with the setting to change. */
export class DemoConfigError extends Error {
  override readonly name = 'DemoConfigError';

  constructor(faults: readonly string[]) {
    super(`The demo cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

/** Each port of the demo, with its purpose, the setting that changes it, and its default. */
export const ports = {
  temporal: ['the Temporal dev server', 'DEMO_TEMPORAL_PORT', 7233],
  ui: ["Temporal's Web UI", 'DEMO_UI_PORT', 8233],
  codec: ['the codec server', 'DEMO_CODEC_PORT', 8234],
  sandbox: ["the lab service's stand-in", 'SANDBOX_PORT', 4010],
  ingress: ['the ingress', 'INGRESS_PORT', 4000],
  healthData: ['reading health data', 'HEALTH_DATA_PORT', 4020],
} as const;

export type Ports = Record<keyof typeof ports, number>;

export interface DemoConfig {
  /** 0: a free one. */
  ports: Ports;
  /** How many real seconds a day of a story lasts. */
  daySeconds: number;
  /** The parts as they run in production, each a process of its own, with two workers. Default: worker and ingress are one process. */
  split?: {
    /** PostgreSQL, for what the only process keeps in a directory. */
    databaseUrl: string;
    /** Where the product reads it. */
    healthDataUrl: string;
  };
  /** A folder in which `npm run build` has made the programs. Default: they run from the sources. */
  programs?: string;
  /** The environment of the demo's processes, without the settings of a real deployment. */
  inherited: Readonly<Record<string, string>>;
}

/** A day of a second: weeks pass in less than a minute, and a line can still be read before the next one comes. */
const defaultDaySeconds = 1;

/**
 * The options of the demo from the environment; `usage` lists the settings.
 *
 * @throws DemoConfigError that names all faults at once
 */
export function readDemoConfig(environment: NodeJS.ProcessEnv = process.env): DemoConfig {
  const faults: string[] = [];
  const number = numbersIn(environment, faults);
  const chosen = Object.fromEntries(
    Object.entries(ports).map(([name, [, setting, usual]]) => [
      name,
      number(setting, usual, 'a port from 1 to 65535, or 0 for a free one', isPort),
    ]),
  ) as Ports;
  const daySeconds = number('DEMO_DAY_SECONDS', defaultDaySeconds, 'from 0.2 to 3600', (n) => n >= 0.2 && n <= 3600);
  const fixed = Object.values(chosen).filter((port) => port !== 0);
  if (new Set(fixed).size < fixed.length) {
    faults.push(
      `${Object.values(ports)
        .map(([, setting]) => setting)
        .join(', ')} must be different ports`,
    );
  }
  const { DEMO_DATABASE_URL: databaseUrl, DEMO_HEALTH_DATA_URL: healthDataUrl, DEMO_PROGRAMS: programs } = environment;
  if (programs && !existsSync(join(programs, 'workers', 'worker.js'))) {
    faults.push(`DEMO_PROGRAMS is "${programs}": it must be a folder that \`npm run build\` has written`);
  }
  if (faults.length > 0) throw new DemoConfigError(faults);
  return {
    ...{ ports: chosen, daySeconds, inherited: withoutDeployment(environment) },
    ...(programs && { programs }),
    ...(databaseUrl && healthDataUrl && { split: { databaseUrl, healthDataUrl } }),
  };
}

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
