import { deleteUser as realDeletion } from '../../../workflows/deletion/workflow.js';
import { linkProvider as realLink } from '../../../workflows/link/workflow.js';
import { matchReview as realReview } from '../../../workflows/match-review/workflow.js';
import { kitOrder as realOrder } from '../../../workflows/order/workflow.js';
import { submitReport as realSubmission } from '../../../workflows/report/submit.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* The mistake that must not be made: workflows that read a default, instead of the policy that they were given. */

const readingDefaults =
  <Input extends object>(workflow: (input: Input) => Promise<unknown>, of: Parameters<typeof resolvePolicy>[0]) =>
  async (input: Input) =>
    workflow({ ...input, policy: resolvePolicy(of) });

export const kitOrder = readingDefaults(realOrder, 'order');
export const linkProvider = readingDefaults(realLink, 'link');
export const submitReport = readingDefaults(realSubmission, 'report');
export const matchReview = readingDefaults(realReview, 'match review');
export const deleteUser = readingDefaults(realDeletion, 'deletion');
