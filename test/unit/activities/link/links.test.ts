import { createServer } from 'node:http';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { linkActivities } from '../../../../activities/link/links.js';
import type { ConnectionQuery } from '../../../../activities/link/connections.js';
import type { LinkPage } from '../../../../protocol/link/messages.js';
import { freePort } from '../../../../sandbox/temporal/ports.js';
import type { ServiceConfig } from '../../../../service/http/http.js';
import { answering, rejection, serviceAt, type Answer } from '../../service/recording-server.js';

const startedAt = Date.parse('2026-02-03T10:00:00Z');
const at = (seconds: number) => new Date(startedAt + seconds * 1000).toISOString();
const query: ConnectionQuery = { userId: 'user-1', sourceSlug: 'invented_watch', before: [] };
const code = { ...query, provider: 'invented_watch', linkToken: 'token-1', code: '123456' };
const userWith = (...connected_sources: object[]): Answer => ({ body: { user_id: 'user-1', connected_sources } });
const connection = (created_on: string, slug = 'invented_watch') => ({ source: { slug }, created_on });
const success: Answer = { body: { state: 'success', provider: 'invented_watch' } };

/** The activities with a service that answers by method. */
async function activitiesWith(answers: { POST?: Answer; GET?: Answer }) {
  const { baseUrl, requests } = await answering(({ method }) => answers[method as 'GET'] ?? { status: 404, body: '' });
  return { ...activitiesAt(baseUrl), requests };
}

function activitiesAt(baseUrl: string, config: Partial<ServiceConfig> = {}) {
  const activities = linkActivities({ service: serviceAt(baseUrl, config), target: 'off' });
  const environment = new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: startedAt });
  return {
    createLinkToken: (link: Parameters<typeof activities.createLinkToken>[0]) => activities.createLinkToken(link),
    findConnection: (more: Partial<ConnectionQuery> = {}) =>
      environment.run(() => activities.findConnection({ ...query, ...more })),
    completeMfa: () => environment.run(() => activities.completeMfa(code)),
  };
}

test('a token is made for the user, the provider and the page that were asked for', async () => {
  const { createLinkToken, requests } = await activitiesWith({
    POST: { body: { link_token: 'token-1', link_web_url: 'https://link.example.com/token-1' } },
    GET: userWith(connection(at(0))),
  });
  const page: LinkPage = {
    redirectUrl: 'app:/back',
    filterOnProviders: ['oura'],
    onError: 'redirect',
    onClose: 'redirect',
  };
  expect(await createLinkToken({ userId: 'user-1', provider: 'oura', ...page })).toEqual({
    ...{ linkToken: 'token-1', linkWebUrl: 'https://link.example.com/token-1', notifies: false },
  });
  const chosen = {
    redirect_url: 'app:/back',
    filter_on_providers: ['oura'],
    on_error: 'redirect',
    on_close: 'redirect',
  };
  expect(requests.map(({ body }) => body)).toEqual([{ user_id: 'user-1', provider: 'oura', ...chosen }]);
  const { connections } = await createLinkToken({ userId: 'user-1', readsConnections: true });
  expect(connections).toEqual([{ slug: 'invented_watch', createdAt: at(0) }]);
  expect(requests.at(-1)?.body).toEqual({ user_id: 'user-1' });
});

test('a refusal of the read before the first token is none of the link', async () => {
  const { createLinkToken, requests } = await activitiesWith({ GET: { status: 405, body: '<html>' } });
  await expect(createLinkToken({ userId: 'user-1', readsConnections: true })).rejects.toMatchObject({
    type: 'AnswerUnreadable',
  });
  expect(requests.map(({ method }) => method)).not.toContain('POST');
});

describe('a code', () => {
  test('that succeeds is answered with the connection, if the user can be read', async () => {
    const shown = await activitiesWith({ POST: success, GET: userWith(connection(at(1))) });
    const found = { found: 'new', slug: 'invented_watch', createdAt: at(1) };
    expect(await shown.completeMfa()).toEqual({ report: { state: 'success' }, connection: found });
    const silent = await activitiesWith({ POST: success, GET: { status: 503, body: '' } });
    expect(await silent.completeMfa()).toEqual({ report: { state: 'success' } });
  });

  test.each([401, 403])('that is answered with %i has a wrong link token: it is not the team’s key', async (status) => {
    const { completeMfa } = await activitiesWith({ POST: { status, body: { detail: 'Invalid token' } } });
    expect(await completeMfa()).toEqual({ report: { state: 'error', errorType: 'invalid_token' } });
  });

  test('that is wrong is an answer', async () => {
    const body = { state: 'error', error_type: 'incorrect_mfa_code', error: 'invented', provider: 'invented_watch' };
    const { completeMfa } = await activitiesWith({ POST: { body } });
    expect(await completeMfa()).toEqual({ report: { state: 'error', errorType: 'incorrect_mfa_code' } });
  });

  test.each([
    ['AnswerUnreadable', { body: 'nothing of use' }],
    ['ServiceUnavailable', { status: 408, body: '' }],
    ['AnswerUnreadable', { status: 302, body: '' }],
    ['ServiceUnavailable', { status: 500, body: 'Internal Server Error' }],
    ['TooManyRequests', { status: 429, headers: { 'retry-after': '1' }, body: '' }],
    ['LinkRefused', { status: 422, body: { detail: [{ loc: ['body', 'mfa_code'], msg: 'invalid' }] } }],
  ] satisfies [string, Answer][])('fails as %s after %j, and is sent once', async (type, answer) => {
    const { completeMfa, requests } = await activitiesWith({ POST: answer });
    const failure = await rejection(completeMfa());
    expect(failure).toMatchObject({ type });
    expect(JSON.stringify([failure, (failure as Error).message])).not.toContain('123456');
    expect(requests).toHaveLength(1);
  });

  test('is sent again only if the connection was refused', async () => {
    const server = createServer((_request, response) => response.end('{"state":"pending_provider_mfa"}'));
    onTestFinished(() => void server.close());
    const port = await freePort();
    const results: (string | number)[] = [];
    const observe = ({ result }: { result: string | number }) => {
      if (results.push(result) === 1) server.listen(port, '127.0.0.1');
    };
    const report = { state: 'pending_provider_mfa' };
    expect(await activitiesAt(`http://127.0.0.1:${port}`, { observe }).completeMfa()).toEqual({ report });
    expect(results).toEqual(['ServiceUnreachable', 200]);
  });
});

describe('the user’s connections', () => {
  const known = (seconds: number) => ({ slug: 'invented_watch', createdAt: at(seconds) });
  const older = { found: 'older' };

  test.each<[string, object[], Partial<ConnectionQuery>, object]>([
    ['none', [], {}, { found: 'none' }],
    ['one of another provider', [connection(at(1), 'invented_ring')], {}, { found: 'none' }],
    ['one of the link, whatever its date', [connection(at(-18_000))], {}, { found: 'new', createdAt: at(-18_000) }],
    ['one from before', [connection(at(5))], { before: [known(5)] }, { found: 'older', createdAt: at(5) }],
    ['one that was renewed', [connection(at(9))], { before: [known(5)] }, { found: 'new', createdAt: at(9) }],
    ['the new one of two', [connection(at(5)), connection(at(1))], { before: [known(5)] }, { createdAt: at(1) }],
    ['the latest new one', [connection(at(5)), connection(at(1))], {}, { found: 'new', createdAt: at(5) }],
    ['one without a zone', [connection('2026-02-03T10:00:01')], {}, { found: 'new', createdAt: at(1) }],
    ['one without a time', [{ source: { slug: 'Invented-Watch' } }], {}, { found: 'new' }],
    ['the same from before', [{ source: { slug: 'Own' } }], { sourceSlug: 'own', before: [{ slug: 'Own' }] }, older],
    ['one of a link without a token', [connection(at(0))], { before: undefined as never }, older],
  ])('%s', async (_what, connected, more, expected) => {
    const { findConnection } = await activitiesWith({ GET: userWith(...connected) });
    expect(await findConnection(more)).toMatchObject(expected);
  });

  test('are those of the offered providers, and not those from before, if the user chooses', async () => {
    const [first, other, own] = [at(0), at(1), at(2)].map((time, n) => connection(time, ['a', 'b', 'c'][n]));
    const { findConnection } = await activitiesWith({ GET: userWith(own ?? {}, first ?? {}, other ?? {}) });
    const found = (more: Partial<ConnectionQuery>) => findConnection({ sourceSlug: undefined as never, ...more });
    const before = [{ slug: 'c', createdAt: at(2) }];
    expect(await found({ oneOf: ['a', 'b'] })).toMatchObject({ slug: 'b' });
    expect(await found({ before })).toMatchObject({ slug: 'b' });
    expect(await findConnection()).toMatchObject({ found: 'none' });
  });

  test.each<[string, Answer, object]>([
    ['a user whom the service does not know', { status: 404, body: { detail: 'Not found' } }, { found: 'none' }],
    ['a proxy’s 404', { status: 404, body: '<html>404 Not Found</html>' }, { type: 'AnswerUnreadable' }],
    ['an outage', { status: 503, body: '' }, { type: 'ServiceUnavailable' }],
  ])('of %s', async (_what, answer, expected) => {
    const { findConnection } = await activitiesWith({ GET: answer });
    expect(await findConnection().catch((error: unknown) => error)).toMatchObject(expected);
  });
});

test('a connection’s date in the future says nothing, also not that it is the latest; a local time without its zone does', async () => {
  const ahead = '2062-01-01T00:00:00Z';
  const alone = await activitiesWith({ GET: userWith(connection(ahead)) });
  expect(await alone.findConnection()).not.toHaveProperty('createdAt');
  const both = await activitiesWith({ GET: userWith(connection(ahead), connection(at(1))) });
  expect(await both.findConnection()).toMatchObject({ found: 'new', createdAt: at(1) });
  const local = at(12 * 3_600);
  const behind = await activitiesWith({ GET: userWith(connection(local)) });
  expect(await behind.findConnection()).toMatchObject({ found: 'new', createdAt: local });
});
