/** As programs write a UUID: with or without hyphens, in braces, as a URN, in either case, with blanks around it. */
const written = /^[\s{]*(?:urn:)?(?:uuid:)?[\s{]*([0-9a-f-]+)[\s}]*$/i;
const longestWritten = 100;

/** The hexadecimal digits of a UUID. */
const digits = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/**
 * An id of the service in our spelling: a UUID in lower case and with hyphens, however it is written. The service takes it in several
 * forms; in workflow IDs, search attributes, keys and comparisons it has only this one, so every spelling finds the same workflow and
 * the same data. Other ids are unchanged.
 */
export function canonicalId(id: string): string {
  const [, spelled = ''] = id.length > longestWritten ? [] : (written.exec(id) ?? []);
  const groups = digits.exec(spelled.replaceAll('-', '').toLowerCase());
  return groups ? groups.slice(1).join('-') : id;
}

/** In our spelling. */
export function isUuid(text: string): boolean {
  return digits.test(text.replaceAll('-', '')) && canonicalId(text) === text;
}

/** True for a UUID in an unknown form: somebody may take it for the UUID, and we would take it for another user. */
export function isMisspeltUuid(id: string): boolean {
  const plain = id.replaceAll(/[^0-9a-z]/gi, '').toLowerCase();
  return /^(?:urn|uuid|guid)*[0-9a-f]{32}$/.test(plain) && !isUuid(canonicalId(id));
}
