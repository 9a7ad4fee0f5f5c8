import type { DeletionHandle } from '../../client/index.js';
import type { Narrator } from './narrator.js';
import type { NotificationReceiver } from './notification-receiver.js';
import { Notifications } from './notifications.js';
import { deletionWords } from './words.js';

/** The deletion of a user in a story. */
export class PlayedDeletion {
  readonly handle: DeletionHandle;
  readonly notifications: Notifications<'user'>;

  constructor(handle: DeletionHandle, narrator: Narrator, receiver: NotificationReceiver) {
    this.handle = handle;
    this.notifications = new Notifications(
      receiver,
      'user',
      ({ data }) => data.user_id === handle.userId,
      (event) => narrator.notifies(event.time, deletionWords(event)),
    );
  }
}
