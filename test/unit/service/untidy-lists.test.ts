import { describe, expect, test } from 'vitest';
import { AnswerUnreadable } from '../../../service/errors.js';
import type { LabService } from '../../../service/lab-service.js';
import { appointmentSchema } from '../../../service/appointment/appointments.js';
import { readEvent } from '../../../service/webhooks/events.js';
import { all } from '../../rig/all.js';
import { answering, readFrom, rejection, serviceAt, serviceWith } from './recording-server.js';

const region = { orgId: 'org-1', environment: 'sandbox', region: 'us' };
const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };

async function ids(list: List): Promise<unknown[]> {
  const read = await all((await list) as AsyncIterable<unknown>);
  return read.map((each) => (each as { id?: unknown; user_id?: unknown }).user_id ?? (each as { id: unknown }).id);
}

type List = AsyncIterable<unknown> | Promise<unknown[]>;

const lists: [name: string, list: (service: LabService) => List, key?: string][] = [
  ['users', ({ users }) => users.list(), 'users'],
  ['markers', ({ labTests }) => labTests.listMarkers(), 'markers'],
  ['lab tests', ({ labTests }) => labTests.list(), 'data'],
  ['lab accounts', ({ labTests }) => labTests.listLabAccounts(), 'data'],
  ['cancellation reasons', ({ appointments }) => appointments.cancellationReasons()],
  ["an organisation's lab accounts", ({ management }) => management.labAccounts.list(region), 'data'],
  ['teams', ({ management }) => management.teams.list('org-1'), 'teams'],
  ['webhook endpoints', ({ management }) => management.webhooks.list(place), 'data'],
  ['management keys', ({ management }) => management.managementKeys.list('org-1'), 'data'],
  ['team API keys', ({ management }) => management.teamApiKeys.list(region), 'api_keys'],
];

describe.each(lists)('the list of %s', (_name, list, key) => {
  async function answered(entries: unknown): Promise<unknown[]> {
    const { baseUrl } = await answering(({ url }) => {
      const page = /offset=[1-9]/.test(url ?? '') ? [] : entries;
      return { body: key === undefined ? page : { [key]: page } };
    });
    return list(serviceAt(baseUrl, { managementKey: 'mk_invented' })) as Promise<unknown[]>;
  }

  test('has the others if one entry is untidy', async () => {
    const untidy = [null, 'text', { id: { a: 1 }, user_id: '' }, { name: 'Invented' }];
    const entries = [{ id: 1, user_id: 1 }, ...untidy, { id: 2, user_id: '2' }];
    expect((await ids(answered(entries))).map(String)).toEqual(['1', '2']);
  });

  test('is not mistaken for an empty one if no entry can be read, or if it is not a list', async () => {
    for (const entries of [[{ name: 'Invented' }], 'none']) {
      expect(await rejection(ids(answered(entries)))).toBeInstanceOf(AnswerUnreadable);
    }
  });
});

describe('an answer that may lack its list', () => {
  const accounts = (body: object) => readFrom(body, ({ labTests }) => labTests.listLabAccounts());
  const sites = (body: object) => readFrom(body, ({ centres }) => centres.forOrder('order-1'));

  test('has no accounts or sites then', async () => {
    expect(await accounts({})).toEqual([]);
    expect(await accounts({ data: null })).toEqual([]);
    expect(await sites({ lab_id: 7, slug: 'lab' })).toEqual({ labId: 7, lab: 'lab', centres: [] });
    expect(await sites({ patient_service_centers: null })).toEqual({ centres: [] });
  });

  test.each([
    [accounts, { detail: 'Not ready' }],
    [accounts, { lab_accounts: [] }],
    [sites, { detail: 'Not ready' }],
    [sites, {}],
  ])('is not mistaken for one without entries if it is something else: %#', async (read, body) => {
    expect(await rejection(read(body))).toBeInstanceOf(AnswerUnreadable);
  });
});

describe('pages with an untidy entry', () => {
  // proves 322
  test('untidy pages of markers are read to their end', async () => {
    const { baseUrl } = await answering(({ url }) => {
      const page = Number(new URL(url ?? '', 'http://x').searchParams.get('page'));
      const markers = [{ id: page * 10 }, page === 1 ? null : { id: page * 10 + 1 }].slice(0, 4 - page);
      return { body: { markers, size: 2 } };
    });
    expect(await ids(serviceAt(baseUrl).labTests.listMarkers({}, { pageSize: 2 }))).toEqual([10, 20, 21, 30]);
  });

  // proves 212, 320
  test('untidy pages of users repeat and skip nobody', async () => {
    const everybody = [{ user_id: 'a' }, { user_id: {} }, { user_id: 'b' }, { user_id: 'c' }];
    const { baseUrl, requests } = await answering(({ url }) => {
      const offset = Number(new URL(url ?? '', 'http://x').searchParams.get('offset'));
      return { body: { users: everybody.slice(offset, offset + 2), total: everybody.length } };
    });
    expect(await ids(serviceAt(baseUrl).users.list({ pageSize: 2 }))).toEqual(['a', 'b', 'c']);
    expect(requests).toHaveLength(2);
  });

  test('untidy pages of users are read once if the offset is ignored', async () => {
    const ignoring = await serviceWith({ body: { users: [{ user_id: 'a' }, { user_id: 'b' }] } });
    expect(await ids(ignoring.users.list({ pageSize: 2 }))).toEqual(['a', 'b']);
  });

  // proves 212
  test.each([{}, { total: null }, { total: 'many' }, { total: true }])(
    'pages of users end with an empty page if %j is their length',
    async (counts) => {
      const pages = [[{ user_id: 'a' }, { user_id: 'b' }], [{ user_id: 'c' }], []];
      const { baseUrl, requests } = await answering((_request, index) => ({
        body: { users: pages[index], ...counts },
      }));
      expect(await ids(serviceAt(baseUrl).users.list({ pageSize: 2 }))).toEqual(['a', 'b', 'c']);
      expect(requests).toHaveLength(3);
    },
  );

  test.each([
    [undefined, ['a', 'b']],
    [4, 'NotFound'],
  ])('pages of users, %s in all, may end with a 404 if nothing counts them', async (total, read) => {
    const body = { users: [{ user_id: 'a' }, { user_id: 'b' }], total };
    const missing = { status: 404, body: { detail: 'Not found' } };
    const { baseUrl } = await answering((_request, index) => (index === 0 ? { body } : missing));
    const list = ids(serviceAt(baseUrl).users.list({ pageSize: 2 }));
    expect(await list.catch(({ name }: Error) => name)).toEqual(read);
  });
});

test('an appointment may have a numeric id, as an order may, and its event reaches its order', () => {
  expect(appointmentSchema.parse({ id: 7 }).id).toBe('7');
  const event = { event_type: 'labtest.appointment.updated', data: { id: 7, order_id: 8 } };
  expect(readEvent(event)).toMatchObject({ kind: 'appointment', orderId: '8', appointment: { id: '7' } });
  expect(appointmentSchema.safeParse({ id: '' }).success).toBe(false);
});
