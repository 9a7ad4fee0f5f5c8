import { readFile } from 'node:fs/promises';
import type { Stage } from './stage.js';

/** One thing that is measured, again in every round. */
export interface Case {
  name: string;
  /** The cases that its numbers are divided by, round for round. */
  against?: string | readonly string[] | undefined;
  /** Measures once; the numbers by their names. */
  shot: () => Promise<Record<string, number>>;
}

/** The numbers of a case, each in the order of the rounds. */
export interface Measured {
  name: string;
  against?: Case['against'];
  samples: Record<string, number[]>;
}

/**
 * Measures all cases in each round, one after the other in random order, so whatever else the machine does affects them alike.
 * A first round, which compiles the code, is not counted.
 */
export async function interleaved(rounds: number, cases: readonly Case[]): Promise<Measured[]> {
  const all = cases.map(({ name, against, shot }) => ({ shot, measured: { name, against, samples: {} } as Measured }));
  for (let round = 0; round <= rounds; round += 1) {
    const shuffled = all.map((each) => ({ ...each, key: Math.random() })).toSorted((one, other) => one.key - other.key);
    for (const { shot, measured } of shuffled) {
      const readings = Object.entries(await shot());
      if (round > 0) for (const [metric, value] of readings) (measured.samples[metric] ??= []).push(value);
    }
  }
  return all.map(({ measured }) => measured);
}

/** The numbers of a case divided by those of the case that it is compared with, round for round. */
function ratios({ samples }: Measured, against: string, all: readonly Measured[]): Record<string, number[]> {
  const base = all.find(({ name }) => name === against);
  if (!base) return {};
  return Object.fromEntries(
    Object.entries(samples).map(([metric, values]) => [
      metric,
      values.map((value, round) => value / (base.samples[metric]?.[round] ?? NaN)),
    ]),
  );
}

/** A table in Markdown: for each case, and for each that it is compared with, the median and the quartiles of each number and of each ratio. */
export function tableOf(all: readonly Measured[]): string {
  const metrics = [...new Set(all.flatMap(({ samples }) => Object.keys(samples)))];
  const head = ['case', ...metrics, 'against', ...metrics.map((metric) => `× ${metric}`)];
  const rows = all.flatMap((measured) =>
    [measured.against ?? ''].flat().map((against) => {
      const relative = ratios(measured, against, all);
      return [
        measured.name,
        ...metrics.map((metric) => spread(measured.samples[metric])),
        against,
        ...metrics.map((metric) => spread(relative[metric])),
      ];
    }),
  );
  const kept = head.map((_, column) => rows.some((row) => row[column] !== ''));
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.filter((_, column) => kept[column]).join(' | ')} |`)
    .join('\n');
}

function spread(values: readonly number[] = []): string {
  const known = values.filter((value) => Number.isFinite(value)).toSorted((one, other) => one - other);
  if (known.length === 0) return '';
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => short(quantile(known, share)));
  return known[0] === known.at(-1) ? `${middle}` : `${middle} (${low}–${high})`;
}

/** Three digits, or all of a whole number. */
export function short(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

export interface MeasureOptions {
  rounds: number;
  /** Open orders of the fleet. */
  orders: number;
  /** Prints a line before the table. */
  say: (line: string) => void;
}

/** One table of the bench. */
export interface Measure {
  name: string;
  /** Stands above its table: what is counted, and in which unit. */
  title: string;
  /** True: it takes long, and runs only if `--only` names it. */
  onlyIfNamed?: true;
  run(stage: Stage, options: MeasureOptions): Promise<Measured[]>;
}

/** Does the work so many times, some of it at once. */
export async function inParallel<T>(count: number, width: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane));
  return results;
}

/** Linux counts in hundredths of a second. */
const tickMs = 10;

/** The processor time of a process so far, user and system, all threads, in milliseconds. Linux only. */
export async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

/** The memory of a process that is resident now, in MB. */
export async function residentMbOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Between two of the sorted values if it falls between them: the usual definition, which for a half is the median. */
function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const [lower = NaN, upper = lower] = sorted.slice(Math.floor(place));
  return lower + (upper - lower) * (place % 1);
}

/** The smallest of the values that the given share of them, from 0 to 1, does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}
