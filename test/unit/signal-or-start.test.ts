import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { readEarlierRun, type EarlierRun, signalOrStart, startAfter } from '../../protocol/signal-or-start.js';
import { orderChangedSignal } from '../../protocol/order/messages.js';
import { kitOrderStart } from '../../protocol/starts.js';

const runId = '0c9a0000-0000-4000-8000-0000000000a1';
const snapshot = { orderId: 'order-1', events: [] };
const start = kitOrderStart(snapshot);

interface Begun {
  workflowIdReusePolicy?: string;
  args: [{ earlierRun: object }];
}

/** A server that knows at each look the run that was the latest at that time, and whose start arrives when there was one all the same. */
function serverThat(latest: readonly (string | undefined)[], isLate: boolean) {
  const begun: Begun[] = [];
  let looks = 0;
  const workflow = {
    options: { namespace: 'default' },
    workflowService: {
      async describeWorkflowExecution() {
        const found = latest[Math.min(looks, latest.length - 1)];
        looks += 1;
        return { workflowExecutionInfo: { execution: { runId: found ?? '' } } };
      },
    },
    getHandle: (workflowId: string) => ({
      async signal() {
        throw new WorkflowNotFoundError('not found', workflowId, undefined);
      },
    }),
    async signalWithStart(name: string, options: never) {
      const asked: Begun = options;
      begun.push(asked);
      if (isLate && asked.workflowIdReusePolicy === 'REJECT_DUPLICATE')
        throw new WorkflowExecutionAlreadyStartedError('started', 'kit-order/order-1', name);
    },
  };
  return { begun, workflow };
}

const sent = ({ workflow }: ReturnType<typeof serverThat>) =>
  signalOrStart(workflow, 'queue', start, orderChangedSignal, snapshot);

describe('a workflow that does not run', () => {
  test('is started as one after another, if one was there', async () => {
    const server = serverThat([runId], true);
    await sent(server);
    expect(server.begun.map(({ args }) => args[0].earlierRun)).toEqual([{ runId }]);
    expect(server.begun[0]).not.toHaveProperty('workflowIdReusePolicy');
  });

  test('is started as the first one only if the server has had none when the start arrives', async () => {
    const server = serverThat([undefined, runId], true);
    await sent(server);
    expect(server.begun.map(({ args }) => args[0].earlierRun)).toEqual([{}, { runId }]);
  });

  test('is not started on and on if the server contradicts itself', async () => {
    const server = serverThat([undefined], true);
    await expect(sent(server)).rejects.toBeInstanceOf(WorkflowExecutionAlreadyStartedError);
    expect(server.begun).toHaveLength(3);
  });

  test('is not started as the first one by a sender that has not looked, if one has ended', async () => {
    const { workflow } = serverThat([runId], true);
    const late = startAfter({}, workflow, 'queue', start, orderChangedSignal, snapshot);
    await expect(late).rejects.toBeInstanceOf(WorkflowExecutionAlreadyStartedError);
  });
});

test.each<[unknown, EarlierRun | undefined]>([
  [{ runId }, { runId }],
  [{}, {}],
  [undefined, undefined],
  [null, undefined],
  [runId, undefined],
  [{ runId: 7 }, undefined],
  [{ runId: 'unknown' }, undefined],
  [{ run_id: 'run-1' }, undefined],
])('an input with the earlier run %j is read as %j: only an empty one says that there was none', (given, read) => {
  expect(readEarlierRun(given)).toEqual(read);
});
