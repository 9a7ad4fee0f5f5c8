import { defaultPayloadConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { expect, test } from 'vitest';
import { failureConverter } from '../../client/encryption/failure-converter.js';
import { askAgain } from '../../protocol/failure-details.js';
import { UnstartedEventsRefusal } from '../../workflows/unstarted-events.js';

const { WorkflowActivation } = proto.coresdk.workflow_activation;

interface Step {
  jobs: ('signalWorkflow' | 'queryWorkflow' | 'resolveActivity')[];
  isReplaying?: boolean;
  length: number;
  size: number;
  seconds: number;
}

/** Plays the steps; says which of them reached the workflow, and with what the first was refused that did not. */
function play(steps: readonly Step[]): { played: number; refusal: unknown } {
  const refusal = new UnstartedEventsRefusal();
  let played = 0;
  try {
    for (const { jobs, isReplaying = false, length, size, seconds } of steps) {
      const activation = WorkflowActivation.fromObject({
        jobs: jobs.map((job) => ({ [job]: {} })),
        isReplaying,
        historyLength: length,
        historySizeBytes: size,
        timestamp: { seconds },
      });
      refusal.activate({ activation, batchIndex: 0 }, () => (played += 1));
    }
  } catch (error) {
    return { played, refusal: error };
  }
  return { played, refusal: undefined };
}

const replayed: Step = { jobs: ['signalWorkflow'], isReplaying: true, length: 16, size: 3_000, seconds: 1 };

// As the core of the SDK 1.24 does when a query is answered between a signal and its workflow task; the numbers are invented.
test('events behind the last started workflow task are refused: their decisions would never be sent', () => {
  const unstarted: Step = { jobs: ['signalWorkflow'], length: 18, size: 3_000, seconds: 1 };
  const { played, refusal } = play([replayed, unstarted]);
  expect(played).toBe(1);
  expect((refusal as Error).message).toBe(askAgain);
  expect(failureConverter.errorToFailure(refusal, defaultPayloadConverter).message).toBe(askAgain);
});

test.each<[string, Step]>([
  ['a workflow task', { jobs: ['signalWorkflow'], length: 21, size: 3_400, seconds: 2 }],
  ['a retried one, not yet recorded', { jobs: ['signalWorkflow'], length: 19, size: 3_000, seconds: 2 }],
  ['a query', { jobs: ['queryWorkflow'], length: 16, size: 3_000, seconds: 1 }],
  ['what follows within the same task', { jobs: ['resolveActivity'], length: 16, size: 3_000, seconds: 1 }],
  ['the next task of a replay', { ...replayed, length: 18 }],
])('%s is not refused', (_name, step) => {
  expect(play([replayed, step])).toEqual({ played: 2, refusal: undefined });
});

test('other messages of failures stay encrypted', () => {
  const { message } = failureConverter.errorToFailure(new Error('Quotina Invented'), defaultPayloadConverter);
  expect(message).not.toContain('Quotina');
});
