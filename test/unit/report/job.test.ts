import { describe, expect, test } from 'vitest';
import { failureOf } from '../../../protocol/report/messages.js';
import { phaseOf } from '../../../protocol/report/lifecycle.js';
import { parsingFailureReasons } from '../../../service/report/reports.js';
import { announceClaim, announceEnd, announceNews, raise } from '../../../workflows/report/announcements.js';
import { learnFromRead, learnFromWebhook, openJob, reopen, type Job } from '../../../workflows/report/job.js';
import { caseFileOf, resultOf } from '../../../workflows/report/view.js';
import { began, counts, handedOver, snapshot, jobId, userId } from './jobs.js';

function notified(job: Job): string[] {
  return job.outbox.map(({ id }) => id.slice(jobId.length + 1));
}

test.each([
  [undefined, 'uploaded'],
  ['upload_pending', 'uploaded'],
  ['started', 'parsing'],
  ['processing', 'parsing'],
  ['a_status_of_tomorrow', 'parsing'],
  ['pending_review', 'in_review'],
  ['completed', 'completed'],
  ['failed', 'failed'],
] as const)('a job with the status %s is in the phase: %s', (status, phase) => {
  expect(phaseOf(status)).toBe(phase);
});

function follow(...statuses: string[]): Job {
  const job = handedOver();
  for (const status of statuses) {
    learnFromWebhook(job, snapshot(status), began);
    announceNews(job, began);
  }
  return job;
}

test('the product is notified of parsing, review and result once each, and not of the upload', () => {
  const job = follow('upload_pending', 'started', 'processing', 'pending_review', 'completed');
  expect(notified(job)).toEqual(['started/phase_changed', 'pending_review/review_needed', 'completed/completed']);
});

test('the product is notified only of the result of a job that another has superseded, with that other', () => {
  const job = handedOver({ ending: 'superseded', supersededBy: 'other-job' });
  const reports = ['started', 'pending_review', 'failed'].map((status) => snapshot(status));
  for (const report of [...reports, snapshot('completed', { counts })]) {
    learnFromWebhook(job, report, began);
    announceNews(job, began);
  }
  expect(notified(job)).toEqual(['failed/failed', 'completed/completed']);
  expect(job.outbox).toMatchObject([
    { data: { supersededBy: 'other-job', failureReason: expect.any(String) as string } },
    { data: { supersededBy: 'other-job', results: 3 } },
  ]);
});

test('the product is notified of a result once more after its review, with the counts', () => {
  const job = follow('completed');
  learnFromWebhook(job, snapshot('completed', { isReviewed: true, counts }), began);
  announceNews(job, began);
  announceNews(job, began);
  expect(notified(job)).toEqual(['completed/completed', 'completed.reviewed/completed']);
  expect(job.outbox.at(-1)).toMatchObject({ data: { isReviewed: true, results: 3, aboveRange: 1 } });
});

const reasons = [...parsingFailureReasons, 'a_reason_of_tomorrow', undefined];
test.each(reasons)('the product is notified of why a job failed: %s', (failureReason) => {
  const job = handedOver();
  learnFromWebhook(job, snapshot('failed', failureReason === undefined ? {} : { failureReason }), began);
  announceNews(job, began);
  const { reason, sentence } = failureOf(failureReason);
  const about = { jobId, reference: 'report-1', userId };
  expect(job.outbox[0]?.data).toEqual({ ...about, failureReason: reason, failureSentence: sentence });
  expect(resultOf(job)).toMatchObject({ outcome: 'failed', failure: { reason, sentence } });
});

test('the product is notified of a claim only if something was notified before it', () => {
  const job = handedOver();
  learnFromWebhook(job, snapshot('upload_pending'), began);
  announceNews(job, began);
  announceClaim(job, began);
  expect(notified(job)).toEqual([]);
  learnFromWebhook(job, snapshot('started'), began);
  announceNews(job, began);
  announceClaim(job, began);
  expect(notified(job)).toEqual(['started/phase_changed', 'claim/claimed']);
});

test('the product is notified of an end that comes again after a move under another id, and not of one that it knows', () => {
  const job = handedOver({ ending: 'unresolved' });
  job.announced.push('unresolved/ended', `${jobId}/unresolved/phase_changed`);
  for (let time = 0; time < 2; time += 1) {
    for (let turn = 0; turn < 2; turn += 1) announceEnd(job, began);
    delete job.endAnnounced;
  }
  expect(notified(job)).toEqual(['unresolved/ended', 'unresolved.2/ended']);
  expect(job.outbox[0]?.data).toEqual({ jobId, reference: 'report-1', userId, outcome: 'unresolved' });
  for (const [before, isKnown] of [
    [{ outcome: 'unresolved', statuses: 0 }, true],
    [{ outcome: 'job_gone', statuses: 0 }, false],
    [{ outcome: 'unresolved', statuses: -1 }, false],
  ] as const) {
    const again = handedOver({ ending: 'unresolved', before });
    announceEnd(again, began);
    expect(notified(again)).toEqual(isKnown ? [] : ['unresolved/ended']);
  }
  const open = handedOver();
  announceEnd(open, began);
  expect(notified(open)).toEqual([]);
});

test('every known reason of failure has a sentence of its own, and none of them names the reason', () => {
  const sentences = parsingFailureReasons.map((reason) => failureOf(reason).sentence);
  expect(new Set(sentences).size).toBe(parsingFailureReasons.length);
  const general = failureOf('a_reason_of_tomorrow');
  expect(sentences).not.toContain(general.sentence);
  expect(general.reason).toBe('a_reason_of_tomorrow');
  for (const sentence of [...sentences, general.sentence]) expect(sentence).toMatch(/^[A-Z][^_]+\.$/);
  expect(failureOf('constructor').sentence).toBe(general.sentence);
});

test('the case file shows phase, reference, what is awaited, counts and attention, and nothing that breaks it', () => {
  const job = handedOver();
  learnFromWebhook(job, snapshot('pending_review', { counts }), began);
  raise(job, 'review_overdue', began);
  const file = caseFileOf(job);
  expect(file).toContain('### In review');
  expect(file).toContain('reference `report-1`');
  expect(file).toContain('**Waits for** a person at the service');
  expect(file).toContain('**Biomarkers** 3: 2 matched to LOINC, 1 to be reviewed; 1 above and 0 below their range');
  expect(file).toContain('**Attention** review overdue since 2026-11-02 09:00:00');
  learnFromRead(job, snapshot('odd | `status`\n# heading'), job.reported, began);
  expect(caseFileOf(job)).not.toMatch(/\n# heading|odd \|/);
});

describe('what was reported of a job', () => {
  test('is in its timeline once for each status and its review, and of many only the latest fifty', () => {
    const job = openJob({ jobId }, began);
    expect(learnFromWebhook(job, snapshot('started'), began + 1)).toBe(true);
    expect(learnFromWebhook(job, snapshot('started'), began + 2)).toBe(false);
    learnFromWebhook(job, snapshot('completed'), began + 3);
    learnFromWebhook(job, snapshot('completed', { isReviewed: true }), began + 4);
    expect(job.timeline).toEqual([
      { at: new Date(began + 1).toISOString(), status: 'started' },
      { at: new Date(began + 3).toISOString(), status: 'completed' },
      { at: new Date(began + 4).toISOString(), status: 'completed', isReviewed: true },
    ]);
    const other = openJob({ jobId }, began);
    for (let n = 0; n < 60; n += 1) learnFromRead(other, snapshot(`odd_${n}`), other.reported, began + n);
    expect(other.timeline).toHaveLength(50);
    expect(other.timeline.at(-1)?.status).toBe('odd_59');
  });

  test('is not in its timeline if neither the status nor the review changes', () => {
    const job = openJob({ jobId }, began);
    for (const each of [
      snapshot('started', { isReviewed: false }),
      snapshot('processing'),
      snapshot('pending_review'),
      snapshot('pending_review', { needsHumanReview: true }),
      snapshot('completed', { isReviewed: true }),
      snapshot('completed', { isReviewed: true, counts }),
    ])
      learnFromWebhook(job, each, began);
    const seen = job.timeline.map(({ status, isReviewed = '' }) => `${status} ${isReviewed}`);
    expect(seen).toEqual(['started ', 'processing ', 'pending_review ', 'completed true']);
  });
});

test.each([
  ['unresolved', 'started', false],
  ['job_gone', 'started', false],
  ['abandoned', 'started', true],
  ['abandoned', 'completed', false],
  ['abandoned', 'failed', false],
  ['superseded', 'completed', true],
] as const)('a job that ended as %s stays so when it is reported again as %s: %s', (ending, status, stays) => {
  const job = { ...openJob({ jobId }, began), ending, endAnnounced: true as const };
  learnFromWebhook(job, snapshot(status), began);
  reopen(job);
  expect(job.ending).toBe(stays ? ending : undefined);
  expect('endAnnounced' in job).toBe(stays);
});
