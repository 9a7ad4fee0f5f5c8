import { chanceOf, type Chance } from './chance.js';
import { healthStories } from './health-data.js';
import { orderStories } from './orders.js';
import { otherStories } from './others.js';
import type { Story } from './product.js';
import { clocksOf, scheduleOf, type Clocks, type Fault } from './schedule.js';

export const stories: Readonly<Record<string, Story>> = { ...orderStories, ...otherStories, ...healthStories };

/** One thing that the product wants, and how long the world lets pass between its steps. */
export interface Subject {
  /** Unique within the run: the product's reference. */
  name: string;
  /** One of `stories`. */
  story: string;
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
  const subjects = [
    ...named('order', orderStories, orders),
    ...named('other', otherStories, Math.round(orders * othersShare), 'each'),
    ...(hasDatabase ? named('wearer', healthStories, Math.round(orders * wearersShare), 'each') : []),
  ].map((subject) => ({ ...subject, ...timesOf(ofSubjects, lengthMs) }));
  const faults = scheduleOf(chanceOf(seed + 1), lengthMs);
  return { seed, lengthMs, subjects, faults, clocks: clocksOf(chanceOf(seed + 2)) };
}

/** Every story in turn, so even a short run has most of them, or at least each once. */
function named(kind: string, all: Readonly<Record<string, Story>>, share: number, least?: 'each') {
  const names = Object.keys(all);
  const count = least === 'each' ? Math.max(names.length, share) : share;
  return Array.from({ length: count }, (_, n) => ({ name: `${kind}-${n + 1}`, story: names[n % names.length] ?? '' }));
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
