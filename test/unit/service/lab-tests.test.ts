import { describe, expect, test } from 'vitest';
import { all } from '../../rig/all.js';
import { answering, readFrom, serviceAt, serviceWith } from './recording-server.js';

describe('markers', () => {
  const markersOf = (markers: unknown[]) => readFrom({ markers }, ({ labTests }) => all(labTests.listMarkers()));

  // proves 224, 244, 322, I3
  test('are narrowed by the slug of their lab, and by other filters of a deployment', async () => {
    const { labTests, requests } = await serviceWith({ body: { markers: [] } });
    await all(labTests.listMarkers({ labSlug: 'invented-lab' }));
    const filter = { labIds: [1, 2], name: 'glu', aLaCarteEnabled: false, labAccountId: 'account-1' };
    await all(labTests.listMarkers(filter, { pageSize: 7 }));
    expect(requests.map(({ url }) => url)).toEqual([
      '/v3/lab_tests/markers?lab_slug=invented-lab&size=50&page=1',
      '/v3/lab_tests/markers?lab_id=1&lab_id=2&name=glu&a_la_carte_enabled=false&lab_account_id=account-1&size=7&page=1',
    ]);
  });

  // proves 224, 243, 325, 326
  test('lack what has no id of their questions, answers and expected results', async () => {
    const questions = [{ id: 5, answers: [{ id: 7 }, { value: 'Yes' }] }, { value: 'Fasting?' }];
    const expected_results = [null, { id: 'x' }, { id: 2 }];
    const read = { aoe: { questions: [{ id: 5, answers: [{ id: 7 }] }] }, expected_results: [{ id: 2 }] };
    expect(await markersOf([{ id: 12, aoe: { questions }, expected_results }])).toEqual([{ id: 12, ...read }]);
  });

  test('have their price as a text, also if it is sent as a number', async () => {
    const markers = ['12.50', 12.5, 12].map((price, id) => ({ id, price }));
    expect((await markersOf(markers)).map(({ price }) => price)).toEqual(['12.50', '12.5', '12']);
  });
});

test('lab tests are read by cursor, with what narrows them', async () => {
  const { baseUrl, requests } = await answering(({ url }) => {
    const isFirst = !url?.includes('next_cursor');
    return { body: { data: [{ id: isFirst ? 'test-1' : 'test-2' }], next_cursor: isFirst ? 'c 2' : null } };
  });
  const filter = {
    ...({ name: 'met', status: 'active', method: 'testkit', labSlug: 'lab', labAccountId: 'account-1' } as const),
    ...({
      markerIds: [11, 12],
      providerIds: ['p 1'],
      madeBy: 'all',
      orderKey: 'price',
      orderDirection: 'asc',
    } as const),
  };
  const read = await all(serviceAt(baseUrl).labTests.list(filter, { pageSize: 1 }));
  expect(read).toEqual([{ id: 'test-1' }, { id: 'test-2' }]);
  const first =
    '/v3/lab_test?name=met&status=active&collection_method=testkit&lab_slug=lab&lab_account_id=account-1' +
    '&marker_ids=11&marker_ids=12&provider_ids=p+1&generation_method=all&order_key=price&order_direction=asc&lab_test_limit=1';
  expect(requests.map(({ url }) => url)).toEqual([first, `${first}&next_cursor=c+2`]);
});
