import { expect, test } from 'vitest';
import { deleteUser } from '../../../workflows/deletion/workflow.js';
import { linkProvider } from '../../../workflows/link/workflow.js';
import { matchReview } from '../../../workflows/match-review/workflow.js';
import { parsingJob } from '../../../workflows/report/workflow.js';
import { life as appointmentLife, reading } from '../appointment/lives.js';
import { Life } from '../life.js';
import { item, start } from '../match-review/reviews.js';
import { awaited, life as orderLife } from '../order/lives.js';
import { jobId, snapshot } from '../report/jobs.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The worker hands over another signal in place of one that it cannot decrypt (workflows/input-refusal.ts). */

const userId = '00000000-0000-4000-8000-000000000001';
const rawResultId = '00000000-0000-4000-8000-00000000000a';
const running = (type: string, workflow: unknown, id: string, answers: object) =>
  new Life({ workflow, type, workflowId: id, now: start }, { ...answers });

const begun: Record<string, () => Promise<Life>> = {
  kitOrder: () => orderLife(awaited),
  bookAppointment: () => appointmentLife(reading()),
  deleteUser: async () => {
    const life = running('deleteUser', deleteUser, `delete-user/${userId}`, {
      findRunningWork: { work: [], notifies: true },
      readUser: { standing: 'present', connections: [] },
      scheduleDeletion: 'accepted',
    });
    const input = { userId, policy: resolvePolicy('deletion') };
    await life.run.start(input, [], { name: 'request', argument: input });
    return life.settle();
  },
  linkProvider: async () => {
    const token = { linkToken: 'token', linkWebUrl: 'https://link.example/token', notifies: true };
    const life = running('linkProvider', linkProvider, `link-provider/${userId}/oura`, { createLinkToken: token });
    await life.start({ userId, provider: 'oura', policy: resolvePolicy('link') });
    await life.update('requestLink', {});
    return life;
  },
  matchReview: () => {
    const shown = { item: item() };
    const answers = { identifyMatchReview: { notifies: true, reading: shown }, readMatchReview: shown };
    return running('matchReview', matchReview, `match-review/${rawResultId}`, answers).start(
      { rawResultId, policy: resolvePolicy('match review') },
      { name: 'matchReviewReported', argument: { rawResultId } },
    );
  },
  parsingJob: () => {
    const argument = {
      ...{ reference: 'report-1', userId, policy: resolvePolicy('report') },
      ...{ snapshot: snapshot('started'), adopted: false, notifies: true },
    };
    const life = running('parsingJob', parsingJob, `parsing-job/${jobId}`, { readParsingJob: snapshot('started') });
    return life.start({ jobId, policy: resolvePolicy('report') }, { name: 'reportSubmitted', argument });
  },
};

test.each(Object.entries(begun))(
  '%s asks a person, once, to look for what a signal said that nobody could decrypt',
  async (_name, begin) => {
    const life = await begin();
    for (let times = 0; times < 2; times += 1) await life.signal('unreadable');
    const { attention } = (await life.run.query('state')) as { attention: { reason: string }[] };
    expect(attention.filter(({ reason }) => reason === 'unreadable_signal')).toHaveLength(1);
    expect(life.run.shown.attributes['LabAttention']).toContain('unreadable_signal');
  },
);
