import { hearResult } from '../../../workflows/link/answers.js';
import { giveToken, openLink, type LinkCase } from '../../../workflows/link/case.js';
import type { LinkPolicy } from '../../../workflows/link/policy.js';

/* Links in the states that the tests of the pure decisions begin with. Everything here is invented. */

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export const start = Date.parse('2026-03-01T10:00:00.000Z');

export const held = { token: 'invented-token', url: 'https://link.example.com/?token=invented-token' };

/** Just started: not even a token. */
export function opened(policy: LinkPolicy = {}): LinkCase {
  return openLink({ userId: 'user-1', provider: 'invented_watch', policy }, start);
}

/** With a token that ends ten minutes after the start, and a worker that has a target for notifications. */
export function handedOut(policy: LinkPolicy = {}): LinkCase {
  const kase = opened(policy);
  kase.notifies = true;
  giveToken(kase, { ...held, expiresAt: start + 10 * minute }, start);
  return kase;
}

/** A code was asked for by SMS, a minute after the start. */
export function asked(policy: LinkPolicy = {}): LinkCase {
  const kase = handedOut(policy);
  const providerMfa = { method: 'sms', hint: '***23' };
  hearResult(kase, { state: 'pending_provider_mfa', providerMfa }, start + minute);
  return kase;
}

/** A success was reported, two minutes after the start, that nothing shows yet. */
export function claimed(policy: LinkPolicy = {}): LinkCase {
  const kase = asked(policy);
  hearResult(kase, { state: 'success' }, start + 2 * minute);
  return kase;
}

export const entries = ({ journal }: LinkCase): string[] => journal.map(({ what }) => what);
