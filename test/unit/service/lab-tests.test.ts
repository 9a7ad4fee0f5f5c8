import { describe, expect, test } from 'vitest';
import { AnswerUnreadable } from '../../../service/errors.js';
import type { Marker } from '../../../service/lab-tests.js';
import { answering, rejection, serviceAt } from './recording-server.js';

async function all(markers: AsyncIterable<Marker>): Promise<Marker[]> {
  const read = [];
  for await (const marker of markers) read.push(marker);
  return read;
}

describe('markers', () => {
  test('are read page by page, fifty at a time [224, 244, 322]', async () => {
    const { baseUrl, requests } = await answering(({ url }) => {
      const page = Number(new URL(url ?? '', 'http://x').searchParams.get('page'));
      const markers = Array.from({ length: page === 3 ? 20 : 50 }, (_, n) => ({
        id: page * 100 + n,
        name: 'Invented',
      }));
      return { body: { markers, total: 120, page, size: 50, pages: 3 } };
    });
    expect(await all(serviceAt(baseUrl).labTests.listMarkers())).toHaveLength(120);
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(
      [1, 2, 3].map((page) => `GET /v3/lab_tests/markers?size=50&page=${page}`),
    );
  });

  test('are narrowed by the slug of their lab, and by what else a deployment knows [224]', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: { markers: [] } }));
    const { labTests } = serviceAt(baseUrl);
    await all(labTests.listMarkers({ labSlug: 'invented-lab' }));
    await all(
      labTests.listMarkers(
        { labIds: [1, 2], name: 'glu', aLaCarteEnabled: false, labAccountId: 'account-1' },
        { pageSize: 7 },
      ),
    );
    expect(requests.map(({ url }) => url)).toEqual([
      '/v3/lab_tests/markers?lab_slug=invented-lab&size=50&page=1',
      '/v3/lab_tests/markers?lab_id=1&lab_id=2&name=glu&a_la_carte_enabled=false&lab_account_id=account-1&size=7&page=1',
    ]);
  });

  test('keep what nobody knows yet, and lose only what has the wrong type [224, 325, 326]', async () => {
    const marker = {
      id: 11,
      name: 'Invented marker',
      slug: 'invented-marker',
      type: 'a_type_of_next_year',
      unit: 'mg/dL',
      price: '12.50',
      is_orderable: true,
      expected_results: [{ id: 1, name: 'Invented', slug: 'invented', required: true }],
      aoe: { questions: [{ id: 5, required: true, code: 'c', value: 'Fasting?', type: 'choice', answers: [] }] },
      next_year: 1,
    };
    const untidy = { id: 12, name: 7, lab_id: 'one', a_la_carte_enabled: 'yes', expected_results: [null, { id: 'x' }] };
    const { baseUrl } = await answering(() => ({ body: { markers: [marker, untidy], pricing: { currency: 'USD' } } }));
    expect(await all(serviceAt(baseUrl).labTests.listMarkers())).toEqual([
      marker,
      { id: 12, name: '7', lab_id: undefined, a_la_carte_enabled: undefined, expected_results: [] },
    ]);
  });

  test('without an id are unreadable: nothing tells them apart [224]', async () => {
    const { baseUrl } = await answering(() => ({ body: { markers: [{ name: 'Invented' }] } }));
    expect(await rejection(all(serviceAt(baseUrl).labTests.listMarkers()))).toBeInstanceOf(AnswerUnreadable);
  });
});
