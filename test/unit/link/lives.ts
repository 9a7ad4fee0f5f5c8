import type { LinkPolicy } from '../../../protocol/link/policy.js';
import { linkProvider } from '../../../workflows/link/workflow.js';
import { Life, type Answers } from '../life.js';
import { start } from './links.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

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
