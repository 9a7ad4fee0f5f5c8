import ms from 'ms';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { failureOf } from '../../../protocol/report/messages.js';
import { phaseOf, isUnknown, rankOf } from '../../../protocol/report/lifecycle.js';
import { parsingFailureReasons } from '../../../service/report/reports.js';
import { announceClaim, announceEnd, announceNews, raise } from '../../../workflows/report/announcements.js';
import { deadlineOf, giveUpAt } from '../../../workflows/report/deadlines.js';
import { learnFromRead, learnFromWebhook, openJob, reopen, type Job } from '../../../workflows/report/job.js';
import { caseFileOf, resultOf } from '../../../workflows/report/view.js';
import { began, counts, handedOver, snapshot, jobId, userId } from './jobs.js';
import type { ReportSnapshot } from '../../../service/report/snapshot.js';
import {
  foldRead,
  foldWebhook,
  knownOf,
  readReportSnapshot,
  type Reported,
} from '../../../workflows/report/reports.js';

function notified(job: Job): string[] {
  return job.outbox.map(({ id }) => id.slice(jobId.length + 1));
}

/** Each before those that it cannot follow. */
const statuses: [status: string | undefined, phase: string][] = [
  [undefined, 'uploaded'],
  ['upload_pending', 'uploaded'],
  ['started', 'parsing'],
  ['processing', 'parsing'],
  ['pending_review', 'in_review'],
  ['a_status_of_tomorrow', 'parsing'],
  ['failed', 'failed'],
  ['completed', 'completed'],
];

test.each(statuses)(
  'a job with the status %s is in the phase: %s, and unknown if nobody documented that',
  (status, phase) => {
    expect(phaseOf(status)).toBe(phase);
    expect(isUnknown(status)).toBe(status === 'a_status_of_tomorrow');
  },
);

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

test('the deadline of a review stands through an unknown status', () => {
  const job = handedOver();
  learnFromWebhook(job, snapshot('pending_review'), began + ms('30m'));
  learnFromWebhook(job, snapshot('a_status_of_tomorrow'), began + ms('2h'));
  expect(deadlineOf(job)).toEqual({ reason: 'review_overdue', at: began + ms('30m') + ms('4d') });
  learnFromRead(job, snapshot('processing'), job.reported, began + ms('3h'));
  expect(deadlineOf(job).reason).toBe('parsing_overdue');
});

test('the deadline of parsing leaves room for a review that the service may not report', () => {
  const job = handedOver();
  learnFromWebhook(job, snapshot('started', { needsHumanReview: true }), began);
  expect(deadlineOf(job)).toEqual({ reason: 'parsing_overdue', at: began + ms('1h') + ms('4d') });
  learnFromWebhook(job, snapshot('processing', { needsHumanReview: true, isReviewed: true }), began);
  expect(deadlineOf(job)).toEqual({ reason: 'parsing_overdue', at: began + ms('1h') });
});

test('the deadline, once missed, is the beginning of giving up', () => {
  const job = handedOver();
  expect(giveUpAt(job)).toBe(Infinity);
  raise(job, 'notifications_undelivered', began);
  expect(giveUpAt(job)).toBe(Infinity);
  raise(job, 'parsing_overdue', began);
  expect(giveUpAt(job)).toBe(began + ms('1h') + ms('14d'));
  learnFromWebhook(job, snapshot('processing'), began + ms('3d'));
  expect(giveUpAt(job)).toBe(began + ms('3d') + ms('14d'));
});

const receivedAll = (snapshots: readonly ReportSnapshot[], from: Reported = {}) => snapshots.reduce(foldWebhook, from);

const pairs = statuses.slice(1).map(([later], n) => [statuses[n]?.[0], later]);
test.each(pairs)('webhooks of %s come before those of %s, in whichever order they arrive', (earlier, later) => {
  expect(rankOf(earlier)).toBeLessThan(rankOf(later));
  expect(knownOf(receivedAll([snapshot(earlier), snapshot(later)]))?.status).toBe(later);
  expect(knownOf(receivedAll([snapshot(later), snapshot(earlier)]))?.status).toBe(later);
});

test('webhooks in any order and repetition end in the same state', () => {
  const early = ['upload_pending', 'started', 'processing', 'pending_review'];
  const any = fc.constantFrom(...early, 'odd', 'odder', 'failed', 'completed');
  const report = fc.record({ status: any, isReviewed: fc.boolean() });
  fc.assert(
    fc.property(fc.array(report, { minLength: 1 }), fc.integer(), (sent, turn) => {
      const jobs = sent.map(({ status, isReviewed }) => snapshot(status, { isReviewed }));
      const at = Math.abs(turn) % jobs.length;
      const other = [...jobs.slice(at), ...jobs.slice(0, at), ...jobs].toReversed();
      expect(knownOf(receivedAll(other))).toEqual(knownOf(receivedAll(jobs)));
    }),
  );
});

test('webhooks with a reviewed result come after those from before the review', () => {
  const before = snapshot('completed', { isReviewed: false, counts });
  const after = snapshot('completed', { isReviewed: true });
  expect(knownOf(receivedAll([after, before]))).toEqual(after);
  expect(knownOf(receivedAll([before, after]))).toEqual(after);
});

test('webhooks that bring the counts come after those that say more of anything else', () => {
  const more = snapshot('completed', { needsHumanReview: true, failureReason: 'x', userId: 'user-1' });
  const counted = snapshot('completed', { counts });
  expect(knownOf(receivedAll([counted, more]))?.counts).toEqual(counts);
  expect(knownOf(receivedAll([more, counted]))?.counts).toEqual(counts);
});

describe('a read', () => {
  test('that lacks the review that a webhook reported is older: the review is not lost', () => {
    const reviewed = { ...snapshot('completed'), isReviewed: true };
    const reported = foldRead(foldWebhook({}, reviewed), { ...snapshot('completed'), isReviewed: false });
    expect(knownOf(reported)).toEqual(reviewed);
    expect(foldRead(reported, reviewed)).toEqual({ read: reviewed });
    const before = foldRead(foldWebhook({}, reviewed), snapshot('pending_review', { needsHumanReview: true }));
    expect(knownOf(before)).toEqual(reviewed);
  });

  test('that lacks the review and has the counts that the webhook left out adds them', () => {
    const received = foldWebhook({}, snapshot('completed', { isReviewed: true }));
    const reported = foldRead(received, snapshot('completed', { counts }));
    expect(knownOf(reported)).toMatchObject({ isReviewed: true, counts });
  });

  test('that has the review, or another status, is the later one', () => {
    const received = foldWebhook({}, snapshot('started', { isReviewed: true, counts }));
    const reviewed = snapshot('started', { isReviewed: true });
    expect(foldRead(received, reviewed)).toEqual({ read: reviewed });
    expect(foldRead(received, snapshot('completed'))).toEqual({ read: snapshot('completed') });
  });

  test('does not take back what a webhook reported while it was under way', () => {
    const asked = receivedAll([snapshot('started')]);
    const further = foldWebhook(asked, snapshot('completed'));
    expect(knownOf(foldRead(further, snapshot('started'), asked))?.status).toBe('completed');
    const meanwhile = foldWebhook(asked, snapshot('processing'));
    expect(knownOf(foldRead(meanwhile, snapshot('completed'), asked))?.status).toBe('completed');
  });

  test('says where the job is though a read before it said the same, and a webhook between them something else', () => {
    const received = foldWebhook(foldRead({}, snapshot('started')), snapshot('completed'));
    expect(knownOf(foldRead(received, snapshot('started'), received))?.status).toBe('started');
  });

  test('counts, too, if another read was answered meanwhile', () => {
    const asked = receivedAll([snapshot('started')]);
    const meanwhile = foldRead(asked, snapshot('processing'), asked);
    expect(knownOf(foldRead(meanwhile, snapshot('completed'), asked))?.status).toBe('completed');
  });

  test('is only overtaken by webhooks that are further', () => {
    const read = foldRead({}, snapshot('processing'));
    expect(foldWebhook(read, snapshot('started'))).toBe(read);
    expect(foldWebhook(read, snapshot('processing'))).toBe(read);
    expect(knownOf(foldWebhook(read, snapshot('completed')))?.status).toBe('completed');
  });

  test('a read of known facts changes nothing the second time', () => {
    const read = foldRead({}, snapshot('processing'));
    expect(foldRead(read, snapshot('processing'))).toBe(read);
  });
});

describe('a snapshot from a signal', () => {
  test('is taken unchanged', () => {
    const flags = { needsHumanReview: true, isReviewed: false };
    const whole = snapshot('failed', { failureReason: 'low_quality', ...flags, userId, counts });
    expect(readReportSnapshot(whole)).toEqual(whole);
  });

  test('loses unknown fields and those of another type', () => {
    const odd = { status: 5, failureReason: 2, userId: 7, needsHumanReview: 'no', isReviewed: 'yes', counts: [] };
    expect(readReportSnapshot({ jobId, data: { name: 'Testperson' }, ...odd })).toStrictEqual({ jobId });
  });

  test('loses invalid counts', () => {
    const odd = { ...counts, results: -1, aboveRange: 1.5, byInterpretation: { normal: '2' } };
    expect(readReportSnapshot({ jobId, counts: odd })?.counts).toEqual({
      ...counts,
      results: 0,
      aboveRange: 0,
      byInterpretation: { normal: 0, abnormal: 0, critical: 0, unknown: 0 },
    });
  });

  test.each([undefined, null, 'text', [], {}, { jobId: 1 }])('is refused: %j', (value) => {
    expect(readReportSnapshot(value)).toBeUndefined();
  });
});
