import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, inject, test } from 'vitest';
import { compareText } from '../../workflows/canonical-json.js';
import { readHistory, recordedIdentity } from './history-file.js';

const quiet = { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) };
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: quiet } });

const folder = new URL('histories/', import.meta.url);
const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();

const textOf = (name: string) => readFile(new URL(name, folder), 'utf8');

async function replay(text: string, bundle?: { code: string }): Promise<void> {
  const [, workflowId = ''] = /"workflowId":"([^"]+)"/.exec(text) ?? [];
  const workflowBundle = bundle ?? { codePath: inject('workflowBundlePath') };
  await Worker.runReplayHistory({ workflowBundle }, readHistory(text), workflowId);
}

describe('what was under way before an update of the worker goes on after it', () => {
  test.each(names)('%s', async (name) => {
    await expect(replay(await textOf(name))).resolves.toBeUndefined();
  });
});

describe('the recorded histories', () => {
  test('cover every activity, every update, and every workflow', async () => {
    const all = (await Promise.all(names.map(textOf))).join('');
    const named = (pattern: RegExp) =>
      [...new Set([...all.matchAll(pattern)].map(([, name = '']) => name))].toSorted(compareText);
    expect(named(/"activityType":\{"name":"(\w+)"/g)).toEqual([
      'bookSlot',
      'cancelAppointment',
      'cancelOrder',
      'cancelWork',
      'completeMfa',
      'createKitOrder',
      'createLinkToken',
      'deleteWebhook',
      'discardRejected',
      'eraseHealthData',
      'fetchStream',
      'findConnection',
      'findEarlierDeletion',
      'findRunningWork',
      'findSlots',
      'findUnclaimedJob',
      'fingerprintWebhookSecret',
      'forwardOrder',
      'handOver',
      'handOverReport',
      'identifyAppointment',
      'identifyJob',
      'listRejected',
      'listWebhooks',
      'notify',
      'readAppointment',
      'readChain',
      'readOrder',
      'readParsingJob',
      'readUser',
      'readWebhookSecret',
      'registerKit',
      'registerWebhook',
      'replaceKitOrder',
      'replayRejected',
      'requestAppointment',
      'rescheduleAppointment',
      'scheduleDeletion',
      'undoDeletion',
      'uploadReport',
    ]);
    expect(named(/"acceptedRequest":.*?"name":"(\w+)"/g)).toEqual([
      'cancel',
      'chooseSlot',
      'findSlots',
      'register',
      'replaceKit',
      'reportLinkResult',
      'request',
      'requestAppointment',
      'requestLink',
      'reschedule',
      'resolveProblem',
      'submitMfaCode',
      'undo',
    ]);
    expect(named(/"workflowType":\{"name":"(\w+)"/g)).toEqual([
      'bookAppointment',
      'deleteUser',
      'discardRejectedEvent',
      'fetchWorkoutStream',
      'kitOrder',
      'linkProvider',
      'listRejectedEvents',
      'manageWebhooks',
      'parsingJob',
      'placeKitOrder',
      'replayRejectedEvents',
      'submitReport',
    ]);
    expect(names.length).toBeGreaterThanOrEqual(5);
  });

  test('name no machine', async () => {
    for (const name of names) {
      const text = await textOf(name);
      const identities = [...text.matchAll(/"identity":"([^"]*)"/g)].map(([, identity]) => identity);
      expect(new Set(identities), name).toEqual(new Set([recordedIdentity]));
      expect(text, name).not.toMatch(/\d+@|file:|node_modules|\/(home|Users|tmp)\//);
    }
  });
});

describe('a replay fails', () => {
  test('when the workflows begin with something else', async () => {
    const workflowsPath = fileURLToPath(new URL('changed-workflows', import.meta.url));
    const changed = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    for (const name of ['registered.json', 'placed.json']) {
      await expect(replay(await textOf(name), changed), name).rejects.toThrow(DeterminismViolationError);
    }
  });

  test('when an activity is another one than was recorded', async () => {
    const text = await textOf('registered.json');
    const altered = text.replaceAll('"name":"registerKit"', '"name":"somethingElse"');
    expect(altered).not.toBe(text);
    await expect(replay(altered)).rejects.toThrow(DeterminismViolationError);
  });
});
