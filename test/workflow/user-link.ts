import type { LinkHandle } from '../../client/link/link-handle.js';
import type { LinkStart } from '../../client/link/links.js';
import { linkProviderId } from '../../protocol/ids.js';
import type { CodeAnswer, LinkState } from '../../protocol/link/messages.js';
import type { Notification } from '../rig/notification-receiver.js';
import type { Stage } from './story.js';
import { Watched } from './watched.js';

/** Where a code goes. `*` stands for any provider in a fault. */
export function completeMfaPath(provider = '*'): string {
  return `/v2/link/provider/password/${provider}/complete_mfa`;
}

export const tokenPath = '/v2/link/token';

/** A link in a story: the product on one side, the user's browser on the other. */
export class UserLink extends Watched<LinkState> {
  readonly handle: LinkHandle;
  private readonly stage: Stage;

  private constructor(stage: Stage, handle: LinkHandle) {
    super(handle);
    this.stage = stage;
    this.handle = handle;
  }

  /** Starts one of a new user with a provider that the sandbox knows. */
  static async start(stage: Stage, options: Partial<LinkStart> = {}): Promise<UserLink> {
    await stage.syncClock();
    const userId = options.userId ?? (await stage.newUser());
    const handle = await stage.product.links.start({ provider: 'invented_watch', ...options, userId });
    const link = new UserLink(stage, handle);
    stage.onClear(() => stage.cancelIfRunning(link.workflowId));
    return link;
  }

  /** The user logs in at the provider in their browser, and the product reports the answer. */
  async logIn(username: string): Promise<LinkState> {
    return this.handle.reportLinkResult(await this.enterPassword(username));
  }

  /** The same, but nobody reports anything. */
  async enterPassword(username: string) {
    const { linkToken } = await this.handle.url();
    await this.stage.syncClock();
    return this.stage.service.links.submitPassword(this.handle.provider, linkToken, {
      username,
      password: 'invented-password',
    });
  }

  /** Leads the user to the connection from wherever they are, as the product's screens would. */
  async connect(): Promise<CodeAnswer> {
    const { phase } = await this.handle.state();
    if (phase !== 'awaiting_code') await this.logIn('mfa-sms');
    return this.handle.submitMfaCode({ code: '123456' });
  }

  get notifications(): Notification[] {
    return this.stage.receiver.accepted.filter(({ subject }) => subject === this.handle.userId);
  }

  get workflowId(): string {
    return linkProviderId(this.handle.userId, this.handle.provider);
  }

  get notified(): string[] {
    return this.notifications.map(({ type, data }) => [type.replace('link.', ''), data['outcome']].join(' ').trim());
  }

  /** How often a code reached the service. */
  async codesSent(): Promise<number> {
    return this.stage.countRequests('POST', completeMfaPath(this.handle.provider));
  }

  /** The run that is under way, or was the last. */
  async runId(): Promise<string> {
    return (await this.stage.temporal.workflow.getHandle(this.workflowId).describe()).runId;
  }
}
