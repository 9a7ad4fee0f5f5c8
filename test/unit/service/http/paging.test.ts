import { describe, expect, test } from 'vitest';
import { NotFound } from '../../../../service/errors.js';
import { cursorPages, numberedPages } from '../../../../service/http/paging.js';
import { all } from '../../../rig/all.js';

describe('pages with a cursor', () => {
  test.each([null, undefined, ''])('end where the next cursor is %j', async (nextCursor) => {
    expect(await all(cursorPages(async () => ({ items: [1], nextCursor })))).toEqual([1]);
  });

  test('go on after an empty page that names a next one', async () => {
    const pages = cursorPages(async (cursor) =>
      cursor === undefined ? { items: [], nextCursor: 'a' } : { items: [1], nextCursor: null },
    );
    expect(await all(pages)).toEqual([1]);
  });

  test('end where a service gives a cursor again', async () => {
    let reads = 0;
    const pages = cursorPages(async () => ({ items: [(reads += 1)], nextCursor: 'same' }));
    expect(await all(pages)).toEqual([1, 2]);
  });

  test('are not read before a caller needs them', async () => {
    let reads = 0;
    const pages = cursorPages(async () => ({ items: [1, 2], nextCursor: String((reads += 1)) }));
    expect(reads).toBe(0);
    await pages.next();
    await pages.next();
    expect(reads).toBe(1);
  });
});

describe('numbered pages', () => {
  function service(count: number, answer: { total?: boolean; cap?: number; ignoresPage?: boolean } = {}) {
    const pages: number[] = [];
    const read = (size: number) => async (page: number) => {
      pages.push(page);
      const perPage = Math.min(size, answer.cap ?? size);
      const from = answer.ignoresPage === true ? 0 : (page - 1) * perPage;
      const items = Array.from({ length: count }, (_, n) => n).slice(from, from + perPage);
      return { items, size: perPage, ...(answer.total === true && { total: count }) };
    };
    return { pages, read };
  }

  test.each([
    [{}, [1, 2, 3]],
    [{ total: true }, [1, 2]],
    [{ cap: 2 }, [1, 2, 3, 4, 5, 6]],
    [{ cap: 2, total: true }, [1, 2, 3, 4, 5]],
  ])('return every item once with %j, by the pages %j: no further one if there is a total', async (how, asked) => {
    const { read, pages } = service(10, how);
    expect(await all(numberedPages(read(5), 5, String))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(pages).toEqual(asked);
  });

  test('are not read before a caller needs them', async () => {
    const { read, pages } = service(10);
    await numberedPages(read(5), 5, String).next();
    expect(pages).toEqual([1]);
  });

  test('end if a service ignores the page', async () => {
    const { read, pages } = service(10, { ignoresPage: true });
    expect(await all(numberedPages(read(5), 5, String))).toEqual([0, 1, 2, 3, 4]);
    expect(pages).toEqual([1, 2]);
  });

  describe('that the service does not find', () => {
    const notFound = new NotFound({ method: 'GET', path: '/list', status: 404 }, { fields: [] });
    const missing = (from: number, total?: number) => (page: number) =>
      page >= from
        ? Promise.reject(notFound)
        : Promise.resolve({ items: [2 * page, 2 * page + 1], ...(total !== undefined && { total }) });

    test('end the list after a full page', async () => {
      expect(await all(numberedPages(missing(3), 2, String))).toEqual([2, 3, 4, 5]);
    });

    test('are an error if they are the first, if the service counts more items, or if nothing may be missed', async () => {
      await expect(all(numberedPages(missing(1), 2, String))).rejects.toBe(notFound);
      await expect(all(numberedPages(missing(2, 4), 2, String))).rejects.toBe(notFound);
      await expect(all(numberedPages(missing(2), 2, String, false))).rejects.toBe(notFound);
    });
  });
});
