import { ApplicationFailure } from '@temporalio/workflow';
import { readCode } from './mfa-code.js';
import { linkResultOf } from './link-report.js';
import type { LinkOptions, LinkReport, LinkRequest, MfaCode } from './messages.js';
import { resolveLinkPolicy } from './policy.js';
import { PolicyInvalid } from '../policy-settings.js';
import type { LinkCase } from './case.js';
import type { LinkRun } from './run.js';

/** What a command must be to be accepted at all; a refusal here leaves no trace in the history. */

export function validateOpen({ kase }: LinkRun): void {
  if (kase.outcome !== undefined) throw ended(kase);
}

/** Webhooks are often faster than the product: that a link is connected already is no reason to refuse it. */
function validateOpenOrConnected(run: LinkRun): void {
  if (run.kase.outcome !== 'connected') validateOpen(run);
}

/** A link that has ended may begin anew while its last notification is under way. */
export function validateRequest(run: LinkRun, request: LinkRequest | undefined): void {
  const { anew } = request ?? {};
  if (!anew) return validateOpen(run);
  checkOptions(anew);
}

/** An absolute URL of any scheme, for apps too. */
const urlPattern = /^[a-z][a-z0-9+.-]*:\S+$/i;

/** What another language's backend sends is not checked by any compiler. */
export function checkOptions({ redirectUrl, policy }: LinkOptions): void {
  const isUrl = typeof redirectUrl === 'string' && urlPattern.test(redirectUrl);
  if (redirectUrl != null && !isUrl) throw refuse('redirectUrl', 'must be an absolute URL');
  checkPolicy(policy);
}

function checkPolicy(policy: LinkOptions['policy']): void {
  try {
    resolveLinkPolicy(policy);
  } catch (error) {
    if (!(error instanceof PolicyInvalid)) throw error;
    throw ApplicationFailure.nonRetryable(error.message, 'PolicyInvalid', { fields: [] });
  }
}

export function validateReport(run: LinkRun, report: LinkReport): void {
  if (linkResultOf(report) === undefined) throw refuse('state', 'must be a text');
  validateOpenOrConnected(run);
}

/** Says nothing of what the code was. */
export function validateCode(run: LinkRun, given: MfaCode): void {
  if (readCode(given?.code) === undefined) {
    const fields = [{ field: 'code', message: 'must be 4 to 12 letters or digits' }];
    throw ApplicationFailure.nonRetryable('The code must be 4 to 12 letters or digits', 'InvalidCode', { fields });
  }
  validateOpenOrConnected(run);
}

export function ended({ outcome }: Pick<LinkCase, 'outcome'>): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`The link has ended: ${outcome}`, 'LinkEnded', {
    fields: [],
    ...(outcome !== undefined && { reason: outcome }),
  });
}

function refuse(field: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${field} ${message}`, 'InvalidCommand', { fields: [{ field, message }] });
}
