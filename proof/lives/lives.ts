import './sandbox.js';
import { bookAppointment } from '../../workflows/appointment/workflow.js';
import { deleteUser } from '../../workflows/deletion/workflow.js';
import { placeKitOrder } from '../../workflows/order/placing.js';
import { kitOrder } from '../../workflows/order/workflow.js';
import { AppointmentWorld } from './appointment.js';
import { LinkWorld } from './link.js';
import { MatchReviewWorld } from './match-review.js';
import { JobWorld, SubmissionWorld } from './report.js';
import { linkProvider } from '../../workflows/link/workflow.js';
import { matchReview } from '../../workflows/match-review/workflow.js';
import { submitReport } from '../../workflows/report/submit.js';
import { parsingJob } from '../../workflows/report/workflow.js';
import { DeletionWorld } from './deletion.js';
import { Life } from './life.js';
import { OrderWorld, PlacingWorld } from './order.js';
import type { Joins } from './recorded-run.js';
import { play, type Kind } from './stage.js';

/** Every workflow whose lives are played, with those that it hands things over to. */
export const kinds: Readonly<Record<string, Kind>> = {
  placeKitOrder: { workflows: { placeKitOrder, kitOrder }, world: PlacingWorld },
  kitOrder: { workflows: { kitOrder }, world: OrderWorld },
  bookAppointment: { workflows: { bookAppointment }, world: AppointmentWorld },
  deleteUser: { workflows: { deleteUser }, world: DeletionWorld },
  linkProvider: { workflows: { linkProvider }, world: LinkWorld },
  matchReview: { workflows: { matchReview, kitOrder: nothing }, world: MatchReviewWorld },
  submitReport: { workflows: { submitReport, parsingJob }, world: SubmissionWorld },
  parsingJob: { workflows: { parsingJob }, world: JobWorld },
};

/** An order's own workflow, in lives that are about something else. */
async function nothing(): Promise<void> {}

/** @param joinings which empty tasks a replay joins with the next one; each is tried */
export async function live(
  name: string,
  seed: number,
  joinings: readonly Joins[] = ['none', 'commands', 'all'],
): Promise<Life> {
  const kind = kinds[name];
  if (!kind) throw new TypeError(`No lives of ${name} are played: there are ${Object.keys(kinds).join(', ')}`);
  const life = new Life(seed);
  await play(life, kind, joinings);
  return life;
}
