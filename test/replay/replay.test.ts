import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { PayloadCodec } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { describe, expect, inject, test } from 'vitest';
import { createActivities } from '../../activities/activities.js';
import type { ActivityDependencies } from '../../activities/dependencies.js';
import { compareText } from '../../protocol/json.js';
import { faults } from '../../protocol/unencrypted.js';
import { readHistory, recordedIdentity } from './history-file.js';
import { withEmptyTasks } from './joined-tasks.js';
import { replay, replayed } from './replaying.js';

const folder = new URL('histories/', import.meta.url);
const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted();

const textOf = (name: string) => readFile(new URL(name, folder), 'utf8');

describe('what was under way before an update of the worker goes on after it', () => {
  const failures = failuresOf(readHistory);
  test.each(names)('%s', async (name) => expect((await failures).get(name)).toBeUndefined());
});

describe('what was under way goes on though the SDK replays several workflow tasks in one step', () => {
  const failures = failuresOf((text) => readHistory(JSON.stringify(withEmptyTasks(JSON.parse(text) as object))));
  test.each(names)('%s', async (name) => expect((await failures).get(name)).toBeUndefined());
});

/** By the name of the history: what its replay failed with, or undefined. */
async function failuresOf(historyOf: (text: string) => object): Promise<ReadonlyMap<string, unknown>> {
  const texts = await Promise.all(names.map(textOf));
  const failures = await replay(texts, historyOf, { codePath: inject('workflowBundlePath') });
  expect(failures).toHaveLength(names.length);
  return new Map(names.map((name, index) => [name, failures[index]]));
}

// `labops replay` names it, because payloads are bound to their namespace. The SDK's type does not have it.
test('the replayer passes the namespace that it is given on to the payload codec', async () => {
  const text = await textOf('webhook-read.json');
  const namespaces = new Set<string | undefined>();
  const look: PayloadCodec['decode'] = async (payloads, context) => {
    namespaces.add(context?.namespace);
    return payloads;
  };
  const dataConverter = { payloadCodecs: [{ encode: look, decode: look }] };
  const options = { namespace: 'labs', dataConverter, workflowBundle: { codePath: inject('workflowBundlePath') } };
  const [, workflowId = ''] = /"workflowId":"([^"]+)"/.exec(text) ?? [];
  for await (const { error } of replayed(options, [{ workflowId, history: readHistory(text) }]))
    expect(error).toBeUndefined();
  expect([...namespaces]).toEqual(['labs']);
});

describe('the recorded histories', () => {
  const recorded = async (pattern: RegExp) => {
    const all = (await Promise.all(names.map(textOf))).join('');
    return new Set([...all.matchAll(pattern)].map(([, name = '']) => name));
  };
  const missing = (of: Iterable<string>, found: ReadonlySet<string>) =>
    [...of].filter((name) => !found.has(name)).toSorted(compareText);

  test('cover every activity that the worker has', async () => {
    const activities = Object.keys(createActivities(neverCalled as ActivityDependencies));
    expect(activities.length).toBeGreaterThan(40);
    expect(missing(activities, await recorded(/"activityType":\{"name":"(\w+)"/g))).toEqual([]);
  });

  test('cover every workflow that the worker runs', async () => {
    const workflows = Object.keys(await import('../../workflows/index.js'));
    expect(missing(workflows, await recorded(/"workflowType":\{"name":"(\w+)"/g))).toEqual([]);
  });

  test('cover every update and every signal of a workflow', async () => {
    const messages = await messagesOfWorkflows();
    expect(messages.size).toBeGreaterThan(20);
    const updates = await recorded(/"acceptedRequest":.*?"name":"(\w+)"/g);
    const signals = await recorded(/"signalName":"(\w+)"/g);
    const found = new Set([
      ...[...updates].map((name) => `update ${name}`),
      ...[...signals].map((name) => `signal ${name}`),
    ]);
    expect(missing(messages, found)).toEqual([]);
  });

  test('cover every marker that a refusal leaves', async () => {
    // An update is refused before it is written, and a start that cannot be read waits for its key.
    const markers = faults.flatMap((fault) => [`${fault}-signal`, `${fault}-result`]);
    const found = await recorded(/"json":\{"id":"(\w+-\w+)[^"]*","deprecated"/g);
    expect(missing(['unencrypted-start', ...markers], found)).toEqual([]);
    const sources = await Promise.all((await filesOf('workflows')).map(async (file) => readFile(file, 'utf8')));
    expect(sources.flatMap((source) => [...source.matchAll(/\bpatched\((?!refusalPatch\()/g)])).toEqual([]);
  });

  test('cover a run that was begun by continue-as-new, of every workflow that hands its state to the next run', async () => {
    const started = names.map(async (name) => (await textOf(name)).split('\n')[1] ?? '');
    const continued = (await Promise.all(started)).filter((event) => event.includes('"continuedExecutionRunId"'));
    const found = new Set(continued.map((event) => /"workflowType":\{"name":"(\w+)"/.exec(event)?.[1] ?? ''));
    expect(missing(await workflowsThatCarry(), found)).toEqual([]);
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

/** Stands for all activities: they are only named here, and not called. */
const neverCalled: unknown = new Proxy({}, { get: () => neverCalled });

/** `update register`, `signal orderChanged`: by the definitions of all areas. */
async function messagesOfWorkflows(): Promise<Set<string>> {
  const found = new Set<string>();
  for (const file of await filesOf('protocol')) {
    const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    for (const each of Object.values(exported)) {
      const { type, name } = (each ?? {}) as { type?: unknown; name?: unknown };
      if ((type === 'update' || type === 'signal') && typeof name === 'string') found.add(`${type} ${name}`);
    }
  }
  return found;
}

/**
 * By their sources: workflows that continue in a new run with something `carried`. `placeKitOrder` starts again with
 * its input alone.
 */
async function workflowsThatCarry(): Promise<string[]> {
  const sources = await Promise.all((await filesOf('workflows')).map(async (file) => readFile(file, 'utf8')));
  const carrying = sources.flatMap((source) => [
    ...source.matchAll(/ontinueAsNew(?:Func)?<typeof (\w+)>[^;]*?carried/g),
    ...source.matchAll(/workflowType: (\w+)Name,\s+nextInput: [^;]*?carried/g),
  ]);
  return carrying.map(([, name = '']) => name);
}

async function filesOf(room: 'protocol' | 'workflows'): Promise<string[]> {
  const folder = fileURLToPath(new URL(`../../${room}`, import.meta.url));
  const all = await readdir(folder, { recursive: true });
  return all.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file));
}

describe('a replay fails', () => {
  test('when the workflows begin with something else', async () => {
    const workflowsPath = fileURLToPath(new URL('changed-workflows', import.meta.url));
    const changed = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
    const texts = await Promise.all(['registered.json', 'placed.json'].map(textOf));
    const violation = expect.any(DeterminismViolationError) as unknown;
    expect(await replay(texts, readHistory, changed)).toEqual([violation, violation]);
  });

  test('when an activity differs from the recorded one', async () => {
    const text = await textOf('registered.json');
    const altered = text.replaceAll('"name":"registerKit"', '"name":"somethingElse"');
    expect(altered).not.toBe(text);
    const [failure] = await replay([altered], readHistory, { codePath: inject('workflowBundlePath') });
    expect(failure).toBeInstanceOf(DeterminismViolationError);
  });
});
