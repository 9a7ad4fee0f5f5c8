import type { BookAppointmentInput } from '../../../protocol/appointment/messages.js';
import type { DeleteUserInput } from '../../../protocol/deletion/messages.js';
import type { LinkProviderInput } from '../../../protocol/link/messages.js';
import type { KitOrderInput } from '../../../protocol/order/messages.js';
import type { MatchReviewInput } from '../../../protocol/match-review/messages.js';
import type { SubmitReportInput } from '../../../protocol/report/submission-messages.js';
import { bookAppointment as realAppointment } from '../../../workflows/appointment/workflow.js';
import { deleteUser as realDeletion } from '../../../workflows/deletion/workflow.js';
import { linkProvider as realLink } from '../../../workflows/link/workflow.js';
import { matchReview as realReview } from '../../../workflows/match-review/workflow.js';
import { kitOrder as realOrder } from '../../../workflows/order/workflow.js';
import { submitReport as realSubmission } from '../../../workflows/report/submit.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* The mistake that must not be made: workflows that read a default, instead of the policy that they were given. */

export async function kitOrder(input: KitOrderInput) {
  return realOrder({ ...input, policy: resolvePolicy('order') });
}

export async function linkProvider(input: LinkProviderInput) {
  return realLink({ ...input, policy: resolvePolicy('link') });
}

export async function submitReport(input: SubmitReportInput) {
  return realSubmission({ ...input, policy: resolvePolicy('report') });
}

export async function bookAppointment(input: BookAppointmentInput) {
  return realAppointment({ ...input, policy: resolvePolicy('appointment') });
}

export async function matchReview(input: MatchReviewInput) {
  return realReview({ ...input, policy: resolvePolicy('match review') });
}

export async function deleteUser(input: DeleteUserInput) {
  return realDeletion({ ...input, policy: resolvePolicy('deletion') });
}
