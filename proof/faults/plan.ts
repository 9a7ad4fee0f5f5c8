import { chanceOf, type Chance } from './chance.js';
import { clocksOf, scheduleOf, type Clocks, type Fault } from './schedule.js';

export const orderStories = [
  'results',
  'patient known',
  'import',
  'cancelled',
  'cancelled too late',
  'replaced',
  'abandoned',
  'sample unusable',
  'redraw',
  'corrected',
  'critical',
] as const;

const otherStories = [
  'visit',
  'link',
  'link with code',
  'link with wrong code',
  'report',
  'report without results',
  'report failed',
  'deletion',
  'deletion undone',
  'deletion refused',
] as const;

export type StoryName = (typeof orderStories)[number] | (typeof otherStories)[number];

/** One thing that the product wants, and how long the world lets pass between its steps. */
export interface Subject {
  /** Unique within the run: the product's reference. */
  name: string;
  story: StoryName;
  startsAtMs: number;
  pauseMs: number;
}

export interface Plan {
  seed: number;
  /** The time in which faults begin. */
  lengthMs: number;
  subjects: Subject[];
  faults: Fault[];
  clocks: Clocks;
}

/** Beside the orders: as many subjects of other kinds as a tenth of them, of each kind at least one. */
const othersShare = 0.4;

/** What happens in a run: a pure function of its parameters. */
export function planOf({ seed, orders, seconds }: { seed: number; orders: number; seconds: number }): Plan {
  const lengthMs = seconds * 1_000;
  const ofSubjects = chanceOf(seed);
  const others = Math.max(otherStories.length, Math.round(orders * othersShare));
  const subjects = [...named('order', orderStories, orders), ...named('other', otherStories, others)].map(
    (subject) => ({
      ...subject,
      ...timesOf(ofSubjects, lengthMs),
    }),
  );
  const faults = scheduleOf(chanceOf(seed + 1), lengthMs);
  return { seed, lengthMs, subjects, faults, clocks: clocksOf(chanceOf(seed + 2)) };
}

/** Every story in turn, so even a short run has most of them. */
function named(kind: string, stories: readonly StoryName[], count: number): Pick<Subject, 'name' | 'story'>[] {
  return Array.from({ length: count }, (_, n) => {
    const story = stories[n % stories.length] ?? 'results';
    return { name: `${kind}-${n + 1}`, story };
  });
}

/** Subjects begin in the first two thirds, so faults meet their later steps, too. */
function timesOf(chance: Chance, lengthMs: number): Pick<Subject, 'startsAtMs' | 'pauseMs'> {
  return {
    startsAtMs: chance.between(0, Math.round((lengthMs * 2) / 3)),
    pauseMs: chance.between(0, longestPauseMs(lengthMs)),
  };
}

/** So that the longest stories, of ten steps, are not much longer than the time in which faults begin. */
function longestPauseMs(lengthMs: number): number {
  return Math.min(2_000, Math.round(lengthMs / 20));
}
