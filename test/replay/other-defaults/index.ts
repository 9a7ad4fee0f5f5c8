import { resolveAppointmentPolicy } from '../../../protocol/appointment/policy.js';
import type { BookAppointmentInput } from '../../../protocol/appointment/messages.js';
import type { DeleteUserInput } from '../../../protocol/deletion/messages.js';
import { resolveDeletionPolicy } from '../../../protocol/deletion/policy.js';
import type { LinkProviderInput } from '../../../protocol/link/messages.js';
import { resolveLinkPolicy } from '../../../protocol/link/policy.js';
import type { KitOrderInput } from '../../../protocol/order/messages.js';
import type { MatchReviewInput } from '../../../protocol/match-review/messages.js';
import { resolveMatchReviewPolicy } from '../../../protocol/match-review/policy.js';
import { resolveOrderPolicy } from '../../../protocol/order/policy.js';
import type { SubmitReportInput } from '../../../protocol/report/submission-messages.js';
import { resolveReportPolicy } from '../../../protocol/report/policy.js';
import { bookAppointment as realAppointment } from '../../../workflows/appointment/workflow.js';
import { deleteUser as realDeletion } from '../../../workflows/deletion/workflow.js';
import { linkProvider as realLink } from '../../../workflows/link/workflow.js';
import { matchReview as realReview } from '../../../workflows/match-review/workflow.js';
import { kitOrder as realOrder } from '../../../workflows/order/workflow.js';
import { submitReport as realSubmission } from '../../../workflows/report/submit.js';

/* The mistake that must not be made: workflows that read a default, instead of the policy that they were given. */

export async function kitOrder(input: KitOrderInput) {
  return realOrder({ ...input, policy: resolveOrderPolicy() });
}

export async function linkProvider(input: LinkProviderInput) {
  return realLink({ ...input, policy: resolveLinkPolicy() });
}

export async function submitReport(input: SubmitReportInput) {
  return realSubmission({ ...input, policy: resolveReportPolicy() });
}

export async function bookAppointment(input: BookAppointmentInput) {
  return realAppointment({ ...input, policy: resolveAppointmentPolicy() });
}

export async function matchReview(input: MatchReviewInput) {
  return realReview({ ...input, policy: resolveMatchReviewPolicy() });
}

export async function deleteUser(input: DeleteUserInput) {
  return realDeletion({ ...input, policy: resolveDeletionPolicy() });
}
