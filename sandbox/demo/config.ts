/** The settings cannot be used: every fault is named, each with the setting to change. */
export class DemoConfigError extends Error {
  override readonly name = 'DemoConfigError';

  constructor(faults: readonly string[]) {
    super(`The demo cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

export interface DemoConfig {
  /** Of Temporal's gRPC service. 0: a free one, as for all of them. */
  temporalPort: number;
  uiPort: number;
  codecPort: number;
  sandboxPort: number;
  ingressPort: number;
  /** Serves the stored health data. */
  healthDataPort: number;
  /** How many real seconds a day of a story lasts. */
  daySeconds: number;
  /** The environment of the demo's processes, without the settings of a real deployment. */
  inherited: Readonly<Record<string, string>>;
}

/** A day of a second: weeks pass in less than a minute, and a line can still be read before the next one comes. */
const defaultDaySeconds = 1;

/**
 * The options of the demo from the environment:
 *
 * | Setting | Default | Meaning |
 * |---|---|---|
 * | DEMO_TEMPORAL_PORT | 7233 | port of the Temporal dev server |
 * | DEMO_UI_PORT | 8233 | port of Temporal's Web UI |
 * | DEMO_CODEC_PORT | 8234 | port of the codec server, which the Web UI reads histories with |
 * | SANDBOX_PORT | 4010 | port of the lab service's stand-in |
 * | INGRESS_PORT | 4000 | port that receives the lab service's webhooks |
 * | HEALTH_DATA_PORT | 4020 | port that health data are read from |
 * | DEMO_DAY_SECONDS | 1 | how many real seconds a day of a story lasts |
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
  const port = (name: string, otherwise: number): number =>
    number(name, otherwise, 'a port from 1 to 65535, or 0 for a free one', isPort);
  const config = {
    temporalPort: port('DEMO_TEMPORAL_PORT', 7233),
    uiPort: port('DEMO_UI_PORT', 8233),
    codecPort: port('DEMO_CODEC_PORT', 8234),
    sandboxPort: port('SANDBOX_PORT', 4010),
    ingressPort: port('INGRESS_PORT', 4000),
    healthDataPort: port('HEALTH_DATA_PORT', 4020),
    daySeconds: number('DEMO_DAY_SECONDS', defaultDaySeconds, 'from 0.2 to 3600', (n) => n >= 0.2 && n <= 3600),
    inherited: withoutDeployment(environment),
  };
  const { temporalPort, uiPort, codecPort, sandboxPort, ingressPort, healthDataPort } = config;
  const all = [temporalPort, uiPort, codecPort, sandboxPort, ingressPort, healthDataPort];
  const chosen = all.filter((chosenPort) => chosenPort !== 0);
  if (new Set(chosen).size < chosen.length) {
    const settings =
      'DEMO_TEMPORAL_PORT, DEMO_UI_PORT, DEMO_CODEC_PORT, SANDBOX_PORT, INGRESS_PORT and HEALTH_DATA_PORT';
    faults.push(`${settings} must be different ports`);
  }
  if (faults.length > 0) throw new DemoConfigError(faults);
  return config;
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
