import { canonicalUserId } from '../user-id.js';

/** One workflow per user: asking for a deletion again finds the one that is under way. Nobody else builds this ID. */
export function deleteUserId(userId: string): string {
  return `delete-user/${canonicalUserId(userId)}`;
}
