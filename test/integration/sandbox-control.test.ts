import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { SandboxConfigError, readSandboxConfig } from '../../sandbox/config.js';
import { sandboxControl } from '../../sandbox/control.js';
import { settingsSchema } from '../../sandbox/lab-service/settings.js';
import { startBuilt } from '../rig/built.js';
import { eventually } from '../rig/eventually.js';
import { webhookSecret, lows, startSandbox } from './sandbox-rig.js';

const day = 86_400_000;

/** A kit's way to its customer and, once it is registered, to its results. */
const returned = [
  { after: '1d', status: 'transit_customer' },
  { after: '2d', status: 'with_customer' },
  { after: '3d', awaits: 'registration', status: 'transit_lab' },
  { after: '2d', status: 'delivered_to_lab' },
  { after: '3d', status: 'completed' },
] as const;

test('the clock going forward makes every step happen, each at its own time', async () => {
  const { call, control, newKit } = await startSandbox();
  const start = Date.parse('2030-01-01T00:00:00Z');
  await control.setClock(new Date(start));
  const { id } = await newKit();
  await control.playStory(id, [
    { after: '1d', status: 'transit_customer' },
    { after: '2d', status: 'with_customer' },
    { after: '30d', status: 'transit_lab' },
  ]);
  await control.advanceClock('4d');
  const { events } = (await call('GET', `/v3/order/${id}`)).body;
  expect(lows({ events })).toEqual(['ordered', 'awaiting_registration', 'transit_customer', 'with_customer']);
  const days = events.slice(2).map((event) => (Date.parse(event.created_at) - start) / day);
  expect(days.map(Math.round)).toEqual([1, 3]);
  days.forEach((day) => expect(day % 1).toBeLessThan(0.001));
});

test('moving an order goes anywhere, with details, interpretation and unknown statuses', async () => {
  const { control, newKit } = await startSandbox();
  const { id } = await newKit();
  await control.move(id, { status: 'lab_processing_blocked', status_detail: 'date_of_collection_unspecified' });
  await control.move(id, 'never_heard_of');
  await control.move(id, 'limbo.testkit.somewhere');
  const { order } = await control.move(id, 'transit_customer');
  expect(order.events.slice(2).map(({ status, status_detail: detail }) => [status, detail])).toEqual([
    ['sample_with_lab.testkit.lab_processing_blocked', 'date_of_collection_unspecified'],
    ['sample_with_lab.testkit.never_heard_of', null],
    ['limbo.testkit.somewhere', null],
    ['collecting_sample.testkit.transit_customer', null],
  ]);
});

test('stories end with a cancelled or a deleted order', async () => {
  const { call, control, newKit } = await startSandbox();
  const [cancelled, deleted] = [await newKit(), await newKit()];
  await control.playStory(cancelled.id, returned);
  await control.playStory(deleted.id, returned);
  await call('POST', `/v3/order/${cancelled.id}/cancel`);
  await control.deleteOrder(deleted.id);
  await control.advanceClock('60d');
  expect(lows((await control.order(cancelled.id)).order).at(-1)).toBe('cancelled');
  expect((await call('GET', `/v3/order/${deleted.id}`)).status).toBe(404);
  expect((await call('GET', `/orders?user_id=${deleted.user_id}`)).body.total).toBe(0);
});

test('a reset leaves nothing but the seed and the settings of the start', async () => {
  const { call, control, newKit } = await startSandbox({ echoPassthrough: false });
  const { id } = await newKit();
  await control.playStory(id, returned);
  await control.addFault({ path: '/**', action: { kind: 'refuse' } });
  await control.changeSettings({ echoPassthrough: true, daySeconds: 5 });
  await control.advanceClock('40d');
  await control.reset();
  expect((await call('GET', '/v2/user')).body.total).toBe(0);
  expect(await control.orders()).toEqual([]);
  expect(await control.settings()).toMatchObject({ echoPassthrough: false, daySeconds: 86_400 });
  expect(Math.abs(Date.parse((await control.clock()).now) - Date.now())).toBeLessThan(60_000);
});

test('a control request that cannot be read is refused with a sentence', async () => {
  const { control, newKit } = await startSandbox();
  const { id } = await newKit();
  await expect(control.playStory(id, [])).rejects.toThrow('at [1]');
  await expect(control.playStory(id, [{ after: '2 fortnights', status: 'x' }])).rejects.toThrow(
    'expected milliseconds',
  );
  await expect(control.changeSettings({ daySeconds: 0 })).rejects.toThrow('daySeconds');
  await expect(control.move('00000000-0000-4000-8000-000000000000', 'x')).rejects.toThrow('there is no order');
  await expect(control.addFault({ path: 'x', action: { kind: 'refuse' } })).rejects.toThrow('path');
});

test('an injected fault matches by method and path, where * is one segment and ** any rest', async () => {
  const { call, control, newKit } = await startSandbox();
  const { id } = await newKit();
  const teapot = { kind: 'answer', status: 418 } as const;
  await control.addFault({ method: 'post', path: '/v3/order/*/cancel', action: teapot });
  expect((await call('GET', `/v3/order/${id}`)).status).toBe(200);
  expect((await call('POST', `/v3/order/${id}/cancel`)).status).toBe(418);
  await control.removeFaults();
  await control.addFault({ path: '/v3/order/*', action: teapot });
  expect((await call('GET', `/v3/order/${id}/result`)).status).toBe(404);
  expect((await call('GET', `/v3/order/${id}?x=1`)).status).toBe(418);
  await control.removeFaults();
  const everything = await control.addFault({ path: '/**', action: teapot });
  expect((await call('GET', '/v2/user/')).status).toBe(418);
  await control.removeFaults(everything);
  expect((await call('GET', '/v2/user/')).status).toBe(200);
});

test('ending the stand-in does not wait for an answer that is delayed', async () => {
  const { call, control, service } = await startSandbox();
  await control.addFault({ path: '/v2/user', action: { kind: 'delay', delayMs: 600_000 } });
  const waiting = call('GET', '/v2/user').catch(() => 'ended');
  await eventually(async () => expect(await control.requests()).toHaveLength(1));
  await service.close();
  await waiting;
});

/** Sent manually: `fetch` does not let a caller choose these headers. */
async function settle(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  const asked = request({ hostname, port, path: '/_sandbox/settleWebhooks', method: 'POST', headers });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

test('a web page of another origin controls nothing, and neither does one whose host name was made to lead here', async () => {
  const { url } = (await startSandbox()).service;
  const { host } = new URL(url);
  expect(await settle(url, { host })).toBe(200);
  expect(await settle(url, { host, origin: `http://${host}` })).toBe(200);
  expect(await settle(url, { host: 'sandbox:4010' })).toBe(200);
  for (const origin of ['https://evil.example', 'null', 'http://localhost:1']) {
    expect(await settle(url, { host, origin }), origin).toBe(403);
  }
  expect(await settle(url, { host: 'rebound.evil.example' })).toBe(403);
  expect(await settle(url, { host: 'rebound.evil.example', origin: 'http://rebound.evil.example' })).toBe(403);
});

describe('the settings of the program', () => {
  const complete = { SERVICE_API_KEY: 'key', WEBHOOK_SECRETS: `${webhookSecret},whsec_aW52ZW50ZWQtc2VjcmV0LXR3bw==` };

  test('have their documented defaults', () => {
    expect(readSandboxConfig(complete)).toEqual({
      port: 4010,
      host: '127.0.0.1',
      apiKey: 'key',
      description: {},
      settings: { webhookUrl: 'http://127.0.0.1:4000/webhooks', webhookSecrets: [webhookSecret], daySeconds: 86_400 },
    });
    const moved = readSandboxConfig({ ...complete, INGRESS_PORT: '4555', SANDBOX_DAY_SECONDS: '2.5' });
    expect(moved.settings).toMatchObject({ webhookUrl: 'http://127.0.0.1:4555/webhooks', daySeconds: 2.5 });
    const silent = readSandboxConfig({ SERVICE_API_KEY: 'key', SANDBOX_WEBHOOK_URL: '' });
    expect(silent.settings).toMatchObject({ webhookUrl: '', webhookSecrets: [] });
  });

  test('the settings of the program that are invalid are named all at once, and no secret is shown', () => {
    const read = (): unknown =>
      readSandboxConfig({
        SANDBOX_PORT: '99999',
        SANDBOX_DAY_SECONDS: '-1',
        SANDBOX_WEBHOOK_URL: 'ftp://x',
        SERVICE_DESCRIPTION: '/not/there.json',
        SERVICE_BRAND: 'two words',
        WEBHOOK_SECRETS: 'plain-secret',
      });
    expect(read).toThrow(SandboxConfigError);
    const names = ['SANDBOX_PORT', 'SANDBOX_DAY_SECONDS', 'SANDBOX_WEBHOOK_URL', 'SERVICE_BRAND', 'WEBHOOK_SECRETS'];
    for (const name of [...names, 'SERVICE_API_KEY', 'SERVICE_DESCRIPTION names a file that cannot be read'])
      expect(read).toThrow(name);
    expect(read).not.toThrow('plain-secret');
  });

  test.each(['whsec_', 'c2FuZGJveC1vbmx5LXNlY3JldC0wMDAx', 'whsec_c2hvcnQ=', `v1,${webhookSecret}`])(
    'refuse the secret %j, which no receiver should use',
    (secret) => {
      expect(() => readSandboxConfig({ ...complete, WEBHOOK_SECRETS: secret })).toThrow('WEBHOOK_SECRETS: the first');
      expect(settingsSchema.safeParse({ webhookSecrets: [secret] }).success).toBe(false);
    },
  );
});

test('the program serves until it is stopped, and then ends cleanly; another one on its port says which setting changes it', async () => {
  const run = (port: string, ready?: RegExp) =>
    startBuilt('sandbox/main.ts', {
      env: { SERVICE_API_KEY: 'key', SANDBOX_WEBHOOK_URL: '', SANDBOX_PORT: port },
      ...(ready && { ready }),
    });
  const started = await run('0', /http:\/\/127\.0\.0\.1:\d+,/);
  const [url = '', port = ''] = /http:\/\/127\.0\.0\.1:(\d+)/.exec(started.output()) ?? [];
  const control = sandboxControl(url);
  await control.playStory((await control.createOrder()).order.id, returned);
  const other = await run(port);
  expect(await other.exit).toEqual({ code: 1, signal: null });
  expect(other.output()).toMatch(
    new RegExp(`^Port ${port} is in use: set SANDBOX_PORT to a free one, and .* SERVICE_BASE_URL`),
  );
  expect(await started.stop('SIGINT')).toEqual({ code: 0, signal: null });
});
