import { describe, expect, test } from 'vitest';
import { all } from '../../rig/all.js';
import { answering, readFrom, serviceAt, serviceWith } from './recording-server.js';

describe('markers', () => {
  const markersOf = (markers: unknown[]) => readFrom({ markers }, ({ labTests }) => all(labTests.listMarkers()));

  // proves 224, 244, 322, I3
  test('are read page by page, fifty at a time', async () => {
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

  // proves 224
  test('are narrowed by the slug of their lab, and by other filters of a deployment', async () => {
    const { labTests, requests } = await serviceWith({ body: { markers: [] } });
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

  // proves 224, 243, 325, 326
  test('keep unknown fields, lose those of the wrong type, and of their parts those without an id', async () => {
    const marker = {
      id: 11,
      name: 'Invented marker',
      type: 'a_type_of_next_year',
      expected_results: [{ id: 1, name: 'Invented', required: true }],
      aoe: { questions: [{ id: 5, code: 'c', answers: [{ id: 7 }] }] },
      next_year: 1,
    };
    const untidy = {
      id: 12,
      name: 7,
      lab_id: 'one',
      aoe: { questions: [{ id: 5, answers: [{ id: 7 }, { value: 'Yes' }] }, { value: 'Fasting?' }] },
      expected_results: [null, { id: 'x' }, { id: 2 }],
    };
    expect(await markersOf([marker, untidy])).toEqual([
      marker,
      {
        id: 12,
        name: '7',
        lab_id: undefined,
        aoe: { questions: [{ id: 5, answers: [{ id: 7 }] }] },
        expected_results: [{ id: 2 }],
      },
    ]);
  });

  // proves 224
  test.each([
    ['of fewer than were asked for', { size: 2 }, 2],
    ['that says how many there are', { total: 5 }, 2],
    ['whose counts are not numbers', { size: 'two', total: [] }, 3],
  ])('are read to their end from a list %s', async (_what, counts, perPage) => {
    const { baseUrl } = await answering(({ url }) => {
      const page = Number(new URL(url ?? '', 'http://x').searchParams.get('page'));
      const markers = [1, 2, 3, 4, 5].slice((page - 1) * perPage, page * perPage).map((id) => ({ id }));
      return { body: { markers, ...counts } };
    });
    const read = await all(serviceAt(baseUrl).labTests.listMarkers({}, { pageSize: 3 }));
    expect(read.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
  });

  test('have their price whether it is sent as a text or as a number', async () => {
    const markers = [
      { id: 1, price: '12.50', common_tat_days: 3 },
      { id: 2, price: 12.5, common_tat_days: '3' },
      { id: 3, price: 12, common_tat_days: 'soon' },
    ];
    expect(await markersOf(markers)).toEqual([
      { id: 1, price: '12.50', common_tat_days: 3 },
      { id: 2, price: '12.5', common_tat_days: 3 },
      { id: 3, price: '12', common_tat_days: undefined },
    ]);
  });
});

describe('lab tests', () => {
  test('are read by cursor, with what narrows them', async () => {
    const { baseUrl, requests } = await answering(({ url }) => {
      const isFirst = !url?.includes('next_cursor');
      return { body: { data: [{ id: isFirst ? 'test-1' : 'test-2' }], next_cursor: isFirst ? 'c 2' : null } };
    });
    const filter = {
      name: 'met',
      status: 'active',
      method: 'testkit',
      labSlug: 'lab',
      labAccountId: 'account-1',
      markerIds: [11, 12],
      providerIds: ['p 1'],
      madeBy: 'all',
      orderKey: 'price',
      orderDirection: 'asc',
    } as const;
    const read = await all(serviceAt(baseUrl).labTests.list(filter, { pageSize: 1 }));
    expect(read).toEqual([{ id: 'test-1' }, { id: 'test-2' }]);
    const first =
      '/v3/lab_test?name=met&status=active&collection_method=testkit&lab_slug=lab&lab_account_id=account-1' +
      '&marker_ids=11&marker_ids=12&provider_ids=p+1&generation_method=all&order_key=price&order_direction=asc&lab_test_limit=1';
    expect(requests.map(({ url }) => url)).toEqual([first, `${first}&next_cursor=c+2`]);
  });

  test('keep unknown fields, lose those of the wrong type, and have numbers that are written as texts', async () => {
    const labTest = {
      id: 'test-1',
      name: 'Invented',
      lab: { id: 1, slug: 'lab' },
      markers: [{ id: 11 }],
      next_year: 1,
    };
    const untidy = { id: 'test-2', price: 'a lot', markers: [null, { id: 'x' }], lab: 7, worst_case_tat_days: 'soon' };
    const texts = { id: 'test-3', price: '79.50', common_tat_days: '2', worst_case_tat_days: '7' };
    const body = { data: [labTest, untidy, texts] };
    expect(await readFrom(body, ({ labTests }) => all(labTests.list()))).toEqual([
      labTest,
      { id: 'test-2', markers: [] },
      { id: 'test-3', price: 79.5, common_tat_days: 2, worst_case_tat_days: 7 },
    ]);
  });
});
