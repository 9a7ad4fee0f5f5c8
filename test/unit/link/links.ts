import type { LinkPolicy } from '../../../protocol/link/policy.js';
import { receiveResult, giveToken, openLink, recordConnection, type Link } from '../../../workflows/link/link.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import { linkProvider } from '../../../workflows/link/workflow.js';
import { Life, type Answers } from '../life.js';

/* Links in the states that the tests of the pure decisions begin with, and their lives. Everything here is invented. */

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export const start = Date.parse('2026-03-01T10:00:00.000Z');

export const held = { token: 'invented-token', url: 'https://link.example.com/?token=invented-token' };

/** Just started: not even a token. */
export function opened(policy: LinkPolicy = {}): Link {
  return openLink({ userId: 'user-1', provider: 'invented_watch', policy: resolvePolicy('link', policy) }, start);
}

/** One for which the user chooses the provider. */
export function openedForAny(policy: LinkPolicy = {}): Link {
  return openLink({ userId: 'user-1', policy: resolvePolicy('link', policy) }, start);
}

/** With a token that ends ten minutes after the start, and a worker that has a target for notifications. */
export function handedOut(policy: LinkPolicy = {}): Link {
  const link = opened(policy);
  link.notifies = true;
  giveToken(link, { ...held, expiresAt: start + 10 * minute }, start);
  return link;
}

/** A code was asked for by SMS, a minute after the start. */
export function asked(policy: LinkPolicy = {}): Link {
  const link = handedOut(policy);
  const providerMfa = { method: 'sms', hint: '***23' };
  receiveResult(link, { state: 'pending_provider_mfa', providerMfa }, start + minute);
  return link;
}

/** A success was reported, two minutes after the start, and does not show yet. */
export function claimed(policy: LinkPolicy = {}): Link {
  const link = asked(policy);
  receiveResult(link, { state: 'success' }, start + 2 * minute);
  return link;
}

export const entries = ({ journal }: Link): string[] => journal.map(({ what }) => what);

/** The service shows this to a read for what is claimed, so long after the start. */
export function looked(link: Link, found: 'new' | 'older' | 'none', after: number, more: object = {}): Link {
  recordConnection(link, { found, ...more }, link.claim, start + after);
  return link;
}

export const userId = '00000000-0000-4000-8000-000000000001';
export const provider = 'oura';
export const token = {
  ...{ linkToken: 'token', linkWebUrl: 'https://link.example/token', notifies: true, connections: [] },
};

export const opening = (workflowId = `link-provider/${userId}/${provider}`) => ({
  ...{ workflow: linkProvider, type: 'linkProvider', workflowId, now: start },
});

/** A link that was handed out at the start. */
export async function life(policy: LinkPolicy = {}, answers: Answers = {}): Promise<Life> {
  const usual = { createLinkToken: token, findConnection: { found: 'none', notifies: true } };
  const begun = new Life(opening(), { ...usual, ...answers });
  await begun.start({ userId, provider, policy: resolvePolicy('link', policy) });
  await begun.update('requestLink', {});
  return begun;
}
