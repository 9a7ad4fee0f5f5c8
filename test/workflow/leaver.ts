import { expect } from 'vitest';
import { NotFound } from '../../client/index.js';
import type { DeletionHandle } from '../../client/users/deletion-handle.js';
import { deleteUserId } from '../../workflows/deletion/address.js';
import type { DeleteUserInput, DeletionState } from '../../workflows/deletion/messages.js';
import { eventually } from '../rig/eventually.js';
import type { Stage } from './story.js';

/** A user in a story who is deleted, and what the product is told of it. */
export class Leaver {
  readonly userId: string;
  readonly clientUserId: string;
  private readonly stage: Stage;

  constructor(stage: Stage, { user_id: userId, client_user_id: clientUserId }: Known) {
    this.stage = stage;
    this.userId = userId;
    this.clientUserId = clientUserId;
  }

  static async arrive(stage: Stage): Promise<Leaver> {
    await stage.syncClock();
    const { user } = await stage.sandbox.createUser();
    for (const provider of ['invented_watch', 'invented_ring']) {
      await stage.sandbox.connect(user.user_id, { provider, webhook: false });
    }
    return new Leaver(stage, user);
  }

  get path(): string {
    return `/v2/user/${this.userId}`;
  }

  async requestDeletion(more: Partial<DeleteUserInput> = {}): Promise<DeletionHandle> {
    await this.stage.syncClock();
    this.stage.endsBy(() => this.stage.awaitEnd(deleteUserId(this.userId)));
    return this.stage.product.users.requestDeletion({ userId: this.userId, ...more });
  }

  /** What the service answers to a read of the user. */
  async reads(): Promise<string> {
    try {
      await this.stage.service.users.get(this.userId);
      return 'present';
    } catch (error) {
      if (error instanceof NotFound) return error.reason ?? '';
      throw error;
    }
  }

  /** What the product was told, in the order in which it came: the type, and what it was about. */
  get told(): string[] {
    return this.stage.receiver.accepted
      .filter(({ data }) => data['user_id'] === this.userId)
      .map(({ type, data }) => {
        const reason = data['reason'];
        return `${type.replace('labops.user.', '')}${typeof reason === 'string' ? ` ${reason}` : ''}`;
      });
  }

  async tells(...told: string[]): Promise<void> {
    await eventually(() => expect(this.told).toEqual(told));
  }

  /** Waits until the state has all this. */
  async shows(handle: DeletionHandle, expected: Partial<DeletionState>): Promise<DeletionState> {
    return eventually(async () => {
      const state = await handle.state();
      expect(state).toMatchObject(expected);
      return state;
    });
  }
}

interface Known {
  user_id: string;
  client_user_id: string;
}
