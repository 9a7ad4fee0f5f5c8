import { describe, expect, test } from 'vitest';
import { resolveLinkPolicy, type LinkPolicy } from '../../../protocol/link/policy.js';
import { linkProvider } from '../../../workflows/link/workflow.js';
import { Life, unavailable, type Answers } from '../life.js';
import { start } from './links.js';

/* The lives of links, from the token to the end: what the product is notified of, and when the service is asked. */

const userId = '00000000-0000-4000-8000-000000000001';
const provider = 'oura';

/** A link that was handed out at the start. */
async function life(policy: LinkPolicy = {}, answers: Answers = {}): Promise<Life> {
  const opening = { workflow: linkProvider, type: 'linkProvider', workflowId: `link-provider/${userId}/${provider}` };
  const begun = new Life(
    { ...opening, now: start },
    {
      createLinkToken: { linkToken: 'token', linkWebUrl: 'https://link.example/token', notifies: true },
      findConnection: { found: 'none', notifies: true },
      ...answers,
    },
  );
  await begun.start({ userId, provider, policy: resolveLinkPolicy(policy) });
  await begun.update('requestLink', {});
  return begun;
}

const found = (createdAt: string) => ({ found: 'new', createdAt, notifies: true });
const endOf = ({ run }: Life) => (run.end as { result?: object } | undefined)?.result;

describe('a link that nobody uses', () => {
  test('ends after the password’s day, once the service was asked for a connection', async () => {
    const { calls, events, announced } = await (await life()).until(1000);
    expect(calls).toEqual(['0h createLinkToken', '24h findConnection']);
    expect(events).toEqual(['24h link.ended expired', '24h completed']);
    expect(announced).toEqual([
      {
        id: `${userId}/${provider}/2026-03-01T10:00:00.000Z/ended`,
        at: '2026-03-02T10:00:00.000Z',
        source: `link-provider/${userId}/${provider}`,
        type: 'link.ended',
        subject: userId,
        data: { userId, provider, outcome: 'expired', waitedFor: 'password' },
      },
    ]);
  });

  test('ends a day later if the service is silent, which is asked at growing intervals of at most 15 minutes', async () => {
    const { calls, events } = await (await life({}, { findConnection: unavailable })).until(1000);
    expect(events).toEqual(['48.034h link.ended expired', '48.034h completed']);
    const reads = calls.slice(1).map((call) => Number.parseFloat(call));
    expect(reads.slice(0, 4)).toEqual([24, 24.001, 24.002, 24.004]);
    const pauses = reads.slice(1).map((at, index) => at - (reads[index] ?? 0));
    expect(Math.max(...pauses)).toBeCloseTo(0.25, 2);
  });

  test('ends in the same way without a token, if the service could not make one', async () => {
    const { events } = await (await life({}, { createLinkToken: unavailable })).until(1000);
    expect(events).toEqual(['24h link.ended expired', '24h completed']);
  });

  test('ends with its token if the policy says so, or with its longest time', async () => {
    const ofToken = await (await life({ onTokenExpiry: 'end', tokenLife: '10m' })).until(1000);
    expect(ofToken.events).toEqual(['0.167h link.ended expired', '0.167h completed']);
    const ofAll = await (await life({ totalWait: '5h' })).until(1000);
    expect(ofAll.announced[0]?.data).toMatchObject({ outcome: 'expired', waitedFor: 'link' });
  });
});

test('a link that waits for a code has one reminder, which says until when, and ends', async () => {
  const link = await life();
  await link.update('reportLinkResult', { state: 'pending_provider_mfa', providerMfa: { method: 'sms' } });
  const { events, announced } = await link.until(1000);
  expect(events).toEqual(['0.083h link.code_reminder', '1h link.ended expired', '1h completed']);
  expect(announced[0]).toMatchObject({
    id: `${userId}/${provider}/2026-03-01T10:00:00.000Z/code_reminder`,
    at: '2026-03-01T10:05:00.000Z',
    data: { until: '2026-03-01T11:00:00.000Z' },
  });
  expect(announced[1]?.data).toMatchObject({ waitedFor: 'code' });
});

describe('a reported success', () => {
  test('is looked for at growing intervals for two minutes; then the user begins again', async () => {
    const link = await life();
    await link.update('reportLinkResult', { state: 'success' });
    const { calls } = await link.until(1);
    expect(calls.map((call) => Math.round(Number.parseFloat(call) * 3600)).slice(1)).toEqual([
      ...[0, 4, 4, 7, 14, 32, 65, 119],
    ]);
    expect(link.events).toEqual([]);
    expect((await link.until(25)).events).toEqual(['24.033h link.ended expired', '24.033h completed']);
  });

  test('is confirmed by the connection that the service shows', async () => {
    const link = await life(
      {},
      { findConnection: (now: number) => (now > start ? found('2026-03-01T10:00:01.000Z') : { found: 'none' }) },
    );
    await link.update('reportLinkResult', { state: 'success' });
    const { events } = await link.until(1);
    expect(events).toEqual(['0.001h link.ended connected', '0.001h completed']);
    expect(endOf(link)).toMatchObject({ outcome: 'connected', connectedAt: '2026-03-01T10:00:01.000Z' });
  });
});

test('by the policy an older connection confirms a reported success, but not what a webhook reports', async () => {
  const since: unknown[] = [];
  const findConnection = (_now: number, sought: { since: number }) => {
    since.push(sought.since === 0 ? 'any' : sought.since - start);
    return { found: 'none' };
  };
  for (const isSuccess of [true, false]) {
    const link = await life({ confirmedBy: 'any' }, { findConnection });
    if (isSuccess) await link.update('reportLinkResult', { state: 'success' });
    else await link.signal('connectionReported');
  }
  expect(since).toEqual(['any', -60_000]);
});

test('a webhook’s connection is looked for like a success, and a link without one goes on', async () => {
  const link = await life();
  await link.until(1);
  await link.signal('connectionReported');
  await link.until(2);
  expect(link.calls.length).toBe(9);
  expect(link.events).toEqual([]);
  link.answers['findConnection'] = found('2026-03-01T11:00:00.000Z');
  await link.signal('connectionReported');
  expect(link.events).toEqual(['2h link.ended connected', '2h completed']);
});
