import { describe, expect, test } from 'vitest';
import { startSandbox, testkitBody, type Sandbox } from './sandbox-rig.js';
import { eventually } from '../rig/eventually.js';

const testkit = '/v3/order/testkit';

describe('an injected fault', () => {
  test('answers with status, headers and a plain text instead of the work', async () => {
    const { call, control, newUser } = await startSandbox();
    const kit = testkitBody(await newUser());
    const action = { kind: 'answer', status: 429, body: 'slow down', headers: { 'retry-after': '7' } } as const;
    await control.addFault({ method: 'POST', path: testkit, times: 1, action });
    const answer = await call('POST', testkit, kit);
    expect(answer).toMatchObject({ status: 429, text: 'slow down' });
    expect(answer.type).toContain('text/plain');
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(await control.orders()).toEqual([]);
    expect((await call('POST', testkit, kit)).status).toBe(200);
  });

  test('loses the answer after the work: one order, and the caller knows nothing of it', async () => {
    const { call, control, newUser } = await startSandbox();
    const userId = await newUser();
    await control.addFault({ method: 'POST', path: testkit, times: 1, action: { kind: 'drop_response' } });
    await expect(call('POST', testkit, testkitBody(userId))).rejects.toThrow('fetch failed');
    expect((await call('GET', `/orders?user_id=${userId}`)).body.total).toBe(1);
    expect(await control.requests({ method: 'POST', path: testkit })).toMatchObject([
      { outcome: 'dropped', status: null },
    ]);
  });

  test('resets the connection before any work', async () => {
    const { call, control, newUser } = await startSandbox();
    await control.addFault({ path: testkit, times: 1, action: { kind: 'refuse' } });
    await expect(call('POST', testkit, testkitBody(await newUser()))).rejects.toThrow('fetch failed');
    expect(await control.orders()).toEqual([]);
    expect(await control.requests({ path: testkit })).toMatchObject([{ outcome: 'refused' }]);
  });

  test('delays the work, or only its answer', async () => {
    const { call, control, newUser } = await startSandbox();
    const kit = testkitBody(await newUser());
    await control.addFault({ path: testkit, times: 1, action: { kind: 'delay', delayMs: 8_000, phase: 'after_work' } });
    const lateAnswer = call('POST', testkit, kit);
    await eventually(async () => expect(await control.orders()).toHaveLength(1));
    expect(await control.requests({ path: testkit })).toMatchObject([{ outcome: 'pending' }]);
    await control.addFault({ path: testkit, times: 1, action: { kind: 'delay', delayMs: 8_000 } });
    const lateWork = call('POST', testkit, kit);
    await eventually(async () => expect(await control.requests({ path: testkit })).toHaveLength(2));
    expect(await control.orders()).toHaveLength(1);
    expect((await lateAnswer).status).toBe(200);
    expect((await lateWork).status).toBe(200);
    expect(await control.orders()).toHaveLength(2);
  });

  test('does the work although the caller gave up during the delay', async () => {
    // A busy machine may give up too late: then once more, with more time for it.
    for (const delayMs of [1_000, 8_000, 60_000]) {
      const sandbox = await startSandbox();
      if (!(await givesUpWithin(sandbox, delayMs))) continue;
      await eventually(async () => expect(await sandbox.control.orders()).toHaveLength(1));
      return;
    }
    expect.fail('each request was answered before its caller gave up');
  });

  /** False if the answer came first. */
  async function givesUpWithin({ service, control, newUser }: Sandbox, delayMs: number): Promise<boolean> {
    await control.addFault({ path: testkit, times: 1, action: { kind: 'delay', delayMs } });
    const caller = new AbortController();
    const request = fetch(service.url + testkit, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-api-key': 'sk_test_invented' },
      body: JSON.stringify(testkitBody(await newUser())),
      signal: caller.signal,
    });
    const answered = request.then(
      () => true,
      () => false,
    );
    await eventually(async () => expect(await control.requests({ path: testkit })).toHaveLength(1));
    caller.abort();
    if (await answered) return false;
    await expect(request).rejects.toThrow('aborted');
    return true;
  }

  test('matches by method and path, where * is one segment and ** any rest', async () => {
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

  test('lets the first requests pass if it says so', async () => {
    const { call, control } = await startSandbox();
    await control.addFault({ path: '/v2/user', skip: 1, times: 2, action: { kind: 'answer', status: 500 } });
    const statuses: number[] = [];
    for (const _ of [1, 2, 3, 4]) statuses.push((await call('GET', '/v2/user')).status);
    expect(statuses).toEqual([200, 500, 500, 200]);
  });

  test('an injected fault never affects the control interface', async () => {
    const { control } = await startSandbox();
    await control.addFault({ path: '/**', action: { kind: 'refuse' } });
    await expect(control.health()).resolves.toBeUndefined();
  });
});

test('ending the stand-in does not wait for an answer that is delayed', async () => {
  const { call, control, service } = await startSandbox();
  await control.addFault({ path: '/v2/user', action: { kind: 'delay', delayMs: 600_000 } });
  const waiting = call('GET', '/v2/user').catch(() => 'ended');
  await eventually(async () => expect(await control.requests()).toHaveLength(1));
  await service.close();
  await waiting;
});
