import { connect } from 'node:net';
import { Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { senderTo } from '../../activities/notifications/sender.js';
import { readTemporalSettings } from '../../client/temporal.config.js';
import { errors, LabOperations } from '../../client/index.js';
import { throughProxy } from '../../client/temporal-connection.js';
import type { CloudEvent } from '../../protocol/notifications/events.js';
import { createLabService } from '../../service/lab-service.js';
import { fetchThroughProxy, proxyFor } from '../../service/http/proxy.config.js';
import { readIngressConfig } from '../../workers/settings/config.js';
import { connect as connectNatively } from '../../workers/native-connection.js';
import { clientAnsweredWith } from '../rig/grpc-answers.js';
import { answering, rejection, serving } from './service/recording-server.js';

/* One rule for all connections: which proxy, and never for this machine. */

const proxy = 'http://proxy.example:3128';
const secret = 'whsec_YW4taW52ZW50ZWQta2V5LXdpdGgtMzItYnl0ZXM=';
/** The worker's own connection. */
const native = (address: string) => connectNatively({ address, namespace: 'default', connection: { address } });
const both = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'grpc_proxy'];
const everywhere = Object.fromEntries(both.map((name) => [name, proxy]));

describe('the proxy for an address', () => {
  test.each([
    ['http://lab.example', { http_proxy: proxy }, 'http_proxy'],
    ['http://lab.example', { HTTP_PROXY: proxy }, 'HTTP_PROXY'],
    ['http://lab.example', { https_proxy: proxy }, undefined],
    ['https://lab.example', { HTTPS_PROXY: proxy, http_proxy: 'http://other.example:1' }, 'HTTPS_PROXY'],
    ['https://lab.example', { https_proxy: '', http_proxy: proxy }, 'http_proxy'],
    ['grpc://temporal.example:7233', { HTTPS_PROXY: proxy }, 'HTTPS_PROXY'],
    ['grpc://temporal.example:7233', { grpc_proxy: proxy, https_proxy: 'http://other.example:1' }, 'grpc_proxy'],
    ['grpc://temporal.example:7233', { https_proxy: 'proxy.example:3128' }, 'https_proxy'],
  ])('%s is that of %j', (address, env: Record<string, string>, setting) => {
    const found = proxyFor(address, env);
    expect([found?.setting, found?.url.host]).toEqual([setting, setting && 'proxy.example:3128']);
  });

  const thisMachine = ['127.0.0.1', '127.8.0.1', '[::1]', 'localhost', 'LOCALHOST', 'lab.localhost'];
  test.each(thisMachine)('is none for this machine: %s', (host) => {
    for (const protocol of ['http', 'https', 'grpc'])
      expect(proxyFor(`${protocol}://${host}:4010`, everywhere)).toBeUndefined();
  });

  test.each([
    ['lab.example', true],
    ['.example', true],
    ['*.example', true],
    ['other.example, lab.example', true],
    ['lab.example:443', true],
    ['lab.example:444', false],
    ['ab.example', false],
    ['*', true],
    ['10.0.0.0/8', false],
  ])('is none for https://lab.example under no_proxy=%s: %s', (list, isExempt) => {
    for (const name of ['no_proxy', 'NO_PROXY'])
      expect(proxyFor('https://lab.example', { ...everywhere, [name]: list }) === undefined).toBe(isExempt);
  });

  test.each([
    ['10.1.2.3', true],
    ['11.1.2.3', false],
    ['[fd00::7]', true],
  ])('is none for addresses of a network that no_proxy names: %s, %s', (host, isExempt) => {
    const env = { ...everywhere, no_proxy: '10.0.0.0/8,fd00::/8' };
    expect(proxyFor(`grpc://${host}:7233`, env) === undefined).toBe(isExempt);
  });

  test('must be an address, and the fault does not repeat a password', () => {
    const wrong = { https_proxy: 'socks5://user:pa55@proxy.example:1' };
    const message = 'https_proxy is not the address of a proxy (http://host:port)';
    expect(() => proxyFor('grpc://temporal.example:7233', wrong)).toThrow(message);
    expect(() => readTemporalSettings({ ...wrong, TEMPORAL_ADDRESS: 'temporal.example:7233' })).toThrow(message);
    const env = { ...wrong, TEMPORAL_ADDRESS: 'temporal.example:7233', WEBHOOK_SECRETS: secret };
    expect(() => readIngressConfig(env)).toThrow(/https_proxy is not the address of a proxy/);
  });
});

/** A proxy that leads every tunnel to one server, or refuses; with the hosts that were asked for. */
async function startProxy(target?: string) {
  const hosts: string[] = [];
  const credentials: (string | undefined)[] = [];
  const { server, baseUrl } = await serving(() => undefined);
  server.on('connect', (request, socket) => {
    hosts.push(request.url ?? '');
    credentials.push(request.headers['proxy-authorization']);
    socket.on('error', () => undefined);
    if (target === undefined) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const { hostname, port } = new URL(target);
    const there = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
  });
  onTestFinished(() => void vi.unstubAllEnvs());
  const use = (...names: string[]) => {
    for (const name of [...both, 'no_proxy', 'NO_PROXY'])
      vi.stubEnv(name, names.includes(name) ? baseUrl.replace('//', '//user:pa55@') : '');
  };
  return { hosts, credentials, use, url: baseUrl };
}

const event = { id: 'order-1/7/phase_changed' } as CloudEvent;
const calls: [string, (baseUrl: string) => Promise<unknown>][] = [
  [
    'a call of the lab service',
    async (baseUrl) => {
      const service = createLabService({ baseUrl, apiKey: 'sk_invented' });
      await service.users.get('1').catch(() => undefined);
      await service.close();
    },
  ],
  ['a notification', (url) => new MockActivityEnvironment().run(() => senderTo({ url, secret }).send(event))],
  ["a request of doctor's", (url) => fetchThroughProxy(url, { method: 'HEAD' })],
];

describe.each(calls)('%s', (_name, call) => {
  test.each(['http_proxy', 'HTTP_PROXY'])('goes through the proxy of %s', async (name) => {
    const { baseUrl, requests } = await answering(() => ({ status: 200, body: {} }));
    const { hosts, credentials, use } = await startProxy(baseUrl);
    use(name);
    await call('http://lab.example:4010');
    expect(hosts).toEqual(['lab.example:4010']);
    expect(credentials).toEqual([`Basic ${btoa('user:pa55')}`]);
    expect(requests).toHaveLength(1);
  });

  test('reaches this machine directly', async () => {
    const { baseUrl, requests } = await answering(() => ({ status: 200, body: {} }));
    const { hosts, use } = await startProxy();
    use(...both);
    await call(baseUrl);
    expect([hosts, requests.length]).toEqual([[], 1]);
  });
});

describe('a connection to Temporal', () => {
  test.each(['https_proxy', 'HTTPS_PROXY'])('goes through the proxy of %s', async (name) => {
    const client = await clientAnsweredWith(() => undefined);
    const { hosts, use } = await startProxy(`http://${(client.connection as Connection).options.address}`);
    use(name);
    const connection = await Connection.connect(throughProxy({ address: 'temporal.example:7233' }));
    await connection.close();
    await (await native('temporal.example:7233')).close();
    expect(new Set(hosts)).toEqual(new Set(['temporal.example:7233']));
  });

  test('reaches this machine directly', async () => {
    const client = await clientAnsweredWith(() => undefined);
    const { hosts, use } = await startProxy();
    use(...both);
    const { address } = (client.connection as Connection).options;
    await (await Connection.connect(throughProxy({ address }))).close();
    await (await native(address)).close();
    expect(hosts).toEqual([]);
  });
});

test('the message about an address that cannot be reached names the proxy, without its password', async () => {
  const { url, use } = await startProxy();
  use('https_proxy', 'http_proxy');
  const address = 'temporal.example:7233';
  const named = new RegExp(`through the proxy ${url} \\(https?_proxy\\)`);
  const soon = vi.spyOn(Connection, 'connect').mockImplementation(async (options) => {
    const connection = Connection.lazy({ ...options, connectTimeout: 3_000 });
    onTestFinished(() => connection.close());
    await connection.ensureConnected();
    return connection;
  });
  onTestFinished(() => soon.mockRestore());
  vi.stubEnv('TEMPORAL_ADDRESS', address);
  const service = createLabService({ baseUrl: 'http://lab.example', apiKey: 'sk_invented' });
  onTestFinished(() => service.close());
  const failed = await Promise.all([
    rejection(LabOperations.connect({ encryption: 'optional' })),
    rejection(native(address)),
    rejection(service.users.get('1')),
    rejection(new MockActivityEnvironment().run(() => senderTo({ url: 'http://product.example', secret }).send(event))),
  ]);
  expect(failed[0]).toBeInstanceOf(errors.TemporalUnreachable);
  for (const { message } of failed as Error[]) {
    expect(message).toMatch(named);
    expect(message).not.toContain('pa55');
  }
  expect((failed[0] as Error).message).toContain('the proxy answers 403');
});
