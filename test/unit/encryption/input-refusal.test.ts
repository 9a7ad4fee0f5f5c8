import '../../../proof/lives/sandbox.js';
import { createCipheriv, randomBytes, randomUUID } from 'node:crypto';
import { type ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import { setActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { WorkflowInfo } from '@temporalio/workflow';
import { Activator } from '@temporalio/workflow/lib/internals.js';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { parseKeyRing } from '../../../client/encryption/key-ring.js';
import { createPayloadCodec } from '../../../client/encryption/payload-codec.js';
import { dataConverterOf, markingUnencrypted } from '../../../workers/encryption.js';
import { InputRefusal } from '../../../workflows/input-refusal.js';

const keys = (id: string) => parseKeyRing(`${id}:${randomBytes(32).toString('base64')}`);
const ours = keys('ours');
const silent = pino({ level: 'silent' });

type Failure = NonNullable<
  NonNullable<NonNullable<NonNullable<Jobs[number]['resolveActivity']>['result']>['failed']>['failure']
>;
type Jobs = NonNullable<Parameters<InputRefusal['activate']>[0]['activation']['jobs']>;

/** A run with its worker's codec before it. */
function runWith(encryption: 'required' | 'optional', { recorded = [] as string[], isReplaying = false } = {}) {
  const [codec] =
    markingUnencrypted(dataConverterOf(ours, silent), encryption, silent).dataConverter?.payloadCodecs ?? [];
  const markers: string[] = [];
  const activator = new Activator({
    info: { workflowId: 'w', searchAttributes: {}, unsafe: { isReplaying, now: () => 0 } } as unknown as WorkflowInfo,
    now: 0,
    randomnessSeed: [1],
    showStackTraceSources: false,
    sourceMap: { version: 3, sources: [], names: [], mappings: '', file: '' },
    registeredActivityNames: new Set(),
    getTimeOfDay: () => 0n,
    stackTracesEnabled: false,
  });
  activator.workflow = async () => undefined;
  for (const patchId of recorded) if (isReplaying) activator.notifyHasPatch({ patchId });
  setActivator(activator);
  const refusal = new InputRefusal();
  const pass = (jobs: Jobs) => {
    let passed: Jobs = [];
    refusal.activate({ activation: { jobs }, batchIndex: 0 }, ({ activation }) => (passed = activation.jobs ?? []));
    markers.push(...activator.concludeActivation().commands.map(({ setPatchMarker }) => setPatchMarker?.patchId ?? ''));
    return passed;
  };
  const decoded = async (payload: Payload) => (await codec?.decode([payload], place('w'))) ?? [];
  return {
    markers,
    start: async (payload?: Payload) =>
      pass([{ initializeWorkflow: { arguments: payload ? await decoded(payload) : [] } }]),
    /** @returns the name of the signal that the workflow gets, with its argument */
    signal: async (payload: Payload) => {
      const input = await decoded(payload);
      const [job] = pass([{ signalWorkflow: { signalName: 'note', input, originatingEventId: 7 as never } }]);
      const signal = job?.signalWorkflow;
      return (
        signal && [signal.signalName, ...(signal.input ?? []).map((each) => defaultPayloadConverter.fromPayload(each))]
      );
    },
    /** @returns how the update is refused, if it is */
    update: async (...payloads: Payload[]) => {
      const input = (await Promise.all(payloads.map(decoded))).flat();
      const updateId = randomUUID();
      const [job] = pass([{ doUpdate: { id: updateId, name: 'undo', input } }]);
      const args = (job?.doUpdate?.input ?? []).map((each) => defaultPayloadConverter.fromPayload(each));
      try {
        refusal.validateUpdate({ updateId, name: 'undo', args, headers: {} }, () => undefined);
        return 'taken';
      } catch (error) {
        return (error as ApplicationFailure).type;
      }
    },
    /** @returns what an activity comes to: its value, or the type of its failure */
    result: async (payload?: Payload) => {
      const [result] = payload ? await decoded(payload) : [];
      const [job] = pass([{ resolveActivity: { seq: 3, result: { completed: { ...(result && { result }) } } } }]);
      const { completed, failed } = job?.resolveActivity?.result ?? {};
      if (failed) return failed.failure?.cause?.applicationFailureInfo?.type;
      return completed?.result && defaultPayloadConverter.fromPayload(completed.result);
    },
    /** @returns the failures of an activity, from the outermost, as the workflow gets them */
    failure: (cause: Failure) => {
      const failure = { message: 'Activity task failed', activityFailureInfo: {}, cause };
      const [job] = pass([{ resolveActivity: { seq: 3, result: { failed: { failure } } } }]);
      const types: string[] = [];
      for (let each = job?.resolveActivity?.result?.failed?.failure; each; each = each.cause)
        if (each.applicationFailureInfo) types.push(each.applicationFailureInfo.type ?? '');
      return types;
    },
  };
}

afterEach(() => setActivator(undefined));

const clear = (value: unknown) => defaultPayloadConverter.toPayload(value);
const place = (workflowId: string, namespace = 'default') => ({ type: 'workflow', namespace, workflowId }) as const;
const encrypted = async (value: unknown, ring = ours, at = place('w')) => {
  const [payload = {}] = await createPayloadCodec(ring).encode([clear(value)], at);
  return payload;
};
async function startedWith(mode: 'required' | 'optional') {
  const run = runWith(mode);
  await run.start(await encrypted({}));
  return run;
}
const bytes = (text: string) => Buffer.from(text);

/** Each of them cannot be read by a worker with our keys. */
const unreadable: Record<string, () => Promise<Payload>> = {
  'under an unknown key': () => encrypted(1, keys('another')),
  'under other bytes of a key id': () => encrypted(1, keys('ours')),
  'of another workflow': () => encrypted(1, ours, place('another')),
  'of another namespace': () => encrypted(1, ours, place('w', 'another')),
  'that was cut': async () => {
    const { metadata, data } = await encrypted(1);
    return { metadata: metadata ?? {}, data: data?.subarray(0, 20) ?? new Uint8Array() };
  },
  'without a key id': async () => ({ ...(await encrypted(1)), metadata: { encoding: bytes('binary/encrypted') } }),
  'without bytes': async () => ({ metadata: { encoding: bytes('binary/encrypted') } }),
  'that contains no payload': async () => {
    const nonce = randomBytes(12);
    const [{ key }] = ours;
    const aad = ['ours', 'default', 'w'].map((part) => `\0\0\0${String.fromCharCode(part.length)}${part}`).join('');
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bytes(aad));
    const text = Buffer.concat([cipher.update(Buffer.from([0xff, 0xff, 0xff])), cipher.final()]);
    const { metadata = {} } = await encrypted(1);
    return { metadata: metadata ?? {}, data: Buffer.concat([nonce, text, cipher.getAuthTag()]) };
  },
  'that contains broken JSON': async () => {
    const broken = { metadata: { encoding: bytes('json/plain') }, data: bytes('{') };
    return (await createPayloadCodec(ours).encode([broken], place('w')))[0] ?? {};
  },
  'in an encoding that nobody knows': async () => {
    const odd = { metadata: { encoding: bytes('binary/invented') }, data: bytes('x') };
    return (await createPayloadCodec(ours).encode([odd], place('w')))[0] ?? {};
  },
};

describe.each(Object.entries(unreadable))('a payload %s', (_what, make) => {
  test('becomes the signal that a person should look, whatever the mode', async () => {
    for (const mode of ['required', 'optional'] as const) {
      const run = runWith(mode);
      expect(await run.signal(await make())).toEqual(['unreadable']);
      expect(run.markers).toEqual(['unreadable-signal-7']);
    }
  });

  test('counts as a lost answer if it is the result of an activity', async () => {
    expect(await runWith('optional').result(await make())).toBe('AnswerLost');
  });

  test('as a start fails the workflow task, which is repeated', async () => {
    await expect(runWith('optional').start(await make())).rejects.toThrow(/cannot be read: (add the key|it was encr)/);
  });

  test('that was taken once lets a replay wait for the key', async () => {
    await expect(runWith('optional', { isReplaying: true }).signal(await make())).rejects.toThrow(/cannot be read: /);
    await expect(runWith('optional', { isReplaying: true }).result(await make())).rejects.toThrow(/cannot be read: /);
  });
});

test('in a replay the marker alone decides: what was refused stays refused though the key has arrived, or encryption is optional', async () => {
  const late = runWith('required', { isReplaying: true, recorded: ['unreadable-signal-7', 'unreadable-result-3'] });
  expect(await late.signal(await encrypted('readable now'))).toEqual(['unreadable']);
  expect(await late.result(await encrypted('readable now'))).toBe('AnswerLost');
  const recorded = ['unencrypted-signal-7', 'unencrypted-result-3'];
  const optional = runWith('optional', { isReplaying: true, recorded });
  expect(await optional.signal(clear('in clear'))).toBeUndefined();
  expect(await optional.result(clear('in clear'))).toBe('AnswerLost');
});

test('in a replay the marker alone decides: what was taken in clear stays taken though encryption is required now', async () => {
  const run = runWith('required', { isReplaying: true });
  await run.start(await encrypted({}));
  expect(await run.signal(clear({ n: 1 }))).toEqual(['note', { n: 1 }]);
  expect(await run.result(clear(null))).toBeNull();
  expect(await run.result()).toBeUndefined();
  expect(run.markers).toEqual([]);
});

test('with encryption required, an update is taken only with an encrypted argument: one without any says nothing of its sender', async () => {
  const run = await startedWith('required');
  expect(await run.update()).toBe('EncryptionRequired');
  expect(await run.update(clear({}))).toBe('EncryptionRequired');
  expect(await run.update(await encrypted({}))).toBe('taken');
  const open = await startedWith('optional');
  expect(await open.update()).toBe('taken');
});

test('with encryption required, a signal in clear is dropped, and so is the result of an activity, even one without a value', async () => {
  const run = await startedWith('required');
  expect(await run.signal(clear({ n: 1 }))).toBeUndefined();
  for (const forged of [clear('invented'), clear(undefined), clear('ACTIVITY_ID_NOT_STARTED'), undefined]) {
    expect(await (await startedWith('required')).result(forged)).toBe('AnswerLost');
  }
});

test('the key that the worker lacks is named by everything that waits for it', async () => {
  const missing = await encrypted(1, keys('old'));
  await expect(runWith('optional').start(missing)).rejects.toThrow(/start .* cannot be read: add the key "old" to/);
  const replay = runWith('optional', { isReplaying: true });
  await expect(replay.signal(missing)).rejects.toThrow(/history .* cannot be read: add the key "old" to/);
});

test('a start of another workflow is said to be one: no key would help', async () => {
  const moved = await encrypted(1, ours, place('another'));
  await expect(runWith('optional').start(moved)).rejects.toThrow(
    'the start of this workflow cannot be read: it was encrypted for another workflow or namespace',
  );
});

test('with encryption required, the first payload says so if the start has none', async () => {
  const teaching: ((run: ReturnType<typeof runWith>) => Promise<unknown>)[] = [
    async (run) => run.signal(await encrypted(1)),
    async (run) => run.signal(clear(1)),
    async (run) => run.result(await encrypted(1)),
  ];
  for (const teach of teaching) {
    const run = runWith('required');
    await run.start();
    await teach(run);
    expect(await run.result()).toBe('AnswerLost');
  }
});

test('what is encrypted with the keys of the worker reaches the workflow as it was', async () => {
  for (const mode of ['required', 'optional'] as const) {
    const run = await startedWith(mode);
    expect(await run.signal(await encrypted({ n: 1 }))).toEqual(['note', { n: 1 }]);
    expect(await run.result(await encrypted(undefined))).toBeUndefined();
    expect(run.markers).toEqual([]);
  }
});

test('with encryption required, a failure in clear counts as a lost answer, also within one that looks like the server’s', async () => {
  const own = { message: 'no', applicationFailureInfo: { type: 'OrderRefused', nonRetryable: true } };
  const forged: Failure[] = [
    own,
    { message: 'timeout', timeoutFailureInfo: { timeoutType: 3 }, cause: own },
    { message: 'server', serverFailureInfo: { nonRetryable: true }, cause: own },
    { message: 'cancelled', canceledFailureInfo: {}, cause: own },
  ];
  for (const failure of forged) {
    expect((await startedWith('required')).failure(failure)).toEqual(['AnswerLost']);
  }
  const run = await startedWith('required');
  expect(run.failure({ message: 'timeout', timeoutFailureInfo: { timeoutType: 3 } })).toEqual([]);
  expect(run.markers).toEqual([]);
});
