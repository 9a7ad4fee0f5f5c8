import { expect, test } from 'vitest';
import { life as appointmentLife, reading } from '../appointment/lives.js';
import { requested } from '../deletion/lives.js';
import type { Life } from '../life.js';
import { life as linkLife } from '../link/lives.js';
import { life as reviewLife } from '../match-review/lives.js';
import { item } from '../match-review/reviews.js';
import { awaited, life as orderLife } from '../order/lives.js';
import { snapshot } from '../report/jobs.js';
import { life as reportLife } from '../report/lives.js';

/* The worker hands over another signal in place of one that it cannot decrypt (workflows/input-refusal.ts). */

const begun: Record<string, () => Promise<Life>> = {
  kitOrder: () => orderLife(awaited),
  bookAppointment: () => appointmentLife(reading()),
  deleteUser: () => requested(),
  linkProvider: () => linkLife(),
  matchReview: () => reviewLife(item()),
  parsingJob: () => reportLife(snapshot('started')),
};

test.each(Object.entries(begun))('%s asks a person, once, what an undecryptable signal said', async (_name, begin) => {
  const life = await begin();
  for (let times = 0; times < 2; times += 1) await life.signal('unreadable');
  const { attention } = (await life.run.query('state')) as { attention: { reason: string }[] };
  expect(attention.filter(({ reason }) => reason === 'unreadable_signal')).toHaveLength(1);
  expect(life.run.shown.attributes['LabAttention']).toContain('unreadable_signal');
});
