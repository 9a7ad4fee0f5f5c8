import { explore, type Exploration } from './explore.js';
import { appointmentModel } from './appointment.js';
import { deletionModel } from './deletion.js';
import { linkModel } from './link.js';
import { matchReviewModel } from './match-review.js';
import type { Left, Model } from './model.js';
import { orderModel } from './order.js';
import type { Low } from './order-world.js';
import { reportModel } from './report.js';

/** One search: a workflow, and how much may happen to it. */
export interface Search {
  name: string;
  /** In words, for the table. */
  bounds: string;
  explore: () => Promise<Exploration>;
}

function search<Bounds extends Left, World extends { left: Left }>(
  name: string,
  modelOf: (bounds: Bounds) => Model<World>,
  bounds: Bounds,
): Search {
  return { name, bounds: inWords(bounds), explore: () => explore(modelOf(bounds)) };
}

function inWords({ events, commands, faults }: Left): string {
  const all = { event: events, command: commands, fault: faults };
  const numbers = ['no', 'one', 'two', 'three'];
  const words = Object.entries(all).filter(([, many]) => many > 0);
  return words.map(([what, many]) => `${numbers[many]} ${what}${many > 1 ? 's' : ''}`).join(', ');
}

/** Statuses of every kind: for each phase one, and some that take something back. */
const oneOfEachKind: readonly Low[] = [
  'awaiting_registration',
  'testkit_registered',
  'with_customer',
  'problem_in_transit_customer',
  'transit_lab',
  'sample_error',
  'completed',
];
const someStatuses: readonly Low[] = ['awaiting_registration', 'with_customer', 'sample_error', 'completed'];

const home = { place: 'home' } as const;
const centre = { place: 'centre' } as const;
const elsewhere = { place: 'home', isMadeElsewhere: true } as const;

/** Seconds each: a part of `npm test`. */
export const quickSearches: readonly Search[] = [
  search('order: every status', orderModel, { events: 1, commands: 0, faults: 0 }),
  search('order: some statuses, every command', orderModel, {
    events: 1,
    commands: 1,
    faults: 0,
    statuses: someStatuses,
  }),
  search('order: some statuses', orderModel, { events: 2, commands: 0, faults: 0, statuses: someStatuses }),
  search('order: the service fails', orderModel, { events: 1, commands: 0, faults: 1, statuses: oneOfEachKind }),
  search('report', reportModel, { events: 1, commands: 1, faults: 1 }),
  search('link', linkModel, { events: 1, commands: 1, faults: 0 }),
  search('deletion', deletionModel, { events: 1, commands: 2, faults: 1 }),
  search('appointment at home, made elsewhere', appointmentModel, { ...elsewhere, events: 1, commands: 1, faults: 0 }),
  search('appointment at home, made elsewhere', appointmentModel, { ...elsewhere, events: 1, commands: 0, faults: 1 }),
  search('appointment at a service centre', appointmentModel, { ...centre, events: 0, commands: 2, faults: 1 }),
  search('match review', matchReviewModel, { events: 1, commands: 1, faults: 0 }),
  search('match review', matchReviewModel, { events: 0, commands: 2, faults: 1 }),
];

/** Minutes each. */
export const longSearches: readonly Search[] = [
  search('appointment at home', appointmentModel, { ...home, events: 1, commands: 1, faults: 0 }),
  search('appointment at home', appointmentModel, { ...home, events: 0, commands: 2, faults: 1 }),
  search('appointment at home, made elsewhere', appointmentModel, { ...elsewhere, events: 2, commands: 0, faults: 0 }),
  search('appointment at a service centre', appointmentModel, { ...centre, events: 1, commands: 1, faults: 1 }),
  ...[true, false].map((isShownWhenOver) => {
    const name = `match review that is ${isShownWhenOver ? '' : 'not '}shown when it is over`;
    return search(name, matchReviewModel, { isShownWhenOver, events: 1, commands: 1, faults: 1 });
  }),
  search('report', reportModel, { events: 2, commands: 1, faults: 1 }),
  search('link', linkModel, { events: 1, commands: 1, faults: 1 }),
  search('deletion', deletionModel, { events: 2, commands: 3, faults: 2 }),
  search('order: every status, every command', orderModel, { events: 1, commands: 1, faults: 1 }),
  search('order: every status', orderModel, { events: 2, commands: 0, faults: 0 }),
  ...(['replace', 'fail'] as const).map((onLost) => {
    const name = `order: a failed kit is ${onLost === 'replace' ? 'replaced' : 'given up'} by the policy`;
    return search(name, orderModel, { onLost, statuses: oneOfEachKind, events: 2, commands: 0, faults: 1 });
  }),
];
