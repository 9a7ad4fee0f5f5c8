import { describe, expect, test } from 'vitest';
import type { ReportSnapshot } from '../../../service/report/snapshot.js';
import { Life, silent, unavailable } from '../life.js';
import { began, counts, jobId, snapshot, userId } from './jobs.js';
import { handOver, life, opening } from './lives.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

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
