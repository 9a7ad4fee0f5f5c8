import { existsSync } from 'node:fs';
import { join } from 'node:path';

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
  const number = (name: string, otherwise: number, rule: string, holds: (value: number) => boolean): number => {
    const text = environment[name]?.trim();
    const value = text ? Number(text) : otherwise;
    if (!holds(value)) faults.push(`${name} is "${text}": it must be ${rule}`);
    return value;
  };
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

function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 65_535;
}

/** The shell may have the settings of a real deployment: the demo must never reach it. */
const deployment =
  /^(TEMPORAL|SERVICE|NOTIFY|REPORT|WEBHOOK|SANDBOX|INGRESS|LABOPS|CODEC|DATABASE|HEALTH_DATA)_|^(NOTIFICATIONS|HEALTH_DATA|TASK_QUEUE|LOG_LEVEL|MAX_CACHED_WORKFLOWS)$/;

function withoutDeployment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const entries = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined || deployment.test(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}
