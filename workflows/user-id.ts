const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The service takes a UUID in either case for the same user: here it is always lower case, in IDs, in search attributes
 * and in what is sent, so that whatever concerns a user is found. Other ids stay as they are.
 */
export function canonicalUserId(userId: string): string {
  return uuidPattern.test(userId) ? userId.toLowerCase() : userId;
}

/** The same for a request to the service. */
export function ofCanonicalUser<Request extends { user_id: string }>(request: Request): Request {
  return { ...request, user_id: canonicalUserId(request.user_id) };
}
