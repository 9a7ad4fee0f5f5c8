import { median } from './usage.js';

/** One thing that is measured, again in every round. */
export interface Case {
  name: string;
  /** The case that its numbers are divided by, round for round. */
  against?: string;
  /** Measures once; the numbers by their names. */
  shot: () => Promise<Record<string, number>>;
}

/** The numbers of a case, each in the order of the rounds. */
export interface Measured {
  name: string;
  against?: string;
  samples: Record<string, number[]>;
}

/**
 * Measures all cases in each round, one after the other, so whatever else the machine does affects them alike. Every
 * second round goes backwards.
 */
export async function interleaved(rounds: number, cases: readonly Case[]): Promise<Measured[]> {
  const measured = cases.map(({ name, against }): Measured => ({
    name,
    ...(against !== undefined && { against }),
    samples: {},
  }));
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? cases : cases.toReversed();
    for (const { name, shot } of order) {
      const samples = measured.find((each) => each.name === name)?.samples ?? {};
      for (const [metric, value] of Object.entries(await shot())) (samples[metric] ??= []).push(value);
    }
  }
  return measured;
}

/** The numbers of a case divided by those of the case that it is compared with, round for round. */
export function ratios({ against, samples }: Measured, all: readonly Measured[]): Record<string, number[]> {
  const base = all.find(({ name }) => name === against);
  if (!base) return {};
  return Object.fromEntries(
    Object.entries(samples).map(([metric, values]) => [
      metric,
      values.map((value, round) => value / (base.samples[metric]?.[round] ?? NaN)),
    ]),
  );
}

/** A table in Markdown: for each case the median of each number, the smallest and the largest, and the median ratio. */
export function tableOf(all: readonly Measured[]): string {
  const metrics = [...new Set(all.flatMap(({ samples }) => Object.keys(samples)))];
  const head = ['case', ...metrics, 'against', ...metrics.map((metric) => `× ${metric}`)];
  const rows = all.map((measured) => {
    const relative = ratios(measured, all);
    return [
      measured.name,
      ...metrics.map((metric) => spread(measured.samples[metric])),
      measured.against ?? '',
      ...metrics.map((metric) => spread(relative[metric])),
    ];
  });
  const kept = head.map((_, column) => rows.some((row) => row[column] !== ''));
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.filter((_, column) => kept[column]).join(' | ')} |`)
    .join('\n');
}

function spread(values: readonly number[] = []): string {
  const known = values.filter((value) => Number.isFinite(value));
  if (known.length === 0) return '';
  if (known.length === 1 || Math.min(...known) === Math.max(...known)) return short(median(known));
  return `${short(median(known))} (${short(Math.min(...known))}–${short(Math.max(...known))})`;
}

/** Three digits, or all of a whole number. */
export function short(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
