import { expect, test } from 'vitest';
import { ServiceDown } from '../../client/errors.js';
import type { AppointmentFound } from '../../activities/appointments.js';
import { Visit } from './visit.js';
import { setStage } from './story.js';

let isAway: boolean;

/** Earlier runs are asked of Temporal, which may refuse that while everything else works. */
async function identifyAppointment(): Promise<AppointmentFound> {
  await Promise.resolve();
  if (isAway) throw new Error('Temporal does not answer');
  return { notifies: true };
}

const stage = setStage({ activities: { identifyAppointment } });

test('a request for slots fails after three minutes while the appointment is not identified, and succeeds once it is', async () => {
  isAway = true;
  const visit = await Visit.start(stage);
  const asked = visit.handle.slots().catch((error: unknown) => error);
  await stage.skip('4 minutes');
  const refusal = await asked;
  expect(refusal).toBeInstanceOf(ServiceDown);
  expect(refusal).toMatchObject({ message: expect.stringMatching(/not known yet.+try again/) as string });
  isAway = false;
  // The pauses between two attempts are a minute by now.
  await stage.skip('2 minutes');
  expect((await visit.slot()).id).toBeTruthy();
});
