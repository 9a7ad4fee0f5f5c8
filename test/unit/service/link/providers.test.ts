import { expect, test } from 'vitest';
import { answering, serviceAt, serviceWith, type Answer } from '../recording-server.js';

test('providers and connections keep unknown fields, and lose only those of the wrong type', async () => {
  const provider = { name: 'Invented', slug: 'invented_watch', auth_type: 'new', supported_resources: ['sleep'] };
  const broken = { slug: 'invented_watch', status: 'error', error_details: { error_type: 'new', errored_at: null } };
  const { baseUrl, requests } = await answering(({ url }) => {
    if (url?.startsWith('/v2/providers')) return { body: [provider, { name: 'Nameless' }, { ...provider, logo: [] }] };
    return { body: { providers: [{ ...broken, next_year: 1 }, { slug: 'other', error_details: 'none' }, 7] } };
  });
  const { providers } = serviceAt(baseUrl);
  expect(await providers.list({ sourceType: 'watch' })).toEqual([provider, { ...provider, logo: undefined }]);
  expect(await providers.connectionsOf('user-1')).toEqual([{ ...broken, next_year: 1 }, { slug: 'other' }]);
  expect(requests.map(({ url }) => url)).toEqual(['/v2/providers?source_type=watch', '/v2/user/providers/user-1']);
});

test.each<[string, Answer, boolean | string]>([
  ['was there', { body: { success: true } }, true],
  ['was not there', { status: 404, body: { detail: 'The user is not connected to this provider' } }, false],
  ['was never made', { status: 404, body: { detail: 'No such connection' } }, false],
  ['is of an unknown user', { status: 404, body: { detail: 'Not found' } }, false],
  ['went with its user', { status: 404, body: { detail: 'You have scheduled this user for deletion.' } }, false],
  ['is at a path that a proxy does not know', { status: 404, body: '<html>' }, 'NotFound'],
  ['is at a path that a gateway does not know', { status: 404, body: { detail: 'Not Found' } }, 'NotFound'],
  ['has no route', { status: 404, body: { message: 'no Route matched with those values' } }, 'NotFound'],
  ['has a path that is quoted', { status: 404, body: { message: 'Route DELETE:/v2/user/1 not found' } }, 'NotFound'],
  ['has a path without a name', { status: 404, body: { message: 'v2/user/1 could not be found' } }, 'NotFound'],
  ['has no page', { status: 404, body: { message: '404 page not found' } }, 'NotFound'],
  ['is not taken', { status: 422, body: { detail: 'no' } }, 'ServiceRefused'],
])('a connection that %s is deregistered', async (_what, answer, expected) => {
  const { providers, requests } = await serviceWith(answer);
  expect(await providers.deregister('user-1', 'invented_watch').catch(({ name }: Error) => name)).toBe(expected);
  expect(requests).toMatchObject([{ method: 'DELETE', url: '/v2/user/user-1/invented_watch' }]);
});
