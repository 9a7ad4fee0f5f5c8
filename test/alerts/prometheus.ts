import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cached, progressReport } from '../../sandbox/temporal/cache.js';
import { temporalConfig } from '../../sandbox/temporal/config.js';
import { freePort } from '../../sandbox/temporal/ports.js';
import { findProgram, isExecutable, run } from '../../sandbox/temporal/programs.js';
import { startProcess, type StartedProcess } from '../rig/processes.js';

/** As Go's module proxy numbers version 3.16.0. */
const moduleVersion = '0.316.0';
const commands = ['promtool', 'prometheus'];
const config = temporalConfig();
const folder = join(config.cacheFolder, `prometheus-${moduleVersion}`);

/** promtool on PATH, or the one that `npm run alerts` has built; nothing is built for it. */
export async function findPromtool(): Promise<string | undefined> {
  const built = join(folder, 'promtool');
  return (await findProgram('promtool', config.searchPath)) ?? ((await isExecutable(built)) ? built : undefined);
}

/** The path of `prometheus`: the one on PATH, else built with Go into the project's cache, which takes ten minutes on two cores. */
export async function findPrometheus(): Promise<string> {
  const onPath = await findProgram('prometheus', config.searchPath);
  if (onPath !== undefined) return onPath;
  const report = progressReport();
  const entry = {
    what: 'Prometheus',
    folder,
    usable: async (place: string) => {
      const present = await Promise.all(commands.map((name) => isExecutable(join(place, name))));
      return present.every(Boolean) ? join(place, 'prometheus') : undefined;
    },
    get: (place: string) =>
      report.during(`building Prometheus with go install (v${moduleVersion}; ten minutes, once)`, () => build(place)),
  };
  return cached(entry, report);
}

async function build(place: string): Promise<void> {
  const go = await findProgram('go', config.searchPath);
  if (go === undefined) throw new Error('there is neither Prometheus nor Go on PATH: install one of them');
  const environment = { ...config.environment, GOBIN: place };
  const packages = commands.map((name) => `github.com/prometheus/prometheus/cmd/${name}@v${moduleVersion}`);
  // Without the discovery of targets in clouds, which is most of it.
  await run(go, ['install', '-tags', 'remove_all_sd', ...packages], { environment, cwd: place });
}

export interface Prometheus {
  process: StartedProcess;
  /** The names of the alerts that fire now. */
  firing(): Promise<string[]>;
}

/** Reads the targets, and evaluates the rules, every second. */
export async function startPrometheus(place: string, rules: string, targets: readonly string[]): Promise<Prometheus> {
  await writeFile(join(place, 'rules.yml'), rules);
  const scrape = { job_name: 'lab-operations', static_configs: [{ targets }] };
  const global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' };
  // JSON is YAML, too.
  await writeFile(
    join(place, 'prometheus.yml'),
    JSON.stringify({ global, rule_files: ['rules.yml'], scrape_configs: [scrape] }),
  );
  await rm(join(place, 'data'), { recursive: true, force: true });
  const address = `127.0.0.1:${await freePort()}`;
  const flags = [`--config.file=${join(place, 'prometheus.yml')}`, `--storage.tsdb.path=${join(place, 'data')}`];
  const program = await findPrometheus();
  const process = await startProcess(program, [...flags, `--web.listen-address=${address}`], {
    ready: /Server is ready to receive web requests/,
  });
  return {
    process,
    async firing() {
      const answer = await fetch(`http://${address}/api/v1/alerts`);
      const { data } = (await answer.json()) as {
        data: { alerts: { state: string; labels: { alertname: string } }[] };
      };
      return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    },
  };
}
