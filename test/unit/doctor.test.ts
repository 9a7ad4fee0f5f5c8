import Long from 'long';
import { expect, onTestFinished, test, vi } from 'vitest';
import { randomBytes } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { workerIdentity } from '../../client/encryption/key-requirement.js';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { encryption } from '../../workers/doctor/encryption.js';
import { answerWithinMs, linesOf, notChecked, ok, runChecks } from '../../workers/doctor/findings.js';
import { clientAnsweredWith } from '../rig/grpc-answers.js';

const { DescribeTaskQueueResponse } = proto.temporal.api.workflowservice.v1;

test('a worker without keys is named while it polls, and no longer when it has been replaced', async () => {
  let secondsAgo = 60;
  const { client, close } = await clientAnsweredWith((method) => {
    if (method !== 'DescribeTaskQueue') return undefined;
    const poller = (identity: string, ago: number) => ({
      identity,
      lastAccessTime: { seconds: Long.fromNumber(Math.floor(Date.now() / 1000) - ago) },
    });
    const pollers = [poller('4711@old-host', secondsAgo), poller(workerIdentity(true), 0)];
    return DescribeTaskQueueResponse.encode({ pollers }).finish();
  });
  onTestFinished(close);
  const connection = client.connection as Connection;
  const temporal = { connection, address: '', namespace: 'default', skewMs: () => undefined };
  const keyRing = parseKeyRing(`invented:${randomBytes(32).toString('base64')}`);
  const checked = () => encryption(temporal, { keyRing, encryption: 'required', taskQueue: 'queue' });
  const found = 'A worker polls the task queue without keys, but keys are set here: 4711@old-host.';
  expect(await checked()).toMatchObject({ status: 'fault', found });
  secondsAgo = 150;
  expect(await checked()).toMatchObject({ status: 'ok' });
});

const healthy = { name: 'healthy', run: () => Promise.resolve(ok('It answers.')) };

test('a check that fails is a fault with its reason, and holds up no other', async () => {
  const run = () => Promise.reject(new Error('14 UNAVAILABLE: connection dropped\nwith more lines'));
  expect(await runChecks([{ name: 'broken', run }, healthy])).toEqual([
    {
      check: 'broken',
      status: 'fault',
      found: 'It could not be checked: 14 UNAVAILABLE: connection dropped.',
      remedy: expect.any(String) as string,
    },
    { check: 'healthy', ...ok('It answers.') },
  ]);
});

test('a check that never answers ends after some seconds', async () => {
  vi.useFakeTimers();
  try {
    const running = runChecks([{ name: 'hanging', run: () => new Promise(() => undefined) }, healthy]);
    await vi.advanceTimersByTimeAsync(answerWithinMs);
    expect(await running).toMatchObject([
      { check: 'hanging', status: 'fault', found: 'There was no answer within 8 seconds.' },
      { check: 'healthy', status: 'ok' },
    ]);
  } finally {
    vi.useRealTimers();
  }
});

test('each finding is one line, without characters that a terminal obeys', () => {
  const found = 'The namespace a\u001B[2J\nb does not exist.';
  const lines = linesOf([
    { check: 'namespace', status: 'fault', found, remedy: 'Create it.' },
    { check: 'release', ...notChecked('the namespace cannot be used') },
  ]);
  expect(lines).toEqual([
    'fault        namespace  The namespace a·[2J·b does not exist. Create it.',
    'not checked  release    Not checked, because the namespace cannot be used.',
  ]);
});
