import { expect, test } from 'vitest';
import { parsingJob } from '../../../workflows/report/workflow.js';
import { life as appointmentLife, reading } from '../appointment/lives.js';
import { requested } from '../deletion/lives.js';
import { Life } from '../life.js';
import { life as linkLife } from '../link/lives.js';
import { life as reviewLife } from '../match-review/lives.js';
import { item, start } from '../match-review/reviews.js';
import { awaited, life as orderLife } from '../order/lives.js';
import { jobId, snapshot } from '../report/jobs.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* The worker hands over another signal in place of one that it cannot decrypt (workflows/input-refusal.ts). */

const begun: Record<string, () => Promise<Life>> = {
  kitOrder: () => orderLife(awaited),
  bookAppointment: () => appointmentLife(reading()),
  deleteUser: () => requested(),
  linkProvider: () => linkLife(),
  matchReview: () => reviewLife(item()),
  parsingJob: () => {
    const policy = resolvePolicy('report');
    const placed = { reference: 'report-1', userId: 'user-1', policy, adopted: false, notifies: true };
    const argument = { ...placed, snapshot: snapshot('started') };
    const opening = { workflow: parsingJob, type: 'parsingJob', workflowId: `parsing-job/${jobId}`, now: start };
    const life = new Life(opening, { readParsingJob: snapshot('started') });
    return life.start({ jobId, policy }, { name: 'reportSubmitted', argument });
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
