import type { Client } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { findLostJob } from '../../../activities/report-claims.js';
import { parsingJobId, submitReportId } from '../../../protocol/ids.js';

const userId = '00000000-0000-4000-8000-000000000001';
const jobId = '00000000-0000-4000-8000-000000000010';

const at = (minutes: number) => new Date(Date.parse('2026-03-01T10:00:00.000Z') + minutes * 60_000);
const span = (from: number, until: number) => ({ from: at(from).toISOString(), until: at(until).toISOString() });

/** A submission of the same user that ended with a job of its own, after an upload without an answer. */
interface Earlier {
  closed: number;
  lost: [number, number];
}

/** Temporal's list with one job that nobody has claimed, first reported at minute 5, and the user's other submission. */
function listing(earlier?: Earlier): Client {
  const none = { get: () => undefined };
  const job = { workflowId: parsingJobId(jobId), runId: 'job', startTime: at(5), status: { name: 'RUNNING' } };
  const submission = earlier && {
    ...{ workflowId: submitReportId('ref-1'), runId: 'submission', startTime: at(earlier.closed - 30) },
    ...{ closeTime: at(earlier.closed), status: { name: 'COMPLETED' } },
  };
  const list = ({ query }: { query: string }) => {
    if (!query.includes("'submitReport'")) return [job];
    const [, since = ''] = /CloseTime >= '([^']+)'/.exec(query) ?? [];
    return submission && submission.closeTime.toISOString() >= since ? [submission] : [];
  };
  const result = () => ({ version: 1, jobId: 'another', lostUploads: earlier ? [span(...earlier.lost)] : [] });
  const getHandle = () => ({
    describe: async () => ({ ...job, typedSearchAttributes: none }),
    result: async () => result(),
  });
  return { workflow: { list, getHandle } } as unknown as Client;
}

const lost = { reference: 'ref-2', userId, needsHumanReview: false, lostUploads: [span(0, 1)] };

describe('the job of an upload whose answer was lost', () => {
  test('is the only unclaimed one that was reported since', async () => {
    expect(await findLostJob(listing(), lost)).toEqual({ jobId, remaining: [] });
  });

  test.each([1, 20, 50])(
    'may be that of a submission that ended %i minutes before: its webhook may be late, so nothing is claimed',
    async (minutes) => {
      const earlier = { closed: -minutes, lost: [-minutes - 5, -minutes - 4] satisfies [number, number] };
      expect(await findLostJob(listing(earlier), lost)).toBeUndefined();
    },
  );

  test('is not that of a submission whose own would have been reported long before', async () => {
    expect(await findLostJob(listing({ closed: -90, lost: [-120, -100] }), lost)).toEqual({ jobId, remaining: [] });
  });
});
