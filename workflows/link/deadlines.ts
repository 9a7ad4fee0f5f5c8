import type { Moment } from '../alarm.js';
import type { LinkCase } from './case.js';
import { confirmAt } from './claims.js';

/** The moments at which silence means something. They derive from what happened and from the policy: no clock here. */
export type LinkDeadline = Moment & { name: 'confirmation' | 'code reminder' | 'password' | 'code' | 'token' | 'link' };

/** The earliest first. */
export function deadlinesOf(kase: LinkCase): LinkDeadline[] {
  if (kase.outcome !== undefined) return [];
  const confirming = confirmAt(kase);
  // Only the service's answer is waited for any more.
  if (kase.ending) return [{ name: 'confirmation', at: confirming ?? kase.ending.since }];
  const { policy, phase, since, token, startedAt } = kase;
  const found: LinkDeadline[] = [{ name: 'link', at: startedAt + policy.totalWait }];
  if (confirming !== undefined) found.push({ name: 'confirmation', at: confirming });
  if (phase === 'awaiting_password') found.push({ name: 'password', at: since + policy.passwordWait });
  if (phase === 'awaiting_code') {
    found.push({ name: 'code', at: since + policy.codeWait });
    const reminderAt = since + policy.codeReminder;
    if (!kase.reminded && policy.codeReminder < policy.codeWait) found.push({ name: 'code reminder', at: reminderAt });
  }
  // A reported success needs the token no more.
  if (token && policy.onTokenExpiry === 'end' && phase !== 'confirming') {
    found.push({ name: 'token', at: token.expiresAt });
  }
  return found.toSorted((a, b) => a.at - b.at);
}

/** Until when the user may act. */
export function waitingUntil(kase: LinkCase): number | undefined {
  return deadlinesOf(kase).find(({ name }) => name !== 'code reminder' && name !== 'confirmation')?.at;
}
