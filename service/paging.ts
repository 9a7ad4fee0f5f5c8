/** One page of a list that is read by cursor. */
export interface CursorPage<T> {
  items: readonly T[];
  /** Where the next page begins; absent, null and empty all say that this one is the last. */
  nextCursor?: string | null | undefined;
}

/** Everything behind a cursor, page by page as it is consumed. */
export async function* cursorPages<T>(
  read: (cursor: string | undefined) => Promise<CursorPage<T>>,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await read(cursor);
    yield* items;
    // A deployment that gives a cursor again would be read for ever.
    if (nextCursor == null || nextCursor === '' || seen.has(nextCursor)) return;
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

/** One page of a list that is read by page and size. */
export interface NumberedPage<T> {
  items: readonly T[];
  /** How many entries came, with those that could not be read; `items` are all of them where it is missing. */
  sent?: number;
  /** Items of all pages, where the service tells. */
  total?: number | null | undefined;
  /** Items that a page may have; a deployment may cap what was asked for. */
  size?: number | null | undefined;
}

/**
 * Everything in numbered pages, from page 1, as it is consumed.
 *
 * @param size items asked for per page
 * @param idOf what tells items apart: a page that brings nothing new ends the list, whatever the service counts
 */
export async function* numberedPages<T>(
  read: (page: number) => Promise<NumberedPage<T>>,
  size: number,
  idOf: (item: T) => string,
): AsyncGenerator<T, void, undefined> {
  let before = new Set<string>();
  for (let page = 1; ; page += 1) {
    const answer = await read(page);
    const fresh = answer.items.filter((item) => !before.has(idOf(item)));
    yield* fresh;
    const perPage = answer.size ?? size;
    const sent = answer.sent ?? answer.items.length;
    if (fresh.length === 0 || sent < perPage || page * perPage >= (answer.total ?? Infinity)) return;
    before = new Set(answer.items.map(idOf));
  }
}
