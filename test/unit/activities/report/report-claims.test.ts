import { WorkflowFailedError, type Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { findLostJob, ownerOf } from '../../../../activities/report/lost-uploads.js';
import { lostByEarlierRuns } from '../../../../activities/report/submissions.js';
import { reportActivities } from '../../../../activities/report/reports.js';
import { parsingJobId, submitReportId } from '../../../../protocol/ids.js';
import { answering, rejection, serviceAt, type Answer } from '../../service/recording-server.js';

const userId = '00000000-0000-4000-8000-000000000001';
const jobId = '00000000-0000-4000-8000-000000000010';

const at = (minutes: number) => new Date(Date.parse('2026-03-01T10:00:00.000Z') + minutes * 60_000);
const span = (from: number, until: number) => ({ from: at(from).toISOString(), until: at(until).toISOString() });

interface Run {
  id: string;
  /** Minutes. */
  from: number;
  until?: number;
  status?: string;
  user?: string;
  reference?: string;
  /** A reference that the list does not show yet. */
  claimedBy?: string;
  supersededBy?: string;
  /** Of a submission that has ended: its result, or its failure. */
  ended?: object | Error;
  digest?: string;
}

const job = (id = jobId, more: Partial<Run> = {}): Run => ({ id: parsingJobId(id), from: 5, ...more });
const submission = (reference: string, from: number, more: Partial<Run> = {}): Run => ({
  ...{ id: submitReportId(reference), from },
  ...more,
});
/** A submission with a job of its own, after uploads without an answer. */
const loser = (reference: string, until: number, lost: [number, number][], by = `job-of-${reference}`): Run => {
  const lostUploads = lost.map((each) => span(...each));
  const ended = { version: 1, jobId: by, lostUploads };
  return submission(reference, until - 30, { until, status: 'COMPLETED', ended });
};
const failed = (reference: string, type: string, lost: [number, number][] = []): Run => {
  const details = lost.length === 0 ? [] : [{ lostUploads: lost.map((each) => span(...each)) }];
  const cause = ApplicationFailure.nonRetryable('invented', type, ...details);
  const ended = new WorkflowFailedError('failed', cause, 'NON_RETRYABLE_FAILURE');
  return submission(reference, 0, { until: 3, status: 'FAILED', ended });
};

/** Temporal's list of these runs, for the queries of the search. */
function temporalWith(...runs: Run[]): Client {
  const infos = runs.map((run, index) => ({
    ...{ workflowId: run.id, runId: `run-${index}`, startTime: at(run.from), run },
    ...{ status: { name: run.status ?? 'RUNNING' }, closeTime: run.until === undefined ? undefined : at(run.until) },
    memo: { inputDigest: run.digest },
    typedSearchAttributes: { get: () => run.claimedBy ?? run.reference },
  }));
  const list = ({ query }: { query: string }) => {
    const [, type] = /WorkflowType = '(\w+)'/.exec(query) ?? [];
    const [, id] = /WorkflowId = '([^']+)'/.exec(query) ?? [];
    const [, user] = /LabUserId = '([^']+)'/.exec(query) ?? [];
    const [, closed = ''] = /CloseTime >= '([^']+)'/.exec(query) ?? [];
    return infos.filter(({ workflowId, run, closeTime }) => {
      if (id !== undefined) return workflowId === id;
      if (!workflowId.startsWith(type === 'submitReport' ? submitReportId('') : parsingJobId(''))) return false;
      if (user !== undefined && user !== (run.user ?? userId)) return false;
      if (query.includes('IS NULL') && run.reference !== undefined) return false;
      if (query.includes("!= 'superseded'") && run.supersededBy !== undefined) return false;
      if (query.includes("= 'superseded'") && !query.includes("!= 'sup")) return run.supersededBy !== undefined;
      return closed === '' || closeTime === undefined || closeTime.toISOString() >= closed;
    });
  };
  const getHandle = (workflowId: string, runId?: string) => {
    const found = infos.find((info) => info.workflowId === workflowId && [undefined, info.runId].includes(runId));
    const result = async () => {
      if (found?.run.ended instanceof Error) throw found.run.ended;
      return found?.run.ended ?? { jobId: found?.workflowId, supersededBy: found?.run.supersededBy };
    };
    return { describe: async () => found, result };
  };
  const withDeadline = (_at: number, call: () => unknown) => call();
  return { workflow: { list, getHandle }, withDeadline } as unknown as Client;
}

const lost = { reference: 'ref-2', userId, needsHumanReview: false, lostUploads: [span(0, 1)] };

describe('the job of an upload whose answer was lost', () => {
  test.each<[string, Run[]]>([
    ['is the only unclaimed one that was reported since', [job()]],
    ['is not that of one whose own would have been reported long before', [job(), loser('a', -90, [[-120, -100]])]],
    ['is not that of one that was refused before anything was sent', [job(), failed('a', 'ReportFileRefused')]],
    ['is not one that another submission ended with', [job(), job('another'), loser('a', 4, [], 'another')]],
    ['is not one that was known before', [job(), job('another', { from: -80 })]],
  ])('%s', async (_what, runs) => {
    expect(await findLostJob(temporalWith(...runs), lost)).toEqual({ jobId, remaining: [] });
  });

  test.each<[string, Run[]]>([
    ...[1, 20, 50].map((minutes): [string, Run[]] => [
      `may be that of a submission that ended ${minutes} minutes before: its webhook may be late`,
      [job(), loser('a', -minutes, [[-minutes - 5, -minutes - 4]])],
    ]),
    ['may be that of a submission under way', [job(), submission('a', 0)]],
    ['may be that of one that an operator ended', [job(), submission('a', 0, { until: 3, status: 'TERMINATED' })]],
    ['may be that of one that failed after a lost answer', [job(), failed('a', 'ReportRefused', [[0, 2]])]],
    ['may be either of two', [job(), job('another')]],
    ['is claimed by now, though the list lags', [job(jobId, { claimedBy: 'ref-1' })]],
  ])('%s: nothing is claimed', async (_what, runs) => {
    expect(await findLostJob(temporalWith(...runs), lost)).toBeUndefined();
  });

  test('has the requested review, as far as the service shows that', async () => {
    const find = async (answer: Answer) => {
      const { baseUrl } = await answering(() => answer);
      const dependencies = { service: serviceAt(baseUrl), temporal: temporalWith(job()) } as never;
      return reportActivities(dependencies).findUnclaimedJob(lost);
    };
    const shown = (needs_human_review: boolean | null): Answer => ({
      body: { id: jobId, status: 'started', needs_human_review, is_reviewed: false },
    });
    const found = { found: { jobId, userId }, remaining: [] };
    expect(await find(shown(true))).toEqual({});
    for (const answer of [shown(false), { status: 401, body: {} }]) expect(await find(answer)).toEqual(found);
  });
});

describe('a job that nobody has claimed', () => {
  const none = { kind: 'none' };
  const ambiguous = { kind: 'ambiguous' };
  const ofA = { kind: 'superseded', by: 'job-of-a' };
  const [a, b] = ['a', 'b'].map((reference) => loser(reference, 20, [[0, 1]])) as [Run, Run];
  const ended = job('x', { status: 'COMPLETED', supersededBy: 'job-of-a' });
  const terminated = submission('b', 0, { until: 3, status: 'TERMINATED' });

  test.each<[string, Run[], object]>([
    ['nobody’s if there is no submission', [], none],
    ['nobody’s if no answer was lost', [loser('a', 4, [])], none],
    ['open while a submission is under way', [submission('a', 0)], { kind: 'open' }],
    ['superseded by the job of the only one that lost an answer', [a], ofA],
    ['superseded whatever was refused before anything was sent', [a, failed('b', 'ReportFileRefused')], ofA],
    ['nobody’s once that answer has had its job', [a, ended], none],
    ['either’s if two lost an answer', [a, b], ambiguous],
    ['either’s if another has failed after one', [a, failed('b', 'ReportRefused', [[0, 2]])], ambiguous],
    ['either’s if an operator ended another', [a, terminated], ambiguous],
    ['ambiguous if another job could be it', [a, job('another')], ambiguous],
  ])('is %s', async (_what, runs, owner) => {
    expect(await ownerOf(temporalWith(job(), ...runs), { jobId, userId, since: at(5).toISOString() })).toEqual(owner);
  });

  test.each<[string, Run[], string]>([
    ['an answer was lost, of any user', [{ ...loser('a', 20, [[0, 1]]), user: 'another' }], 'ambiguous'],
    ['an upload is under way', [submission('a', 0)], 'open'],
    ['an upload has begun since', [submission('a', 6)], 'none'],
  ])('and names no user is a question if %s', async (_what, runs, kind) => {
    expect(await ownerOf(temporalWith(...runs), { jobId, since: at(5).toISOString() })).toEqual({ kind });
  });

  test('is followed though the service cannot be read', async () => {
    const { baseUrl } = await answering(() => ({ status: 401, body: { detail: 'invalid key' } }));
    const dependencies = { service: serviceAt(baseUrl), temporal: temporalWith(job()), target: 'off' } as never;
    const question = { jobId, userId, since: at(5).toISOString() };
    const reading = new MockActivityEnvironment().run(() => reportActivities(dependencies).identifyJob(question));
    expect(await reading).toEqual({ gone: false, notifies: false, owner: { kind: 'none' } });
  });
});

describe('what earlier runs of a reference may have made', () => {
  const terminated = submission('ref', 0, { until: 3, status: 'TERMINATED', digest: 'this' });
  const lastRun = { ...loser('ref', 40, [[11, 12]]), digest: 'this' };
  const earlier = (digest: string, ...runs: Run[]) => {
    const current = submission('ref', 10, { digest });
    return lostByEarlierRuns(temporalWith(...runs, current), 'ref', `run-${runs.length}`);
  };

  test.each<[string, Run[], object[]]>([
    ['nothing if the file did not exist', [failed('ref', 'ReportFileRefused')], []],
    ['nothing if the service refused it', [failed('ref', 'ReportRefused')], []],
    ['what was lost before a refusal', [{ ...failed('ref', 'ReportRefused', [[0, 1]]), digest: 'this' }], [span(0, 1)]],
    ['anything in the time of a run that was ended from outside', [terminated], [span(0, 3)]],
    ['what the last run with a job has left', [terminated, lastRun], [span(11, 12)]],
  ])('is %s', async (_what, runs, expected) => {
    expect(await earlier('this', ...runs)).toEqual(expected);
  });

  test('is not for another report: the reference is refused', async () => {
    expect(await rejection(earlier('another', terminated))).toMatchObject({ type: 'ReferenceConflict' });
  });
});
