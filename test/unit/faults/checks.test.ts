import { expect, test } from 'vitest';
import {
  acknowledgedButLost,
  differences,
  kitsPerReference,
  notificationsAgree,
  outcomesOf,
} from '../../../proof/faults/checks.js';
import { endingOf, type AtService, type Ending } from '../../../proof/faults/ending.js';
import type { Notification } from '../../rig/notification-receiver.js';

const ids = ['0a000000-0000-4000-8000-000000000001', '0a000000-0000-4000-8000-000000000002'] as const;

function atService(orders: { id: string; passthrough: string; statuses: string[] }[]): AtService {
  const revealed = orders.map(({ id, passthrough, statuses }) => ({
    passthrough,
    order: {
      ...{ id, user_id: 'user', origin: 'initial', patient_details: null },
      events: statuses.map((status, index) => ({ id: index + 1, status })),
    },
  }));
  return { orders: revealed, jobs: [], deletedUsers: [], health: new Map() } as unknown as AtService;
}

function phaseOf(event: number): Notification {
  const data = { user_id: 'user', phase: 'at_lab', status: 'delivered_to_lab' };
  return { id: `${ids[0]}/${event}/phase_changed`, type: 'phase_changed', subject: ids[0], time: '', data };
}

function ended(id: string, outcome: string): Notification {
  return { id, type: 'ended', subject: ids[0], time: '', data: { user_id: 'user', outcome } };
}

test('two kits of one reference are found, and a replacement is not the same kit', () => {
  const kitsOf = (...signed: string[]) =>
    kitsPerReference(
      atService(signed.map((rest) => ({ id: ids[0], passthrough: `labops/default:${rest}`, statuses: [] }))),
    );
  expect(kitsOf('-:one:1', `${ids[0]}:one:2`)).toEqual([]);
  expect(kitsOf('-:one:1', '-:one:1')).toEqual(['2 kits were made for one, number 1']);
});

test('an id that is sent with two contents, two outcomes of one order, and a phase that no event has are found', () => {
  const service = atService([{ id: ids[0], passthrough: '', statuses: ['ordered', 'delivered_to_lab'] }]);
  const right = [phaseOf(2), phaseOf(2), ended('a', 'failed'), ended('a', 'failed')];
  expect(notificationsAgree(right, service)).toEqual([]);
  expect(notificationsAgree([phaseOf(1)], service)).toHaveLength(1);
  expect(notificationsAgree([ended('a', 'failed'), ended('b', 'abandoned')], service)).toHaveLength(1);
  expect(notificationsAgree([ended('a', 'failed'), ended('a', 'abandoned')], service)).toHaveLength(2);
});

function ending(result: object, notifications: Notification[] = []): Ending {
  const subject = { name: 'order-1', story: 'results', startsAtMs: 0, pauseMs: 0 } as const;
  return endingOf({ subject, users: ['user'], answers: [], result }, atService([]), notifications);
}

test('ends that differ in ids, times and event numbers alone are equal, any other difference is found', () => {
  const completed = (orderId: string, day: number, raised: object) =>
    ending({ outcome: 'completed', orderId, at: `2026-11-0${day}T10:00:00.000Z`, raised });
  const one = completed(ids[0], 1, { [`${ids[0]}/17`]: 1 });
  expect(differences([one], [completed(ids[1], 2, { [`${ids[1]}/18`]: 1 })])).toEqual([]);
  expect(differences([one], [completed(ids[1], 2, {})])).toHaveLength(1);
  const announced = ending({ outcome: 'completed' }, [ended('a', 'failed')]);
  expect(differences([announced], [ending({ outcome: 'completed' })])).toHaveLength(1);
});

test('an end that no story should have is found even if both runs had it, and so is a story that broke off', () => {
  expect(outcomesOf([ending({ outcome: 'completed' })])).toEqual([]);
  expect(outcomesOf([ending({ outcome: 'failed' })])).toEqual(['order-1 (results) ended as failed, not as completed']);
  expect(outcomesOf([{ ...ending({}), error: 'TimedOut' }])).toEqual(['order-1 (results) broke off: TimedOut']);
});

test('an acknowledged command whose effect the service does not have is found', () => {
  const user = { deleted: 0, orders: [], jobs: [], health: [] };
  const deleted = { ...ending({}), answers: [{ command: 'delete', answer: 'done' }], truth: user };
  const undone = { ...deleted, answers: [...deleted.answers, { command: 'undo', answer: 'done' }] };
  const refused = { ...deleted, answers: [{ command: 'delete', answer: 'UserHasRunningWork' }] };
  expect(acknowledgedButLost([undone, refused])).toEqual([]);
  expect(acknowledgedButLost([deleted])).toEqual([
    'order-1 (results): "delete" was acknowledged, and its effect is not there',
  ]);
  expect(acknowledgedButLost([{ ...undone, truth: { ...user, deleted: 1 } }])).toHaveLength(2);
  const [nothing, something] = [0, 1].map((samples) => ({ steps: [], samples, streams: 0 }));
  expect(acknowledgedButLost([{ ...deleted, truth: { ...user, deleted: 1, health: [nothing] } }])).toEqual([]);
  expect(acknowledgedButLost([{ ...deleted, truth: { ...user, deleted: 1, health: [something] } }])).toHaveLength(1);
});
