const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * An id of the service in our spelling. The service takes a UUID in either case; in workflow IDs, search attributes, requests and
 * everything that is read it is always lower case, so every spelling finds the same workflow. Other ids are unchanged.
 */
export function canonicalId(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

/** True if both texts name the same object: a UUID in either letter case, with or without its hyphens. */
export function isSameId(one: string, other: string): boolean {
  return withoutHyphens(one) === withoutHyphens(other);
}

function withoutHyphens(id: string): string {
  return isUuid(id) || /^[0-9a-f]{32}$/i.test(id) ? id.replaceAll('-', '').toLowerCase() : id;
}

/** In either case. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}
