import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { appointmentActivities } from '../../../activities/appointment/appointments.js';
import { endingWithActivity, heartbeating } from '../../../activities/attempt.js';
import { orderActivities } from '../../../activities/order/orders.js';
import { userActivities } from '../../../activities/deletion/users.js';
import type { LabService } from '../../../service/lab-service.js';
import { registrationRequest } from '../service/persons.js';
import { rejection, serviceAt, serving } from '../service/recording-server.js';

afterEach(() => {
  vi.useRealTimers();
});

test('heartbeats come every 5 seconds until the work has ended', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const environment = new MockActivityEnvironment();
  let heartbeats = 0;
  environment.on('heartbeat', () => (heartbeats += 1));
  const work = new EventEmitter();
  const running = environment.run(() => heartbeating(() => once(work, 'done')));
  expect(heartbeats).toBe(1);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(heartbeats).toBe(4);
  work.emit('done', 'its answer');
  expect(await running).toEqual(['its answer']);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(heartbeats).toBe(4);
});

test('a call that ends because its worker stops counts as one whose answer was lost', async () => {
  const environment = new MockActivityEnvironment();
  const call = ({ signal }: { signal?: AbortSignal }) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  const failure = rejection(environment.run(() => endingWithActivity(call)));
  environment.cancel('WORKER_SHUTDOWN');
  expect(await failure).toBeInstanceOf(ApplicationFailure);
  expect(await failure).toMatchObject({ type: 'AnswerLost', nonRetryable: false, nextRetryDelay: 35_000 });
});

const order = { id: 'order-1', user_id: 'user-1', status: 'received', events: [] };
const appointment = { id: 'appointment-1', status: 'confirmed', start_at: '2030-02-01T16:00:00.000Z' };

/** The commands, by the call that changes something; all but an undo are preceded by a read. */
const commands: Record<string, (service: LabService) => () => Promise<unknown>> = {
  'POST /v3/order/order-1/cancel': (service) => () => orderActivities({ service }).cancelOrder('order-1'),
  'POST /v3/order/testkit/register': (service) => () =>
    orderActivities({ service }).registerKit({ orderId: 'order-1', registration: registrationRequest, chain: [] }),
  'POST /v2/user/undo_delete': (service) => () => userActivities({ service }).undoDeletion({ userId: 'user-1' }),
  'PATCH /v3/order/order-1/phlebotomy/appointment/cancel': (service) => () =>
    appointmentActivities({ service } as never).cancelAppointment({
      ...{ orderId: 'order-1', appointmentId: 'appointment-1', reasonId: 'reason-1' },
    }),
};

/** A service that never answers this call. */
async function silentOn(silent: string | undefined) {
  const asked: string[] = [];
  const { baseUrl } = await serving((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const what = `${request.method} ${path}`;
    asked.push(what);
    if (what === silent || (silent === undefined && request.method === 'GET')) return;
    const isUser = path.startsWith('/v2/user');
    response.writeHead(isUser ? 404 : 200, { 'content-type': 'application/json' });
    const shown = path.endsWith('/appointment') ? appointment : order;
    response.end(JSON.stringify(isUser ? { detail: 'Not found' } : shown));
  });
  return { service: serviceAt(baseUrl), asked };
}

const silences = Object.entries(commands).flatMap(([name, command]) => {
  const reads = name.endsWith('undo_delete') ? 0 : 1;
  const change = { name, command, silent: 'the change', changes: 1, asks: reads + 1 };
  return reads === 0 ? [change] : [change, { name, command, silent: 'the read before it', changes: 0, asks: reads }];
});

test.each(silences)(
  'a cancelled activity stops waiting for $silent: $name',
  async ({ name, command, changes, asks }) => {
    const { service, asked } = await silentOn(changes === 1 ? name : undefined);
    const environment = new MockActivityEnvironment();
    const failure = rejection(environment.run(command(service)));
    await expect.poll(() => asked.length).toBe(asks);
    environment.cancel('CANCELLED');
    expect(await failure).toBeInstanceOf(CancelledFailure);
    expect(asked.filter((what) => what === name)).toHaveLength(changes);
  },
);

test('a deletion is awaited all the same: a withdrawal must not overtake it', async () => {
  const waiting: ServerResponse[] = [];
  const { baseUrl } = await serving((_request, response) => waiting.push(response));
  const environment = new MockActivityEnvironment();
  const service = serviceAt(baseUrl);
  const scheduling = environment.run(() => userActivities({ service }).scheduleDeletion('user-1'));
  await expect.poll(() => waiting.length).toBe(1);
  environment.cancel('CANCELLED');
  waiting[0]?.writeHead(200, { 'content-type': 'application/json' }).end('{"success":true}');
  expect(await scheduling).toBe('accepted');
});
