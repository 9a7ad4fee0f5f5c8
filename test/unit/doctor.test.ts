import Long from 'long';
import { expect, onTestFinished, test, vi } from 'vitest';
import { randomBytes } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { pino } from 'pino';
import { workerIdentity } from '../../client/encryption/key-requirement.js';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import { startCodecServer } from '../../workers/codec-server.js';
import { readCodecServerConfig, readWorkerConfig } from '../../workers/settings/config.js';
import { examine } from '../../workers/doctor.js';
import { codecServer } from '../../workers/doctor/codec-server.js';
import { readDoctorConfig } from '../../workers/doctor/config.js';
import { database } from '../../workers/doctor/database.js';
import { encryption } from '../../workers/doctor/encryption.js';
import { answerWithinMs, linesOf, notChecked, ok, runChecks } from '../../workers/doctor/findings.js';
import { notificationTarget } from '../../workers/doctor/notification-target.js';
import { labService } from '../../workers/doctor/service.js';
import { retention } from '../../workers/doctor/server.js';
import { reconciliation } from '../../workers/doctor/workers.js';
import { ensureSearchAttributes } from '../../workers/worker/search-attributes.js';
import { clientAnsweredWith } from '../rig/grpc-answers.js';
import { answering, errorNamed, rejection, serving } from './service/recording-server.js';

const { DescribeNamespaceResponse, DescribeTaskQueueResponse } = proto.temporal.api.workflowservice.v1;

/** A Temporal that answers so. */
async function temporalAnswering(answer: Parameters<typeof clientAnsweredWith>[0]) {
  const client = await clientAnsweredWith(answer);
  return { connection: client.connection as Connection, address: '', namespace: 'default' };
}

const polledBy = (...pollers: [identity: string, secondsAgo: number][]) =>
  DescribeTaskQueueResponse.encode({
    pollers: pollers.map(([identity, ago]) => ({
      identity,
      lastAccessTime: { seconds: Long.fromNumber(Math.floor(Date.now() / 1000) - ago) },
    })),
  }).finish();

const matching = (pattern: RegExp | string) => expect.stringMatching(pattern) as string;

test('a worker without keys is named while it polls, and no longer when it has been replaced', async () => {
  let secondsAgo = 60;
  const temporal = await temporalAnswering((method) =>
    method === 'DescribeTaskQueue' ? polledBy(['4711@old-host', secondsAgo], [workerIdentity(true), 0]) : undefined,
  );
  const keyRing = parseKeyRing(`invented:${randomBytes(32).toString('base64')}`);
  const checked = () => encryption(temporal, { keyRing, encryption: 'required', taskQueue: 'queue' });
  const found = 'A worker polls the task queue without keys, but keys are set here: 4711@old-host.';
  expect(await checked()).toMatchObject({ status: 'fault', found });
  secondsAgo = 150;
  expect(await checked()).toMatchObject({ status: 'ok' });
});

test('a retention is compared with how far reconciliation looks back, which grows with the pause between its passes', async () => {
  const ttl = { seconds: Long.fromNumber(10 * 86_400) };
  const temporal = await temporalAnswering(() =>
    DescribeNamespaceResponse.encode({ config: { workflowExecutionRetentionTtl: ttl } }).finish(),
  );
  const checked = (reconcileEveryMinutes: number) =>
    retention(temporal, { echoesPassthrough: true, reconcileEveryMinutes });
  expect(await checked(60)).toMatchObject({ status: 'ok', found: 'Ended workflows are retained for 10 days.' });
  const remedy = matching(/^Keep them for at least 15 days: /);
  expect(await checked(7 * 1440)).toMatchObject({ status: 'warning', remedy });
});

test.each([
  [[30], 'Restart'],
  [[400], 'Start'],
  [[], 'Start'],
])('a worker creates a missing schedule at its start: for polls %j seconds ago it is %s', async (polls, verb) => {
  const missing = { code: 5, details: 'schedule not found' };
  const pollers = polledBy(...polls.map((ago): [string, number] => ['', ago]));
  const temporal = await temporalAnswering((method) => (method === 'DescribeSchedule' ? missing : pollers));
  const remedy = matching(`^${verb} a worker: `);
  const checked = await reconciliation(temporal, { taskQueue: 'queue', reconcileEveryMinutes: 60 });
  expect(checked).toMatchObject({ status: 'fault', remedy });
});

test.each(['Keyword', 'KeywordList', 'Datetime'])(
  'a worker needs a namespace with room for attributes of type %s',
  async (type) => {
    const details = `Unable to create search attributes: cannot have more than 3 search attribute of type ${type}.`;
    const { connection } = await temporalAnswering((method) =>
      method === 'AddSearchAttributes' ? { code: 3, details } : undefined,
    );
    const noRoom = new RegExp(`no room .+ of type ${type}.+ Give it a namespace of its own`);
    const missing = errorNamed('SearchAttributesMissing', noRoom);
    expect(await rejection(ensureSearchAttributes(connection, 'shared'))).toMatchObject(missing);
  },
);

test('a codec server is asked to decrypt, and a missing token, other keys or its absence is named', async () => {
  const [keys, token] = [`invented:${randomBytes(32).toString('base64')}`, 'an-invented-token-of-24-characters'];
  const config = readCodecServerConfig({ LABOPS_ENCRYPTION_KEYS: keys, CODEC_PORT: '0', CODEC_TOKEN: token });
  const server = await startCodecServer(config, pino({ level: 'silent' }));
  const { url } = server;
  const bearer = { url, authorization: `Bearer ${token}` };
  const other = parseKeyRing(`other:${randomBytes(32).toString('base64')}`);
  const faultOf = async (...given: Parameters<typeof codecServer>) => {
    const { status, found, remedy } = (await codecServer(...given)) as { [key: string]: string };
    return status === 'fault' ? `${found} ${remedy}` : status;
  };
  expect(await faultOf(bearer, parseKeyRing(keys))).toBe('ok');
  expect(await faultOf({ url }, parseKeyRing(keys))).toContain('TEMPORAL_CODEC_AUTH');
  expect(await faultOf(bearer, other)).toMatch(/ Give it the LABOPS_ENCRYPTION_KEYS of the workers\.$/);
  expect(await faultOf({ ...bearer, url: `${url}/decode` }, other)).toMatch(/^The codec server answered 404\. /);
  await server.close();
  expect(await faultOf(bearer, other)).toMatch(/cannot be reached/);
  const { baseUrl: page } = await serving((_request, response) => response.end('<html>'));
  const taken = 'What answers there takes the request and does not decrypt. ';
  expect(await faultOf({ url: page }, other)).toContain(taken);
  const secret = 'sEcReT';
  const broken = { url, authorization: `Bearer ${secret}\nmore` };
  for (const wrong of [{ url: `http://user:${secret}@127.0.0.1:9` }, broken])
    expect(await faultOf(wrong, other)).not.toMatch(new RegExp(`^ok$|${secret}`));
  expect(await codecServer(undefined, other)).toMatchObject({ status: 'not_checked' });
});

test('while a setting of the worker has a fault, nothing else is checked', async () => {
  const all = await examine(readDoctorConfig({ SERVICE_API_KEY: 'sk_test_invented', DATABASE_POOL_SIZE: 'many' }));
  const [first, ...others] = all.filter(({ check }) => check !== 'settings' && check !== 'ingress settings');
  expect(first).toEqual({ check: 'Temporal', ...notChecked('the settings have faults') });
  expect(others.map(({ status }) => status)).toEqual(others.map(() => 'not_checked'));
  expect(others.map(({ check }) => check)).toContain('lab service');
  expect(all[0]).toMatchObject({ check: 'settings', status: 'fault' });
});

test('what is missing in this shell is not said of the workers, which may have it', async () => {
  for (const verdict of [await notificationTarget(undefined), await database({})]) {
    const found = matching(/ is not set here: .*with these settings/);
    expect(verdict).toMatchObject({ status: 'warning', found });
  }
});

test('a service with the lists of orders and users is right without a catalogue; one with neither may be another', async () => {
  const checked = async (isService: boolean) => {
    const isList = (url = '') => isService && /^\/(orders|v2\/user\/)\?/.test(url);
    const { baseUrl } = await answering(({ url }) => {
      const page = { orders: [], users: [], total: 0, page: 1, size: 1, pages: 0 };
      return isList(url) ? { body: page } : { status: 404, body: { detail: 'Not Found' } };
    });
    const env = { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: 'sk_test_invented', NODE_ENV: 'test' };
    return labService(readWorkerConfig(env).service);
  };
  expect(await checked(true)).toMatchObject({ status: 'ok' });
  expect(await checked(false)).toMatchObject({ status: 'fault', remedy: matching(/, or correct SERVICE_BASE_URL\.$/) });
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
  onTestFinished(() => void vi.useRealTimers());
  const running = runChecks([{ name: 'hanging', run: () => new Promise(() => undefined) }, healthy]);
  await vi.advanceTimersByTimeAsync(answerWithinMs);
  expect(await running).toMatchObject([
    { check: 'hanging', status: 'fault', found: 'There was no answer within 8 seconds.' },
    { check: 'healthy', status: 'ok' },
  ]);
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
