import type { ParsingJobResult } from '../../protocol/report/messages.js';
import type { LostUpload } from '../../protocol/report/submission-messages.js';
import { upgradeGoverned, type PolicyVersions } from '../entity/policy.js';
import { upgrade, type Step } from '../entity/versions.js';
import type { Job } from './job.js';
import { day, hour, minute, second } from '../entity/spans.js';

const pauses = { least: second, most: 30 * day };

/** The settings of each version, with what a policy of an earlier version gets: never changed once released. */
export const reportPolicyVersions: PolicyVersions<'report'> = {
  of: 'report',
  added: [
    {
      uploadTimeout: 10 * minute,
      creationTimeout: 30 * second,
      lostAnswerWait: 2 * minute,
      submissionDeadline: 7 * day,
      firstPoll: 2 * minute,
      firstReviewPoll: hour,
      longestPoll: 6 * hour,
      parsingDeadline: hour,
      reviewDeadline: 4 * day,
      giveUpAfter: 14 * day,
      notificationDeadline: 3 * day,
    },
  ],
  bounds: {
    uploadTimeout: { least: 10 * second, most: hour },
    creationTimeout: { least: second, most: 5 * minute, below: 'uploadTimeout' },
    firstPoll: pauses,
    firstReviewPoll: pauses,
    longestPoll: pauses,
  },
};

const jobSteps: readonly Step[] = [
  (job) => ({
    handedOver: false,
    isNew: false,
    identified: false,
    reported: {},
    silentReads: 0,
    announced: [],
    attention: [],
    raised: {},
    outbox: [],
    timeline: [],
    journal: [],
    ...job,
  }),
];

export const jobVersion = jobSteps.length;

/** The state that the run before this one had. */
export function upgradeJob(carried: unknown): Job {
  return upgradeGoverned(reportPolicyVersions, upgrade<Job>('state of the report', jobSteps, carried));
}

const resultSteps: readonly Step[] = [(result) => ({ timeline: [], announced: [], attention: [], ...result })];

export const reportResultVersion = resultSteps.length;

/** The result of an earlier run of the same job. */
export function upgradeReportResult(result: unknown): ParsingJobResult {
  return upgradeGoverned(reportPolicyVersions, upgrade<ParsingJobResult>('result of the report', resultSteps, result));
}

/** The state that a submission hands to its next run. */
export interface CarriedSubmission {
  version: number;
  lostUploads: LostUpload[];
  failures: number;
  /** Missing before there were versions, and then the submission counts from the run that goes on. */
  since?: number;
  looksBack: boolean;
}

const submissionSteps: readonly Step[] = [
  (submission) => ({ lostUploads: [], failures: 0, looksBack: true, ...submission }),
];

export const submissionVersion = submissionSteps.length;

export function upgradeSubmission(carried: unknown): CarriedSubmission {
  return upgrade<CarriedSubmission>('state of the submission', submissionSteps, carried);
}
