import { expect } from 'vitest';
import { createLabService, type LinkHandle, type LinkState } from '../../client/index.js';
import type { LinkStart } from '../../client/link/links.js';
import { linkProviderId } from '../../protocol/ids.js';
import { patience, type Stack } from './stack.js';

export const provider = 'invented_watch';
export const completeMfaPath = `/v2/link/provider/password/${provider}/complete_mfa`;

/** By the stand-in's conventions (docs/sandbox.md). */
export const rightCode = '123456';
export const wrongCode = '111111';

/** A user of the product who links a provider: the product's handle on one side, their browser on the other. */
export interface LinkedUser {
  handle: LinkHandle;
  userId: string;
  /** Everything that the browser and the user had in their hands: it must be readable nowhere. */
  secrets: string[];
  /** Those of them that the provider shows of the person's address or number. */
  hints: string[];
  /** Enters name and password in the browser; returns the browser's answer, which nobody reports. */
  enterPassword(username: string): Promise<Record<string, unknown>>;
  /** The same, and the product reports the browser's answer. */
  logIn(username: string): Promise<LinkState>;
  submit(code: string): ReturnType<LinkHandle['submitMfaCode']>;
  /** Waits until the link's state has all this. */
  expectState(expected: Partial<LinkState>): Promise<void>;
}

/** Starts a link of a new user. */
export async function startLink(lab: Stack, policy: LinkStart['policy'] = {}): Promise<LinkedUser> {
  const userId = await lab.newUser();
  const handle = await lab.labs.links.start({ userId, provider, policy });
  const secrets: string[] = [];
  const hints: string[] = [];
  const enterPassword = async (username: string) => {
    const { linkToken, linkWebUrl } = await handle.url();
    const password = `invented-password-of-${username}`;
    secrets.push(linkToken, linkWebUrl, username, password);
    const answer = await inBrowser(lab, (links) => links.submitPassword(provider, linkToken, { username, password }));
    const { hint } = answer.provider_mfa ?? {};
    if (hint) {
      secrets.push(hint);
      hints.push(hint);
    }
    return answer;
  };
  return {
    handle,
    userId,
    secrets,
    hints,
    enterPassword,
    logIn: async (username) => handle.reportLinkResult(await enterPassword(username)),
    submit: (code) => {
      secrets.push(code);
      return handle.submitMfaCode({ code });
    },
    expectState: async (expected) => {
      await expect.poll(() => handle.state(), patience).toMatchObject(expected);
    },
  };
}

type BrowserLinks = ReturnType<typeof createLabService>['links'];

/** A browser has no API key: what it sends carries the link token alone. */
async function inBrowser<T>(lab: Stack, act: (links: BrowserLinks) => Promise<T>): Promise<T> {
  const service = createLabService({ baseUrl: lab.service.url, apiKey: 'a-browser-has-none' });
  try {
    return await act(service.links);
  } finally {
    await service.close();
  }
}

/** How many codes have reached the service since the test began. */
export async function codesSent(lab: Stack): Promise<number> {
  return (await lab.sandbox.requests({ method: 'POST', path: completeMfaPath })).length;
}

export function workflowOf(lab: Stack, { userId }: LinkedUser) {
  return lab.rig.client.workflow.getHandle(linkProviderId(userId, provider));
}
