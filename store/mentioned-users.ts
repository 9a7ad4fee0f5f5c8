import { canonicalId, isUuid } from '../service/canonical-id.js';
import { userKey } from './keys.js';

/** The users that an unreadable event names. */
interface MentionedUsers {
  userIds: string[];
  /** The product's own references. */
  clientUserIds: string[];
}

/** An event is about one user; a list of events may be about several. */
const mostNames = 1_000;

/** An id of 256 bytes has 1,536 characters where each is spelled by its number, in six; nothing longer identifies anybody. */
const member = /"(client_user_id|user_id)"\s*:\s*("(?:[^"\\]|\\.){1,1536}")/g;

/**
 * Finds the users that a body mentions, anywhere in it, JSON or not. The product may have given its reference to
 * somebody else since, so a reference counts only if no user is named by the service's id.
 */
export function usersMentionedIn(body: string): MentionedUsers {
  const userIds = new Set<string>();
  const clientUserIds = new Set<string>();
  for (const [, field, spelled = ''] of withPlainIds(body).matchAll(member)) {
    const name = unspelled(spelled);
    const userId = userKey(name);
    if (field === 'client_user_id') clientUserIds.add(name);
    else if (userId !== undefined) userIds.add(userId);
    if (userIds.size + clientUserIds.size >= mostNames) break;
  }
  return { userIds: [...userIds], clientUserIds: userIds.size > 0 ? [] : [...clientUserIds] };
}

/**
 * Characters of ids and of their fields' names as escapes (`\u0031`), which any JSON writer may use. None of these characters can end a
 * text or begin an escape.
 */
export const escapedInIds = '\\\\u00(2[de]|3[0-9a]|4[0-9a-f]|5[0-9af]|6[0-9a-f]|7[0-9a])';

/** The body with these characters as they are. */
export function withPlainIds(body: string): string {
  return body.replaceAll(new RegExp(`${escapedInIds}|\\\\.`, 'gis'), (all, hex: string | undefined) =>
    hex === undefined ? all : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/**
 * The texts by which an id or a reference is found in a body. A UUID is unique wherever it appears. Anything else might be part of
 * another text, so only a whole string counts; and what is short or only digits might be somebody else's zip code, so only as the value of one of the
 * `fields`.
 */
export function textsOf(id: string, fields: readonly string[]): string[] {
  const uuid = canonicalId(id);
  if (isUuid(uuid)) return [uuid, uuid.replaceAll('-', '')];
  const values = spellings(id);
  if (id.length >= shortest && !/^\d+$/.test(id)) return values;
  return fields.flatMap((field) => values.flatMap((value) => colons.map((colon) => `"${field}"${colon}${value}`)));
}

/** In characters. */
const shortest = 12;

/** As JSON writers set it. */
const colons = [':', ': ', ' : '];

/**
 * A text in the spellings of the usual JSON writers, quotes included: JavaScript unchanged, Python in ASCII, PHP in
 * ASCII and with slashes escaped, Go with HTML's characters escaped. Hexadecimal digits are in lower case.
 */
function spellings(text: string): string[] {
  const plain = JSON.stringify(text);
  const ascii = byNumber(plain, /[\u0080-\uffff]/g);
  const slashes = [plain, ascii].map((each) => each.replaceAll('/', '\\/'));
  return [...new Set([plain, ascii, ...slashes, byNumber(plain, /[<>&\u2028\u2029]/g)])];
}

function byNumber(text: string, characters: RegExp): string {
  return text.replace(characters, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The value of a JSON text. A text with a line break is not JSON, and is its own value. */
function unspelled(text: string): string {
  return text.slice(1, -1).replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_all, hex: string | undefined, plain: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return controls[plain] ?? plain;
  });
}

const controls: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
