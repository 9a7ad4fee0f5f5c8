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

/** A link that has ended may begin anew while its last notification is under way, unless it was cancelled as a workflow. */
export function validateRequest(run: LinkRun, request: LinkRequest | undefined): void {
  const { anew } = request ?? {};
  if (!anew || run.cancelled) return validateOpen(run);
  const redirectUrl: unknown = anew.redirectUrl;
  if (redirectUrl != null && typeof redirectUrl !== 'string') throw refuse('redirectUrl', 'must be a string');
  checkPolicy(anew.policy);
}

export function checkPolicy(policy: LinkOptions['policy']): void {
  try {
    resolveLinkPolicy(policy);
  } catch (error) {
    if (!(error instanceof PolicyInvalid)) throw error;
    throw ApplicationFailure.nonRetryable(error.message, 'PolicyInvalid', { fields: [] });
  }
}

export function validateReport(run: LinkRun, report: LinkReport): void {
  if (linkResultOf(report) === undefined) throw refuse('state', 'must be a text of 1 to 64 characters');
  validateOpen(run);
}

/** Says nothing of what the code was. */
export function validateCode(run: LinkRun, given: MfaCode): void {
  if (readCode(given?.code) === undefined) {
    const fields = [{ field: 'code', message: 'must be 4 to 12 letters or digits' }];
    throw ApplicationFailure.nonRetryable('The code must be 4 to 12 letters or digits', 'InvalidCode', { fields });
  }
  validateOpen(run);
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
