const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The service takes a UUID in either case for the same user: here it is always lower case. Other ids stay as they are. */
export function canonicalUserId(userId: string): string {
  return uuidPattern.test(userId) ? userId.toLowerCase() : userId;
}

/** One workflow per user: asking for a deletion again finds the one that is under way. Nobody else builds this ID. */
export function deleteUserId(userId: string): string {
  return `delete-user/${canonicalUserId(userId)}`;
}
