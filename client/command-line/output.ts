/*
 * Formats answers: lists of facts and tables for people, JSON for programs. Text from outside is printed without
 * control characters, which a terminal would obey.
 */

import { styleText } from 'node:util';
import ms from 'ms';
import type { Attention } from '../../protocol/attention.js';
import { isTime } from '../../protocol/time.js';

type Cell = string | number | boolean | undefined;

/**
 * Columns as wide as their widest cell; a last column that is empty takes no room. A table that is wider than the terminal becomes a list of
 * facts for each row.
 *
 * @param terminalWidth characters in a line; without a terminal there is no limit
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  terminalWidth = process.stdout.columns || Infinity,
): string {
  const lines = [headings, ...rows].map((row) => headings.map((_, column) => printable(row[column])));
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => widthOf(line[column] ?? ''))));
  const padded = lines.map((line) =>
    line.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))),
  );
  if (rows.length > 0 && padded.some((line) => widthOf(line.join('  ').trimEnd()) > terminalWidth)) {
    return sections(...rows.map((row) => facts(headings.map((heading, column) => [heading, row[column]]))));
  }
  const attention = headings.indexOf('Attention');
  return padded
    .map((line, index) =>
      line.map((cell, column) => (index > 0 && column === attention && cell.trim() !== '' ? needsPerson(cell) : cell)),
    )
    .map((line) => line.join('  ').trimEnd())
    .join('\n');
}

/** Yellow on a terminal that has colours, unless NO_COLOR is set. */
function needsPerson(text: string): string {
  return styleText('yellow', text, { stream: process.stdout });
}

/** `name  value`, one a line, without those that have no value. */
export function facts(pairs: readonly (readonly [name: string, value: Cell])[]): string {
  const known = pairs.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(0, ...known.map(([name]) => name.length));
  return known
    .map(([name, value]) => [name, name.padEnd(width), printable(value)])
    .map(([name, cell, value = '']) => `${cell}  ${name === 'Attention' ? needsPerson(value) : value}`)
    .join('\n');
}

/** Parts of an answer with an empty line between them. */
export function sections(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n');
}

export function printable(value: Cell): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value).replaceAll(/\p{C}/gu, '·');
}

/** `in_transit_to_lab` → `in transit to lab`. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export const timeFormats = ['iso', 'relative'] as const;

type TimeFormat = (typeof timeFormats)[number];

let timeFormat: TimeFormat = 'iso';

/** Writes a text with its times in this format. */
export function inTimes(format: TimeFormat, write: () => string): string {
  timeFormat = format;
  try {
    return write();
  } finally {
    timeFormat = 'iso';
  }
}

/** UTC in ISO 8601, to the second; or, as `inTimes` says, how long ago or from now. A time without a zone stays as it is. */
export function moment(at: string | Date | undefined): string | undefined {
  if (at === undefined || (typeof at === 'string' && !isTime(at))) return at;
  const time = new Date(at);
  if (timeFormat === 'iso') return `${time.toISOString().slice(0, 19)}Z`;
  const ahead = time.getTime() - Date.now();
  return `${ms(Math.abs(ahead), { long: true })} ${ahead > 0 ? 'from now' : 'ago'}`;
}

/** One change in a line, without absent parts. */
export function line(...cells: readonly string[]): string {
  return cells.filter((cell) => cell !== '').join('  ');
}

/** The timeline, in our own texts. */
export function timelineTable(timeline: readonly { at: string; what: string; by?: string }[]): string {
  return table(
    ['When', 'What happened'],
    timeline.map(({ at, what, by }) => [moment(at), by === undefined ? what : `${what}, by ${by}`]),
  );
}

/** Why a person should look. */
export function attentionText(attention: readonly Attention<string>[]): string {
  return attention
    .map(({ reason, since }) => needsPerson(`Attention: ${words(reason)} since ${moment(since)}`))
    .join('\n');
}

/** The line that says what something waits for, and until when. */
export function waiting({ for: what, until }: { for: string; until?: string }): string {
  return until === undefined ? what : `${what} until ${moment(until)}`;
}

interface Shown {
  timeline: readonly { at: string; what: string }[];
  phase: string;
  outcome?: string;
  waiting: { for: string; until?: string };
}

/** A line of `--watch`: the latest thing that happened, and what is waited for. */
export function changeLine({ timeline, phase, outcome, waiting: awaited }: Shown): string {
  const last = timeline.at(-1);
  const rest = outcome === undefined ? `waits for ${waiting(awaited)}` : '';
  return line(moment(last?.at) ?? '', words(phase), last?.what ?? '', rest);
}

function widthOf(text: string): number {
  return [...text].length;
}
