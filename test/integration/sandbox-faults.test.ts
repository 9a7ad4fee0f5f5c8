import { expect, test } from 'vitest';
import { startSandbox } from './sandbox-rig.js';
import { eventually } from '../rig/eventually.js';

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
