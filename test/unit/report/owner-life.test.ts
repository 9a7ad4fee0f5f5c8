import { describe, expect, test } from 'vitest';
import type { JobReading } from '../../../activities/report/reports.js';
import type { ParsingJobResult } from '../../../protocol/report/messages.js';
import { Life, silent, type Answers } from '../life.js';
import { began, counts, jobId, snapshot, userId } from './jobs.js';
import { handOver, opening } from './lives.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* Jobs of which it is found out whose they are: how often that is asked, and what comes of it. */

const policy = resolvePolicy('report');
const reference = 'report-1';
const none = { kind: 'none' } as const;
const open = { kind: 'open' } as const;
const started = snapshot('started');

const reading = (more: Partial<JobReading> = {}) => ({
  ...{ snapshot: started, gone: false, notifies: true, owner: none as JobReading['owner'], ...more },
});

const reported = (status: string, more: object = {}) => ({ name: 'jobChanged', argument: snapshot(status, more) });
const handedOver = (more: object = {}) => ({ name: 'reportSubmitted', argument: handOver(more) });

const opened = (identifyJob: unknown, input: object = {}, more: Answers = {}) => {
  const of = new Life(opening, { identifyJob, readParsingJob: started, ...more });
  return {
    start: (...signals: { name: string; argument: unknown }[]) => of.start({ jobId, policy, ...input }, ...signals),
  };
};

const parsing = '0.003h report.phase_changed parsing';
const ended = ['0.003h report.ended job_gone', '0.003h completed'];
const asksOf = (of: Life) => of.secondsOf('identifyJob');
const stateOf = ({ run }: Life) => run.query('state');

/** How an earlier run of the same job ended. */
const earlier = (more: Partial<ParsingJobResult> = {}): ParsingJobResult => ({
  version: 1,
  ...{ jobId, reference, userId, policy, attention: [], raised: {}, announced: [] },
  ...{ phase: 'parsing', status: 'started', waiting: { for: 'nothing' }, outcome: 'unresolved' },
  timeline: [{ at: new Date(began - 1000).toISOString(), status: 'started' }],
  ...more,
});

describe('a job that was handed over', () => {
  test('is not asked about again in the next run', async () => {
    const job = await opened(reading()).start(handedOver({ adopted: true }));
    job.run.suggestNewRun();
    await job.until(1);
    const next = await job.next();
    expect(asksOf(await next.until(1))).toEqual([]);
    expect(await stateOf(next)).toMatchObject({ reference });
  });

  test('and was given up before it was found out is not asked about', async () => {
    const job = opened(reading());
    const begun = await job.start();
    await begun.update('cancel');
    await begun.signal('jobChanged', started);
    expect(asksOf(await begun.until(1))).toEqual([]);
    expect(begun.run.end).toMatchObject({ result: { outcome: 'abandoned' } });
  });
});

describe('a job that nobody has handed over yet', () => {
  test('is asked about after ten seconds with its user and the start of the run, and belongs to nobody here', async () => {
    const job = await opened(reading()).start(reported('started', { userId }));
    expect(job.calls).toEqual([]);
    await job.until(1);
    expect(asksOf(job)).toEqual([10]);
    expect(job.argumentsOf('identifyJob')).toEqual([{ jobId, since: new Date(began).toISOString(), userId }]);
    expect(job.events.slice(0, 1)).toEqual(['0.003h report.phase_changed parsing']);
    expect(await stateOf(job)).not.toHaveProperty('reference');
  });

  test.each(['started', 'completed'])('is asked about one answer after another (%s)', async (status) => {
    const job = await (await opened(silent).start(reported(status))).until(0.1);
    expect(job.run.calls.filter(({ call }) => call.name === 'identifyJob')).toHaveLength(1);
  });

  test('is asked about again as long as an upload may claim it, then a person is asked', async () => {
    const job = await (await opened(reading({ owner: open })).start(reported('started'))).until(0.5);
    expect(asksOf(job)).toEqual([10, 20, 40, 80, 160, 320, 640]);
    expect(job.events).toEqual(['0.178h report.attention_raised ambiguous_job', '0.178h report.phase_changed parsing']);
  });

  test('belongs to the upload that hands it over meanwhile', async () => {
    const job = await opened(reading({ owner: open })).start(reported('started'));
    await job.until(15 / 3600);
    await job.signal('reportSubmitted', handedOver().argument);
    await job.until(0.9);
    expect(asksOf(job)).toEqual([10]);
    expect(job.events).toEqual(['0.004h report.phase_changed parsing']);
    expect(await stateOf(job)).toMatchObject({ reference, attention: [] });
  });

  test('may be that of another submission, and then a person decides', async () => {
    const job = await (await opened(reading({ owner: { kind: 'ambiguous' } })).start(reported('started'))).until(0.1);
    expect(asksOf(job)).toEqual([10]);
    expect(job.events[0]).toBe('0.003h report.attention_raised ambiguous_job');
  });

  test('is over if another job has its file, and says which', async () => {
    const job = await opened(reading({ owner: { kind: 'superseded', by: 'job-2' } })).start(reported('started'));
    await job.until(1);
    expect(job.events).toEqual(['0.003h report.ended superseded', '0.003h completed']);
    expect(job.announced[0]?.data).toMatchObject({ supersededBy: 'job-2' });
    expect(job.run.shown.attributes['LabPhase']).toBe('superseded');
    expect(job.calls).toEqual(['0.003h identifyJob']);
  });

  test('and that another has superseded is not read', async () => {
    const job = await opened(reading({ owner: { kind: 'superseded', by: 'job-2' } })).start(reported('started'));
    await job.given({ notify: silent }, 11 / 3600);
    await job.signal('jobChanged', snapshot('completed'));
    expect(job.secondsOf('readParsingJob')).toEqual([]);
    expect(await stateOf(job)).toMatchObject({ outcome: 'superseded', status: 'completed' });
  });

  test('and that another has superseded belongs to the upload that hands it over before its end is announced', async () => {
    const job = await opened(reading({ owner: { kind: 'superseded', by: 'job-2' } })).start(reported('started'));
    await job.given({ notify: silent }, 11 / 3600);
    await job.signal('reportSubmitted', handedOver().argument);
    await job.given({ notify: undefined }, 0.02);
    expect(job.run.end).toBeUndefined();
    expect(await stateOf(job)).toMatchObject({ reference, phase: 'parsing' });
    expect(await stateOf(job)).not.toHaveProperty('supersededBy');
  });

  test('is gone if the service says so', async () => {
    const job = await opened({ ...reading({ gone: true }), snapshot: undefined }).start(reported('started'));
    expect((await job.until(1)).events).toEqual([parsing, ...ended]);
  });

  test('is gone once a read repeats an answer that is not the service’s own', async () => {
    const unsure = { ...reading({ unsure: true }), snapshot: undefined };
    const job = await opened(unsure).start(reported('started'));
    await job.given({ readParsingJob: { unsure: true } }, 1);
    expect(job.secondsOf('readParsingJob')).toEqual([250, 730]);
    expect(job.events.slice(1)).toEqual(['0.203h report.ended job_gone', '0.203h completed']);
  });

  test('and that an answer that is not the service’s own denies for ten minutes is gone, and not somebody’s', async () => {
    const unsure = { ...reading({ unsure: true, owner: open }), snapshot: undefined };
    const job = await (await opened(unsure).start(reported('started'))).until(1);
    expect(job.events.slice(1)).toEqual(['0.178h report.ended job_gone', '0.178h completed']);
  });

  test('that is over when it is first reported is asked about at once, and then like any other', async () => {
    const done = reading({ snapshot: snapshot('completed', { counts }) });
    const job = await opened(done).start(reported('completed'));
    expect(asksOf(job)).toEqual([0]);
    expect(job.events).toEqual([]);
    await job.until(1);
    expect(asksOf(job)).toEqual([0, 10]);
    expect(job.events).toEqual(['0.003h report.completed', '0.003h completed']);
  });

  test('that is over is not asked about again once it was handed over meanwhile', async () => {
    const job = await opened(reading({ snapshot: snapshot('completed', { counts }) })).start(reported('completed'));
    await job.signal('reportSubmitted', handedOver({ adopted: true }).argument);
    await job.until(1);
    expect(asksOf(job)).toEqual([0]);
    expect(job.events).toEqual(['0h report.completed', '0h completed']);
  });
});

describe('a job with an earlier run', () => {
  const announced = [`${jobId}/started/phase_changed`, `${jobId}/unresolved/ended`];

  test('goes on with its reference, its user and its policy, and announces nothing again', async () => {
    const previous = earlier({ announced, policy: resolvePolicy('report', { firstPoll: '10m' }) });
    const job = await opened(reading({ previous })).start(reported('started'));
    await job.until(0.9);
    expect(asksOf(job)).toEqual([10]);
    expect(job.secondsOf('readParsingJob')[0]).toBe(1210);
    const state = (await stateOf(job)) as ParsingJobResult;
    expect(state).toMatchObject({ reference, userId, timeline: previous.timeline });
    expect(job.events).toEqual([]);
  });

  test('and another status goes on with both in its history', async () => {
    const [entry] = earlier().timeline;
    const timeline = ['started', 'processing'].map((status) => ({ at: entry?.at ?? '', status }));
    const previous = earlier({ announced, timeline });
    for (const status of ['processing', 'pending_review']) {
      const job = await opened(reading({ previous, snapshot: snapshot(status) })).start(reported(status));
      await job.until(0.01);
      const { timeline: shown } = (await stateOf(job)) as ParsingJobResult;
      expect(shown.map((each) => each.status)).toEqual([...new Set(['started', 'processing', status])]);
    }
  });

  test('and the same status after a review has both in its history', async () => {
    const done = { at: new Date(began - 1000).toISOString(), status: 'completed' };
    const previous = earlier({ timeline: [done], outcome: 'completed', status: 'completed' });
    const reviewed = snapshot('completed', { counts, isReviewed: true });
    const job = await opened(reading({ previous, snapshot: reviewed })).start(reported('completed', reviewed));
    const { result } = job.run.end as unknown as { result: ParsingJobResult };
    expect(result.timeline.map(({ isReviewed = false }) => isReviewed)).toEqual([false, true]);
    expect(job.events).toEqual(['0h report.completed', '0h completed']);
  });

  test('that needed a person is still asked about, under the same question', async () => {
    const since = new Date(began - 1000).toISOString();
    const attention = [{ reason: 'parsing_overdue' as const, since, time: 1 }];
    const previous = earlier({ announced, attention, raised: { parsing_overdue: 1 } });
    const done = snapshot('completed', { counts });
    const job = await opened(reading({ previous, snapshot: done })).start(reported('completed', { counts }));
    expect(job.events).toEqual(['0h report.attention_cleared parsing_overdue', '0h report.completed', '0h completed']);
  });

  test('and handed over again has the hand-over’s policy, and its own reference', async () => {
    const previous = earlier({ announced, policy: resolvePolicy('report', { firstPoll: '10m' }) });
    const job = await opened(reading({ previous })).start(handedOver({ adopted: true }));
    await job.until(1);
    expect(job.secondsOf('readParsingJob')[0]).toBe(240);
    expect(job.events[0]).toBe('1h report.attention_raised parsing_overdue');
  });

  test('is not claimed again by the hand-over that had claimed it', async () => {
    const previous = earlier({ announced });
    const job = await (await opened(reading({ previous })).start(reported('started'))).until(0.01);
    await job.signal('reportSubmitted', handedOver().argument);
    expect(job.events).toEqual([]);
  });

  test('and that is over is not waited for', async () => {
    const { reference: _reference, ...previous } = earlier({ announced });
    const done = snapshot('completed', { counts });
    const job = await opened(reading({ previous, snapshot: done })).start(reported('completed', { counts }));
    expect(asksOf(job)).toEqual([0]);
    expect(job.events).toEqual(['0h report.completed', '0h completed']);
  });

  test('that nobody had claimed is announced to the reference that claims it', async () => {
    const { reference: _reference, userId: _userId, ...rest } = earlier({ announced });
    const claimed = await opened(reading({ previous: rest })).start(handedOver({ adopted: true }));
    expect(claimed.events).toEqual(['0h report.claimed']);
    const unclaimed = await (await opened(reading({ previous: rest })).start(reported('started'))).until(0.01);
    expect(unclaimed.events).toEqual([]);
    expect(await stateOf(unclaimed)).not.toHaveProperty('reference');
    expect(asksOf(unclaimed)).toEqual([10]);
  });

  test('that somebody stopped following stays so, without another announcement, unless the service has ended it', async () => {
    const previous = earlier({ announced, outcome: 'abandoned' });
    const job = await (await opened(reading({ previous })).start(reported('started'))).until(1);
    expect(job.events).toEqual(['0.003h completed']);
    expect(job.run.end).toMatchObject({ result: { outcome: 'abandoned' } });
    const moved = await opened(reading({ previous, snapshot: snapshot('processing') })).start(reported('processing'));
    expect((await moved.until(1)).events).toEqual(['0.003h completed']);
    const done = snapshot('completed', { counts });
    const ended = await opened(reading({ previous, snapshot: done })).start(reported('completed', { counts }));
    expect(ended.events).toEqual(['0h report.completed', '0h completed']);
  });

  test('that another had superseded stays so, unless it is handed over', async () => {
    const superseded = { outcome: 'superseded', supersededBy: 'job-2' } as const;
    const previous = earlier({ announced, ...superseded, reference: undefined as never });
    const job = await (await opened(reading({ previous })).start(reported('started'))).until(1);
    expect(job.run.end).toMatchObject({ result: { outcome: 'superseded', supersededBy: 'job-2' } });
    expect(job.events).toEqual(['0.003h completed']);
    const claimed = await opened(reading({ previous })).start(handedOver({ adopted: true }));
    expect(claimed.run.end).toBeUndefined();
    const { supersededBy: _by, ...others } = previous;
    const old = await (await opened(reading({ previous: others })).start(reported('started'))).until(1);
    expect(old.run.end).not.toHaveProperty('result.supersededBy');
  });

  test('and that the service does not know any more is gone', async () => {
    const previous = earlier({ announced });
    const gone = { ...reading({ previous, gone: true }), snapshot: undefined };
    expect((await (await opened(gone).start(reported('started'))).until(1)).events).toEqual(ended);
    const again = { ...reading({ previous: earlier({ outcome: 'job_gone' }), gone: true }), snapshot: undefined };
    const { events } = await (await opened(again).start(reported('started'))).until(1);
    expect(events).toEqual([parsing, '0.003h completed']);
  });
});

test('a deployment without a receiver announces nothing', async () => {
  const job = await (await opened(reading({ notifies: false })).start(reported('started'))).until(1);
  expect(job.announced).toEqual([]);
  expect(job.calls).not.toContain('0.003h notify');
});

test('nothing is asked before a policy is resolved', async () => {
  const job = await opened(reading(), { policy: { firstPoll: '1m' } }, { resolvePolicy: silent }).start();
  expect((await job.until(0.1)).calls).toEqual([]);
});

test('a policy that cannot be followed is ignored, and the job is followed by the defaults', async () => {
  const resolvePolicy = (_now: number, { policy: asked }: { policy: object }) =>
    Object.keys(asked).length === 0 ? policy : { failure: { type: 'PolicyInvalid' } };
  const job = await opened(reading(), { policy: { firstPoll: 'never' } }, { resolvePolicy }).start();
  await job.until(0.9);
  expect(job.run.shown.details).toContain('**an invalid policy was ignored**');
  expect(job.secondsOf('readParsingJob')[0]).toBe(140);
});
