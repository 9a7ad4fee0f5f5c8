import type { DeletionHandle } from '../../client/index.js';
import type { Narrator } from './narrator.js';
import type { NotificationReceiver, UserNotification } from './notification-receiver.js';
import { Occurrences } from './occurrences.js';
import { deletionWords } from './words.js';

/** The deletion of a user in a story: the product's handle of it, and what the product is told. */
export class PlayedDeletion {
  readonly handle: DeletionHandle;
  readonly #narrator: Narrator;
  readonly #notifications = new Occurrences<UserNotification>();

  constructor(handle: DeletionHandle, narrator: Narrator, { users }: NotificationReceiver) {
    this.handle = handle;
    this.#narrator = narrator;
    users.each((notification) => {
      if (notification.data.user_id === handle.userId) this.#hear(notification);
    });
  }

  /** Waits until the product is told of it. */
  told(type: string): Promise<UserNotification> {
    return this.#notifications.first((notification) => notification.type === type);
  }

  wasTold(type: string): boolean {
    return this.#notifications.some((notification) => notification.type === type);
  }

  #hear(notification: UserNotification): void {
    this.#narrator.tells(notification.time, deletionWords(notification));
    this.#notifications.add(notification);
  }
}
