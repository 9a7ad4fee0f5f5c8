import { randomUUID } from 'node:crypto';
import { TypedSearchAttributes } from '@temporalio/common';
import { beforeAll, expect, test, vi } from 'vitest';
import { errors, LabOperations } from '../../client/index.js';
import { linkProviderName } from '../../protocol/link/messages.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { runLabops } from '../e2e/labops.js';
import { devServer } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';

/* Lists by pages, on Temporal's own tokens. */

const rig = devServer({ standing: 'integration' });
const userId = randomUUID();
const typedSearchAttributes = new TypedSearchAttributes([{ key: labUserIdKey, value: userId }]);

const start = (provider: string) =>
  rig.client.workflow.start(linkProviderName, {
    ...{ taskQueue: 'no-worker', workflowId: `link/${userId}/${provider}`, typedSearchAttributes },
  });

/** From the oldest run to the latest: Temporal lists "again" first and last of those that have ended. */
beforeAll(async () => {
  await (await start('again')).terminate();
  await (await start('ended')).terminate();
  await (await start('again')).terminate();
  await start('running-1');
  await start('running-2');
  const query = `LabUserId = '${userId}' AND ExecutionStatus = 'Terminated'`;
  await eventually(async () => expect((await rig.client.workflow.count(query)).count).toBe(3));
  await eventually(async () => expect((await pageOf(9)).providers).toHaveLength(4));
});

async function pageOf(limit: number, after?: string): Promise<{ providers: string[]; next?: string | undefined }> {
  const lab = new LabOperations(rig.client, { encryption: 'optional' });
  const providers: string[] = [];
  let next: string | undefined;
  const page = { limit, ...(after !== undefined && { after }), onNext: (token: string) => void (next = token) };
  for await (const { provider } of lab.links.list({ userId, ended: true }, { page })) providers.push(provider);
  return { providers, next };
}

test('a page is filled up to its limit, and the next one has the rest, each workflow once', async () => {
  const first = await pageOf(3);
  expect(first.providers).toEqual(['running-2', 'running-1', 'again']);
  expect(await pageOf(2, first.next)).toEqual({ providers: ['ended'], next: undefined });
});

test('only a page after another one asks whether an ended run is the latest', async () => {
  const describe = vi.spyOn(rig.client.workflowService, 'describeWorkflowExecution');
  const whole = await pageOf(5);
  expect(whole).toEqual({ providers: ['running-2', 'running-1', 'again', 'ended'], next: undefined });
  expect(describe).not.toHaveBeenCalled();
  await pageOf(2, (await pageOf(3)).next);
  expect(describe).toHaveBeenCalledTimes(2);
});

const list = async (...args: string[]) =>
  runLabops(['links', 'list', '--user', userId, '--ended', ...args], { env: { TEMPORAL_ADDRESS: rig.address } });

test('with -o jsonl the token of the next page is on standard error', async () => {
  const { stdout, stderr } = await list('-o', 'jsonl', '--limit', '3');
  expect(stdout.trim().split('\n')).toHaveLength(3);
  const { next } = JSON.parse(stderr) as { next: string };
  const rest = await list('-o', 'jsonl', '--after', next);
  expect(JSON.parse(rest.stdout)).toMatchObject({ provider: 'ended' });
  expect(rest.stderr).toBe('');
});

test('a token that no page of the same filter gave is wrong usage, and Temporal is not asked', async () => {
  const { next = '' } = await pageOf(3);
  const ask = vi.spyOn(rig.client.workflowService, 'listWorkflowExecutions');
  for (const wrong of ['', 'abcd', `${next}x`, next.replace(/^./, '!')]) {
    await expect(pageOf(3, wrong), wrong).rejects.toThrow(errors.LinkInvalid);
  }
  expect(ask).not.toHaveBeenCalled();
  const ofOtherFilter = ['links', 'list', '--user', userId, '--after', next];
  const { code, stderr } = await runLabops(ofOtherFilter, { env: { TEMPORAL_ADDRESS: rig.address } });
  expect(stderr).toMatch(/^LinkInvalid: .+: after must be the token of a page before, of the same filter\./m);
  expect(code).toBe(2);
});
