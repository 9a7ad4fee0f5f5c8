import { expect } from 'vitest';
import { eventually } from './kit.js';
import type { LinkHandle } from '../../client/links/link-handle.js';
import type { LinkStart } from '../../client/links/links.js';
import { linkProviderId } from '../../workflows/link/address.js';
import type { LinkState } from '../../workflows/link/messages.js';
import type { Notification } from './notification-receiver.js';
import type { Stage } from './story.js';

/** A link in a story: the product on one side, the user's browser on the other. */
export class ALink {
  readonly handle: LinkHandle;
  private readonly stage: Stage;

  private constructor(stage: Stage, handle: LinkHandle) {
    this.stage = stage;
    this.handle = handle;
  }

  /** Starts one of a new user with a provider that the sandbox knows. */
  static async start(stage: Stage, options: Partial<LinkStart> = {}): Promise<ALink> {
    await stage.syncClock();
    const userId = options.userId ?? (await stage.newUser());
    const handle = await stage.product.links.start({ provider: 'invented_watch', ...options, userId });
    const link = new ALink(stage, handle);
    stage.endsBy(() => link.endsAnyhow());
    return link;
  }

  /** The user logs in at the provider in their browser, and the product reports what it was told. */
  async logsIn(username: string): Promise<LinkState> {
    return this.handle.reportLinkResult(await this.entersPassword(username));
  }

  /** The same, but nobody reports anything. */
  async entersPassword(username: string) {
    const { linkToken } = await this.handle.linkUrl();
    await this.stage.syncClock();
    return this.stage.service.links.submitPassword(this.handle.provider, linkToken, {
      username,
      password: 'invented-password',
    });
  }

  async shows(expected: Partial<LinkState>): Promise<LinkState> {
    return eventually(async () => {
      const state = await this.handle.state();
      expect(state).toMatchObject(expected);
      return state;
    });
  }

  get notifications(): Notification[] {
    return this.stage.receiver.accepted.filter(({ subject }) => subject === this.handle.userId);
  }

  get workflowId(): string {
    return linkProviderId(this.handle.userId, this.handle.provider);
  }

  private async endsAnyhow(): Promise<void> {
    const { workflow } = this.stage.temporal;
    const { status } = await workflow.getHandle(this.workflowId).describe();
    if (status.name !== 'RUNNING') return;
    await workflow.getHandle(this.workflowId).cancel();
    await this.stage.finish(this.workflowId);
  }
}
