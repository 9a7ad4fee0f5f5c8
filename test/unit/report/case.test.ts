import { describe, expect, test } from 'vitest';
import { announceClaim, announceEnd, announceNews } from '../../../workflows/report/announcements.js';
import { clear, raise } from '../../../workflows/report/attention.js';
import { reportCaseFileOf } from '../../../workflows/report/case-file.js';
import { learnFromRead, learnFromWebhook, outcomeOf, type ReportCase } from '../../../workflows/report/case.js';
import { failureOf } from '../../../workflows/report/failure-reasons.js';
import { phaseOf } from '../../../workflows/report/lifecycle.js';
import { reportResultOf, reportStateOf } from '../../../workflows/report/view.js';
import { parsingFailureReasons } from '../../../service/reports.js';
import { began, counts, handedOver, job, jobId, userId } from './cases.js';

function told(kase: ReportCase): string[] {
  return kase.outbox.map(({ id }) => id.slice(jobId.length + 1));
}

describe('a job is in the phase', () => {
  test.each([
    [undefined, 'uploaded'],
    ['upload_pending', 'uploaded'],
    ['started', 'parsing'],
    ['processing', 'parsing'],
    ['a_status_of_tomorrow', 'parsing'],
    ['pending_review', 'in_review'],
    ['completed', 'completed'],
    ['failed', 'failed'],
  ] as const)('with the status %s: %s', (status, phase) => {
    expect(phaseOf(status)).toBe(phase);
  });
});

describe('the product is told', () => {
  function follow(...statuses: string[]): ReportCase {
    const kase = handedOver();
    for (const status of statuses) {
      learnFromWebhook(kase, job(status), began);
      announceNews(kase, began);
    }
    return kase;
  }

  test('of parsing, review and result once each, and not of the upload', () => {
    const kase = follow('upload_pending', 'started', 'processing', 'pending_review', 'completed');
    expect(told(kase)).toEqual(['started/phase_changed', 'pending_review/review_needed', 'completed/completed']);
  });

  test('once of where the job is, however many reports brought it there', () => {
    const kase = handedOver();
    for (const status of ['started', 'processing', 'completed']) learnFromWebhook(kase, job(status), began);
    announceNews(kase, began);
    expect(told(kase)).toEqual(['completed/completed']);
  });

  test('of the result alone of a job that another has superseded, with that other', () => {
    const kase = handedOver({ ending: 'superseded', supersededBy: 'other-job' });
    for (const report of [job('started'), job('pending_review'), job('failed'), job('completed', { counts })]) {
      learnFromWebhook(kase, report, began);
      announceNews(kase, began);
    }
    expect(told(kase)).toEqual(['failed/failed', 'completed/completed']);
    expect(kase.outbox).toMatchObject([
      { data: { supersededBy: 'other-job', failureReason: expect.any(String) as string } },
      { data: { supersededBy: 'other-job', results: 3 } },
    ]);
  });

  test('of nothing of a job that nobody follows any more', () => {
    const kase = handedOver({ ending: 'abandoned' });
    learnFromWebhook(kase, job('completed'), began);
    announceNews(kase, began);
    expect(told(kase)).toEqual([]);
  });

  test('of a result once more after its review, with the counts', () => {
    const kase = follow('completed');
    learnFromWebhook(kase, job('completed', { isReviewed: true, counts }), began);
    announceNews(kase, began);
    announceNews(kase, began);
    expect(told(kase)).toEqual(['completed/completed', 'completed.reviewed/completed']);
    expect(kase.outbox.at(-1)).toMatchObject({ data: { isReviewed: true, results: 3, aboveRange: 1 } });
  });

  test('whose report it is: reference and user', () => {
    expect(follow('started').outbox[0]).toMatchObject({ jobId, reference: 'report-1', userId });
  });

  test.each([...parsingFailureReasons, 'a_reason_of_tomorrow', undefined])('why a job failed: %s', (failureReason) => {
    const kase = handedOver();
    learnFromWebhook(kase, job('failed', failureReason === undefined ? {} : { failureReason }), began);
    announceNews(kase, began);
    const { reason, sentence } = failureOf(failureReason);
    expect(kase.outbox).toMatchObject([{ data: { failureReason: reason, failureSentence: sentence } }]);
    expect(reportResultOf(kase)).toMatchObject({ outcome: 'failed', failure: { reason, sentence } });
  });

  test('of a claim only where something was told before it', () => {
    const kase = handedOver();
    announceClaim(kase, began);
    expect(told(kase)).toEqual([]);
    learnFromWebhook(kase, job('started'), began);
    announceNews(kase, began);
    announceClaim(kase, began);
    expect(told(kase)).toEqual(['started/phase_changed', 'claim/claimed']);
  });

  test('once of an end that no status announced', () => {
    const kase = handedOver({ ending: 'superseded', supersededBy: 'other-job' });
    announceEnd(kase, began);
    announceEnd(kase, began);
    expect(kase.outbox).toMatchObject([{ type: 'ended', data: { outcome: 'superseded', supersededBy: 'other-job' } }]);
  });

  test('nothing, and nothing is kept, where the worker has no target', () => {
    const kase = handedOver({ notifies: false });
    learnFromWebhook(kase, job('completed'), began);
    announceNews(kase, began);
    expect(kase.outbox).toEqual([]);
  });

  test('of a question that is raised again with another id', () => {
    const kase = handedOver();
    raise(kase, 'parsing_overdue', began);
    raise(kase, 'parsing_overdue', began);
    clear(kase, ['parsing_overdue'], began);
    raise(kase, 'parsing_overdue', began);
    expect(told(kase)).toEqual([
      'parsing_overdue/attention_raised',
      'parsing_overdue/attention_cleared',
      'parsing_overdue.2/attention_raised',
    ]);
  });
});

test('every reason of failure that is known has a sentence of its own, and none of them names the reason', () => {
  const sentences = parsingFailureReasons.map((reason) => failureOf(reason).sentence);
  expect(new Set(sentences).size).toBe(parsingFailureReasons.length);
  const general = failureOf('a_reason_of_tomorrow');
  expect(sentences).not.toContain(general.sentence);
  expect(general.reason).toBe('a_reason_of_tomorrow');
  for (const sentence of [...sentences, general.sentence]) expect(sentence).toMatch(/^[A-Z][^_]+\.$/);
  expect(failureOf('constructor').sentence).toBe(general.sentence);
});

test('a job goes back when a read says so, and the timeline shows it', () => {
  const kase = handedOver();
  learnFromWebhook(kase, job('completed'), began);
  expect(outcomeOf(kase)).toBe('completed');
  learnFromRead(kase, job('started'), kase.reported, began + 1_000);
  expect(outcomeOf(kase)).toBeUndefined();
  expect(reportStateOf(kase).timeline.map(({ status }) => status)).toEqual(['completed', 'started']);
});

test('the case file shows phase, reference, what is waited for, counts and attention, and nothing that breaks it', () => {
  const kase = handedOver();
  learnFromWebhook(kase, job('pending_review', { counts }), began);
  raise(kase, 'review_overdue', began);
  const file = reportCaseFileOf(kase);
  expect(file).toContain('### In review');
  expect(file).toContain('reference `report-1`');
  expect(file).toContain('**Waits for** a person at the service');
  expect(file).toContain('**Biomarkers** 3: 2 matched to LOINC, 1 to be reviewed; 1 above and 0 below their range');
  expect(file).toContain('**Attention** review overdue since 2026-11-02 09:00:00');
  learnFromRead(kase, job('odd | `status`\n# heading'), kase.reported, began);
  expect(reportCaseFileOf(kase)).not.toMatch(/\n# heading|odd \|/);
});
