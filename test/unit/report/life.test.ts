import { describe, expect, test } from 'vitest';
import type { ReportSnapshot } from '../../../service/report/snapshot.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { began, counts, jobId, snapshot, userId, handOver, life, opening } from './jobs.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import type { JobReading } from '../../../activities/report/reports.js';
import type { ParsingJobResult } from '../../../protocol/report/messages.js';

/* The lives of parsing jobs, from the hand-over to the end: what the product is notified of, and when the service is asked. */

const report = (of: Life, status: string, more: Partial<ReportSnapshot> = {}) => {
  of.answers['readParsingJob'] = snapshot(status, more);
  return of.signal('jobChanged', snapshot(status, more));
};

const about = { jobId, reference: 'report-1', userId };
const readsOf = ({ calls }: Life) => calls.map((call) => Number.parseFloat(call));

test('a job that never moves is read at doubling intervals, needs a person, and is given up', async () => {
  const job = await (await life(snapshot('started'))).until(1000);
  expect(job.events).toEqual([
    '0h report.phase_changed parsing',
    '1h report.attention_raised parsing_overdue',
    '49h report.ended unresolved',
    '49h completed',
  ]);
  // Doubling up to longestPoll, six hours.
  expect(readsOf(job).slice(0, 10)).toEqual([0.033, 0.1, 0.233, 0.5, 1, 2.067, 4.2, 8.467, 14.467, 20.467]);
  const notified = (of: string, type: string, at: string, data: object) => ({
    ...{ id: `${jobId}/${of}/${type}`, type: `report.${type}`, at, data: { ...about, ...data } },
    ...{ source: `parsing-job/${jobId}`, subject: jobId },
  });
  const since = '2026-11-02T10:00:00.000Z';
  expect(job.announced).toEqual([
    notified('started', 'phase_changed', '2026-11-02T09:00:00.000Z', { phase: 'parsing', status: 'started' }),
    notified('parsing_overdue', 'attention_raised', since, { reason: 'parsing_overdue', since }),
    notified('unresolved', 'ended', '2026-11-04T10:00:00.000Z', { outcome: 'unresolved' }),
  ]);
});

test('an overdue job whose result has come is not read, however late the result is delivered', async () => {
  const job = await (await life(snapshot('started'))).until(2);
  const reads = job.argumentsOf('readParsingJob').length;
  job.answers['notify'] = unavailable;
  for (const isReviewed of [false, true]) await job.signal('jobChanged', snapshot('completed', { counts, isReviewed }));
  expect(job.argumentsOf('readParsingJob')).toHaveLength(reads);
});

test('a job is given up a day later if the service is silent', async () => {
  const { events } = await (await life(unavailable)).until(1000);
  expect(events.slice(2)).toEqual(['73h report.ended unresolved', '73h completed']);
});

test('a review, its delay and its result are announced, and answer the questions before them', async () => {
  const job = await life(snapshot('started'));
  await job.until(2);
  await report(job, 'pending_review', { needsHumanReview: true });
  await job.until(24 * 5);
  await report(job, 'completed', { counts, isReviewed: true });
  expect(job.events).toEqual([
    '0h report.phase_changed parsing',
    '1h report.attention_raised parsing_overdue',
    '2h report.attention_cleared parsing_overdue',
    '2h report.review_needed',
    '98h report.attention_raised review_overdue',
    '120h report.attention_cleared review_overdue',
    '120h report.completed',
    '120h completed',
  ]);
  expect(job.announced[3]?.data).toEqual({ ...about, status: 'pending_review' });
  expect(job.announced.at(-1)?.data).toEqual({ ...about, isReviewed: true, ...counts });
});

test('a job without an id is refused', async () => {
  for (const input of [undefined, { jobId: 1 }]) {
    expect((await new Life({ ...opening, workflowId: 'parsing-job/1' }, {}).start(input)).events).toEqual([
      '0h failed: InvalidCommand',
    ]);
  }
});

test('a webhook that is not about the job is dropped, and one that says nothing new changes nothing', async () => {
  const job = await life(snapshot('started'));
  const { details } = job.run.shown;
  for (const odd of [null, { ...snapshot('failed'), jobId: 'another' }]) await job.signal('jobChanged', odd);
  const dropped = 'error: a signal was dropped: it has no snapshot of this job';
  expect(job.run.logged).toEqual([dropped, dropped]);
  await job.signal('jobChanged', snapshot('started'));
  expect(job.run.logged).toHaveLength(2);
  expect(job.calls).toEqual([]);
  expect(job.run.shown.details).toBe(details);
  expect(await job.run.query('state')).toMatchObject({ ...about, status: 'started', phase: 'parsing' });
});

test('a job that the product stops following while a read shows its result has that result', async () => {
  const job = await life(silent);
  await job.until(0.1);
  await job.update('cancel');
  await job.given({ readParsingJob: snapshot('completed', { counts }) });
  expect(job.events.slice(1)).toEqual(['0.1h report.completed', '0.1h completed']);
});

test('a job that the product stops following ends at once and once, and says so in its answer, its notification and its history', async () => {
  const job = await (await life(snapshot('started'))).given({ notify: silent });
  for (let times = 0; times < 2; times += 1) {
    expect(await job.update('cancel')).toMatchObject({ value: { ...about, outcome: 'abandoned' } });
  }
  await job.given({ notify: undefined });
  expect(job.events.slice(1)).toEqual(['0h report.ended abandoned', '0h completed']);
  expect(job.run.shown.details).toContain('**the product stopped following the job**');
});

test('a long history goes on in a new run, which knows everything and asks for nothing again', async () => {
  const job = await (await life(snapshot('started'))).until(1.5);
  job.run.suggestNewRun();
  await job.until(3);
  expect(job.events.at(-1)).toBe('2.067h continued');
  expect(job.run.end).toMatchObject({ input: { jobId } });
  const next = await job.next({ readParsingJob: snapshot('started') });
  expect(next.calls).toEqual([]);
  await report(next, 'completed', { counts });
  expect(next.events).toEqual(['0h report.attention_cleared parsing_overdue', '0h report.completed', '0h completed']);
  expect(next.run.end).toMatchObject({ result: { ...about, outcome: 'completed' } });
});

test('a job whose result a read brings at the deadline needs nobody', async () => {
  const completed = snapshot('completed', { counts });
  const job = await life((now: number) => (now < began + 3_600_000 ? snapshot('started') : completed));
  expect((await job.until(2)).events.slice(1)).toEqual(['1h report.completed', '1h completed']);
});

test('a job whose result is reported while a read does not find it is completed', async () => {
  const job = await life(silent);
  await job.until(0.05);
  await job.signal('jobChanged', snapshot('completed', { counts }));
  await job.given({ readParsingJob: null });
  expect(job.events.slice(1)).toEqual(['0.05h report.completed', '0.05h completed']);
});

test('a job that is gone is followed again if it is reported, or handed over, before the product was notified', async () => {
  for (const isReported of [true, false]) {
    const job = await life(null, !isReported);
    job.answers['identifyJob'] = { gone: true, notifies: true, owner: { kind: 'none' } };
    await job.given({ notify: unavailable }, (isReported ? 125 : 15) / 3600);
    expect(await job.run.query('state')).toMatchObject({ outcome: 'job_gone' });
    if (isReported) await job.signal('jobChanged', snapshot('processing'));
    else await job.signal('reportSubmitted', handOver());
    expect(await job.run.query('state')).not.toHaveProperty('outcome');
  }
});

test('a job that nobody claimed and that somebody stopped following stays so when it is handed over', async () => {
  const job = await (await life(snapshot('started'), true)).until(0.01);
  job.answers['notify'] = unavailable;
  await job.update('cancel');
  await job.signal('reportSubmitted', handOver());
  expect(await job.run.query('state')).toMatchObject({ outcome: 'abandoned', reference: 'report-1' });
});

const unsure = { unsure: true };

test('a job that the service does not find by an answer that is not its own is not gone if it is shown or reported meanwhile', async () => {
  const shown = await life(unsure);
  await shown.until(0.05);
  await shown.given({ readParsingJob: snapshot('started') }, 0.15);
  shown.answers['readParsingJob'] = unsure;
  expect((await shown.until(1000)).events.at(-1)).toBe('0.5h completed');
  const reported = await life(unsure);
  await reported.until(0.15);
  await reported.signal('jobChanged', snapshot('started'));
  expect((await reported.until(1000)).events.at(-1)).toBe('0.5h completed');
});

test('a job that the service does not find by an answer that is not its own is not given up by that answer, but by the next one that is its own', async () => {
  const job = await life((now: number) => (now === began + 49 * 3_600_000 ? unsure : snapshot('started')));
  expect((await job.until(1000)).events.slice(2)).toEqual(['55h report.ended unresolved', '55h completed']);
});

describe('a hand-over', () => {
  test('that lacks what it needs is dropped', async () => {
    const job = await life(snapshot('started'), true);
    for (const odd of [undefined, { reference: 'a b' }, { policy: null }, { snapshot: {} }]) {
      await job.signal('reportSubmitted', odd && handOver(odd));
    }
    const dropped = 'error: a hand-over was dropped: it lacks reference, policy or snapshot';
    expect(job.run.logged).toEqual([dropped, dropped, dropped, dropped]);
    expect(await job.run.query('state')).not.toHaveProperty('reference');
  });

  test('that is later than a run of its job does not believe the answer of its upload', async () => {
    const owner = { kind: 'none' };
    const identifyJob = { snapshot: snapshot('failed'), gone: false, notifies: true, owner };
    const job = new Life(opening, { identifyJob });
    const earlierRun = { runId: '0c9a0000-0000-4000-8000-0000000000a1' };
    const submitted = { name: 'reportSubmitted', argument: handOver() };
    await job.start({ jobId, policy: resolvePolicy('report'), earlierRun }, submitted);
    expect(job.calls).toEqual(['0h identifyJob']);
    expect(job.events.join()).not.toContain('parsing');
  });

  test('changes nothing the second time, and needs a person if it has another reference', async () => {
    const job = await life(snapshot('started'));
    const policy = resolvePolicy('report', { firstPoll: '1h' });
    await job.signal('reportSubmitted', handOver({ userId: 'another', policy }));
    expect(job.events).toHaveLength(1);
    await job.signal('reportSubmitted', handOver({ reference: 'report-2' }));
    expect(job.events.slice(1)).toEqual(['0h report.attention_raised reference_conflict']);
    expect(await job.run.query('state')).toMatchObject(about);
    await job.until(0.05);
    expect(job.secondsOf('readParsingJob')).toEqual([120]);
  });

  test('of a job that was announced without a reference is announced, and its policy counts', async () => {
    const job = await life(snapshot('started'), true);
    await job.until(0.05);
    await job.signal('reportSubmitted', handOver({ policy: resolvePolicy('report', { firstPoll: '5m' }) }));
    expect(job.events.at(-1)).toBe('0.05h report.claimed');
    expect(job.announced.at(-1)?.data).toEqual({ ...about, status: 'started' });
    // The read of ten seconds after the start said nothing new.
    expect((await job.until(0.2)).secondsOf('readParsingJob')).toEqual([610]);
  });

  test('brings what it knows of the job, also by another spelling of its id', async () => {
    const job = await life(snapshot('started'));
    const further = { ...snapshot('completed', { counts }), jobId: jobId.toUpperCase() };
    await job.signal('reportSubmitted', handOver({ snapshot: further }));
    expect(job.events.slice(1)).toEqual(['0h report.completed', '0h completed']);
  });
});

test('a job whose signal could not be decrypted is read at once, and again within minutes if the service is silent', async () => {
  const job = await (await life(unavailable)).until(10);
  const { length } = readsOf(job);
  await job.signal('unreadable');
  await job.until(10.01);
  await job.given({ readParsingJob: snapshot('completed', { counts }) }, 11);
  expect(readsOf(job).slice(length)).toEqual([10, 10.067]);
  expect(job.events.at(-1)).toBe('10.067h completed');
});

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

  test('and that another has superseded is not read, and belongs to the upload that hands it over before its end is announced', async () => {
    const job = await opened(reading({ owner: { kind: 'superseded', by: 'job-2' } })).start(reported('started'));
    await job.given({ notify: silent }, 11 / 3600);
    await job.signal('jobChanged', snapshot('pending_review'));
    expect(job.secondsOf('readParsingJob')).toEqual([]);
    expect(await stateOf(job)).toMatchObject({ outcome: 'superseded', status: 'pending_review' });
    await job.signal('reportSubmitted', handedOver().argument);
    await job.given({ notify: undefined }, 0.02);
    expect(job.run.end).toBeUndefined();
    expect(await stateOf(job)).toMatchObject({ reference, phase: 'in_review' });
    expect(await stateOf(job)).not.toHaveProperty('supersededBy');
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
