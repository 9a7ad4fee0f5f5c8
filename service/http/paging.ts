import { NotFound } from '../errors.js';
import type { Transport } from './http.js';
import type { AnsweredCall } from './calls.js';

/** One page of a list that is read by cursor. */
interface CursorPage<T> {
  items: readonly T[];
  /** Cursor of the next page; absent, null or empty on the last page. */
  nextCursor?: string | null | undefined;
}

/** All items behind a cursor, page by page as they are consumed. */
export async function* cursorPages<T>(
  read: (cursor: string | undefined) => Promise<CursorPage<T>>,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await read(cursor);
    yield* items;
    // A deployment that gives a cursor again would be read forever.
    if (nextCursor == null || nextCursor === '' || seen.has(nextCursor)) return;
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

/** The same for a path whose answers name the cursor of the next page. */
export function listByCursor<Page extends { next_cursor?: string | null | undefined }, T>(
  transport: Transport,
  call: Omit<AnsweredCall<Page>, 'method'>,
  itemsOf: (page: Page) => readonly T[],
): AsyncGenerator<T, void, undefined> {
  return cursorPages(async (cursor) => {
    const query = { ...call.query, next_cursor: cursor };
    const page = await transport.request({ ...call, method: 'GET', query });
    return { items: itemsOf(page), nextCursor: page.next_cursor };
  });
}

/** Takes a 404 for the end of a list where it can be: a service that counts nothing may answer so to the page after the last one. */
export function noneIfPastTheEnd(isPossible: () => boolean): (error: unknown) => undefined {
  return (error) => {
    if (!isPossible() || !(error instanceof NotFound)) throw error;
    return undefined;
  };
}

/** One page of a list that is read by page and size. */
interface NumberedPage<T> {
  items: readonly T[];
  /** The number of received entries, unreadable ones included; if missing, `items` are all of them. */
  sent?: number;
  /** Items of all pages, if the service returns it. */
  total?: number | null | undefined;
  /** Items per page; a deployment may cap the requested number. */
  size?: number | null | undefined;
}

/**
 * All items of numbered pages, from page 1, as they are consumed.
 *
 * @param size items requested per page
 * @param idOf the id of an item: a page without new items ends the list, whatever the service counts
 * @param mayEndIn404 a service that counts nothing may answer 404 to the page after the last one. A proxy's 404 looks the same, so with
 *   `false` each is an error
 */
export async function* numberedPages<T>(
  read: (page: number) => Promise<NumberedPage<T>>,
  size: number,
  idOf: (item: T) => string,
  mayEndIn404 = true,
): AsyncGenerator<T, void, undefined> {
  let before = new Set<string>();
  let received = 0;
  let isCounted = false;
  for (let page = 1; ; page += 1) {
    const answer = await read(page).catch(noneIfPastTheEnd(() => page > 1 && !isCounted && mayEndIn404));
    if (!answer) return;
    isCounted = answer.total != null;
    // A new item at the front shifts the list, so a page may begin with items that the one before it ended with.
    const fresh = answer.items.filter((item) => !before.has(idOf(item)));
    yield* fresh;
    const sent = answer.sent ?? answer.items.length;
    received += sent;
    // A deployment may cap the size without saying so: with a total, a short page is not the last one.
    const isLast = answer.total == null ? sent < (answer.size ?? size) : received >= answer.total;
    if (fresh.length === 0 || isLast) return;
    before = new Set(answer.items.map(idOf));
  }
}
