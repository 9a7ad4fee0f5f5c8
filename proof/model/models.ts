import { explore, type Exploration } from './explore.js';
import { appointmentModel } from './appointment.js';
import { deletionModel } from './deletion.js';
import { linkModel } from './link.js';
import { matchReviewModel } from './match-review.js';
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

const madeElsewhere = { place: 'home', isMadeElsewhere: true } as const;

const someStatuses: readonly Low[] = ['awaiting_registration', 'with_customer', 'sample_error', 'completed'];

/** Seconds each: a part of `npm test`. */
export const quickSearches: readonly Search[] = [
  {
    name: 'order: every status',
    bounds: 'one event',
    explore: () => explore(orderModel({ events: 1, commands: 0, faults: 0 })),
  },
  {
    name: 'order: every command',
    bounds: 'some statuses, one event, one command',
    explore: () => explore(orderModel({ events: 1, commands: 1, faults: 0, statuses: someStatuses })),
  },
  {
    name: 'order: some statuses',
    bounds: 'two events',
    explore: () => explore(orderModel({ events: 2, commands: 0, faults: 0, statuses: someStatuses })),
  },
  {
    name: 'order: the service fails',
    bounds: 'one event, one fault',
    explore: () => explore(orderModel({ events: 1, commands: 0, faults: 1, statuses: oneOfEachKind })),
  },
  {
    name: 'report',
    bounds: 'one event, one command, one fault',
    explore: () => explore(reportModel({ events: 1, commands: 1, faults: 1 })),
  },
  {
    name: 'link',
    bounds: 'one event, one command',
    explore: () => explore(linkModel({ events: 1, commands: 1, faults: 0 })),
  },
  {
    name: 'deletion',
    bounds: 'one event, two commands, one fault',
    explore: () => explore(deletionModel({ events: 1, commands: 2, faults: 1 })),
  },
  {
    name: 'appointment at home, made elsewhere',
    bounds: 'one event, one command',
    explore: () => explore(appointmentModel({ ...madeElsewhere, events: 1, commands: 1, faults: 0 })),
  },
  {
    name: 'appointment at home, made elsewhere',
    bounds: 'one event, one fault',
    explore: () => explore(appointmentModel({ ...madeElsewhere, events: 1, commands: 0, faults: 1 })),
  },
  {
    name: 'appointment at a service centre',
    bounds: 'two commands, one fault',
    explore: () => explore(appointmentModel({ place: 'centre', events: 0, commands: 2, faults: 1 })),
  },
  {
    name: 'match review',
    bounds: 'one event, one command',
    explore: () => explore(matchReviewModel({ events: 1, commands: 1, faults: 0 }, false)),
  },
  {
    name: 'match review',
    bounds: 'two commands, one fault',
    explore: () => explore(matchReviewModel({ events: 0, commands: 2, faults: 1 }, false)),
  },
];

/** Minutes each. */
export const longSearches: readonly Search[] = [
  {
    name: 'appointment at home',
    bounds: 'one event, one command',
    explore: () => explore(appointmentModel({ place: 'home', events: 1, commands: 1, faults: 0 })),
  },
  {
    name: 'appointment at home',
    bounds: 'two commands, one fault',
    explore: () => explore(appointmentModel({ place: 'home', events: 0, commands: 2, faults: 1 })),
  },
  {
    name: 'appointment at home, made elsewhere',
    bounds: 'two events',
    explore: () => explore(appointmentModel({ ...madeElsewhere, events: 2, commands: 0, faults: 0 })),
  },
  {
    name: 'appointment at a service centre',
    bounds: 'one event, one command, one fault',
    explore: () => explore(appointmentModel({ place: 'centre', events: 1, commands: 1, faults: 1 })),
  },
  ...([true, false] as const).map((isShown) => ({
    name: `match review that is ${isShown ? '' : 'not '}shown when it is over`,
    bounds: 'one event, one command, one fault',
    explore: () => explore(matchReviewModel({ events: 1, commands: 1, faults: 1 }, isShown)),
  })),
  {
    name: 'report',
    bounds: 'two events, one command, one fault',
    explore: () => explore(reportModel({ events: 2, commands: 1, faults: 1 })),
  },
  {
    name: 'link',
    bounds: 'one event, one command, one fault',
    explore: () => explore(linkModel({ events: 1, commands: 1, faults: 1 })),
  },
  {
    name: 'deletion',
    bounds: 'two events, three commands, two faults',
    explore: () => explore(deletionModel({ events: 2, commands: 3, faults: 2 })),
  },
  {
    name: 'order: every status, every command',
    bounds: 'one event, one command, one fault',
    explore: () => explore(orderModel({ events: 1, commands: 1, faults: 1 })),
  },
  {
    name: 'order: every status',
    bounds: 'two events',
    explore: () => explore(orderModel({ events: 2, commands: 0, faults: 0 })),
  },
  ...(['replace', 'fail'] as const).map((onLost) => ({
    name: `order: a failed kit is ${onLost === 'replace' ? 'replaced' : 'given up'} by the policy`,
    bounds: 'two events, one fault',
    explore: () => explore(orderModel({ events: 2, commands: 0, faults: 1, statuses: oneOfEachKind, onLost })),
  })),
];
