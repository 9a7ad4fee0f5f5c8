import { expect } from 'vitest';
import { errors } from '../../client/index.js';
import type { DeletionHandle } from '../../client/user/deletion-handle.js';
import { deleteUserId } from '../../protocol/ids.js';
import type { DeleteUserInput } from '../../protocol/deletion/messages.js';
import { eventually } from '../rig/eventually.js';
import type { Stage } from './story.js';

/** A user in a story who is deleted, and what the product is notified of. */
export class LeavingUser {
  readonly userId: string;
  readonly clientUserId: string;
  private readonly stage: Stage;

  constructor(stage: Stage, { user_id: userId, client_user_id: clientUserId }: Known) {
    this.stage = stage;
    this.userId = userId;
    this.clientUserId = clientUserId;
  }

  static async arrive(stage: Stage): Promise<LeavingUser> {
    await stage.syncClock();
    const { user } = await stage.sandbox.createUser();
    for (const provider of ['invented_watch', 'invented_ring']) {
      await stage.sandbox.connect(user.user_id, { provider, webhook: false });
    }
    return new LeavingUser(stage, user);
  }

  get path(): string {
    return `/v2/user/${this.userId}`;
  }

  async requestDeletion(more: Partial<DeleteUserInput> = {}): Promise<DeletionHandle> {
    await this.stage.syncClock();
    this.stage.onClear(() => this.stage.awaitEnd(deleteUserId(this.userId)));
    return this.stage.product.users.requestDeletion({ userId: this.userId, ...more });
  }

  /** How the service answers a read of the user: `present`, or the reason why not. */
  async readUser(): Promise<string> {
    try {
      await this.stage.service.users.get(this.userId);
      return 'present';
    } catch (error) {
      if (error instanceof errors.NotFound) return error.serviceSentence ?? '';
      throw error;
    }
  }

  /** The notifications about the user, in the order in which they came: the type, and the reason. */
  get notified(): string[] {
    return this.stage.receiver.accepted
      .filter(({ data }) => data['user_id'] === this.userId)
      .map(({ type, data }) => [type.replace('user.', ''), data['reason']].join(' ').trim());
  }

  /** Waits until the product has been notified of exactly this. */
  async expectNotifications(...expected: string[]): Promise<void> {
    await eventually(() => expect(this.notified).toEqual(expected));
  }
}

interface Known {
  user_id: string;
  client_user_id: string;
}
