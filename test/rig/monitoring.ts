import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder, type StartedProcess } from './processes.js';

const deploy = join(projectFolder, 'deploy');
export const rulesPath = join(deploy, 'chart', 'prometheus-rules.yml');
export const rulesTestPath = join(deploy, 'prometheus-rules.test.yml');

/** What a rule or a panel of the dashboard asks Prometheus. */
export interface Question {
  /** The alert, or the panel. */
  name: string;
  expression: string;
}

/** The alerts' expressions, in the one form in which the file writes them. */
export async function alertQuestions(): Promise<Question[]> {
  const text = await readFile(rulesPath, 'utf8');
  return text
    .split(/\n\s+- alert: /)
    .slice(1)
    .map((rule) => {
      const [, one = '', block = ''] = /\n\s+expr: (?:([^|\n].*)|\|\n([\s\S]*?)\n\s+(?:for|labels):)/.exec(rule) ?? [];
      return { name: rule.split('\n', 1).join(''), expression: (one || block).trim() };
    });
}

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

/** With the dashboard's variables filled in; by default all task queues are chosen. */
export async function panelQuestions(taskQueue = '.*'): Promise<Question[]> {
  const { panels } = JSON.parse(await readFile(join(deploy, 'grafana', 'lab-operations.json'), 'utf8')) as {
    panels: Panel[];
  };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      name: title,
      expression: expr.replaceAll('$__rate_interval', '5m').replaceAll('$task_queue', taskQueue),
    })),
  );
}

/** The metrics that an expression names. */
export function namesIn({ expression }: Question): string[] {
  return expression.replaceAll(/"[^"]*"/g, '').match(/\b(labops|temporal|process|nodejs)_\w+/g) ?? [];
}

/** One line of Prometheus' text format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export function samplesOf(page: string): Sample[] {
  return page.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}

/** The address of METRICS_PORT, without a path: a process writes it at its start. */
export function monitoringUrl(program: StartedProcess): string {
  const [, url] = /"metricsUrl":"(http[^"]+)\/metrics"/.exec(program.output()) ?? [];
  if (url === undefined) throw new Error(`The process did not say where its metrics are:\n${program.output()}`);
  return url;
}

export async function scrape(program: StartedProcess): Promise<Sample[]> {
  return samplesOf(await (await fetch(`${monitoringUrl(program)}/metrics`)).text());
}

/** The value of the sample with these labels, whatever others it has. */
export function valueOf(
  samples: readonly Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  const isMeant = (sample: Sample) =>
    sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
  return samples.find(isMeant)?.value;
}
