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

/** They need a database. */
const healthStories = ['health data', 'health data erased'] as const;

export type StoryName = (typeof orderStories | typeof otherStories | typeof healthStories)[number];

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

/** Beside the orders: so many subjects of other kinds for each of them, and of each story at least one. */
const othersShare = 0.4;
const wearersShare = 0.1;

export interface PlanOptions {
  seed: number;
  orders: number;
  seconds: number;
  /** Without a database nobody has health data; everything else is the same. */
  hasDatabase: boolean;
}

/** What happens in a run: a pure function of its parameters. */
export function planOf({ seed, orders, seconds, hasDatabase }: PlanOptions): Plan {
  const lengthMs = seconds * 1_000;
  const ofSubjects = chanceOf(seed);
  const others = Math.max(otherStories.length, Math.round(orders * othersShare));
  const wearers = hasDatabase ? Math.max(healthStories.length, Math.round(orders * wearersShare)) : 0;
  const subjects = [
    ...named('order', orderStories, orders),
    ...named('other', otherStories, others),
    ...named('wearer', healthStories, wearers),
  ].map((subject) => ({
    ...subject,
    ...timesOf(ofSubjects, lengthMs),
  }));
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
