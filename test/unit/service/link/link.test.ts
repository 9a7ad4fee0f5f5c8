import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { AnswerLost, ServiceRefused } from '../../../../service/errors.js';
import { linkErrorTypes, type Links } from '../../../../service/link/link.js';
import { isSameSource, sourceSlugOf } from '../../../../protocol/link/provider-source.js';
import { rejection, serviceAt, serviceWith, serving } from '../recording-server.js';
import { eventually } from '../../../rig/eventually.js';

const token = 'lt_invented_token';
const code = '012345';
const password = 'in"vented pass';
const username = 'Testperson';
const credentials = { username, password, region: 'eu' };
const provider = 'invented_watch';
const passwordPath = '/v2/link/provider/password/invented_watch';

/** Every step that carries a link token, with what it sends. */
const steps: [name: string, call: (links: Links) => Promise<unknown>, path: string, body: Record<string, string>][] = [
  ['the password step', (links) => links.submitPassword(provider, token, credentials), passwordPath, credentials],
  ['the code', (links) => links.completeMfa(provider, token, code), `${passwordPath}/complete_mfa`, { mfa_code: code }],
];

function secretsOf(body: Record<string, string>): string[] {
  return [token, ...Object.entries(body).flatMap(([name, value]) => (name === 'region' ? [] : [value]))];
}

describe.each(steps)('%s', (_name, call, path, body) => {
  // proves 182-185, 245, I12
  test('carries the link token instead of the API key', async () => {
    const config = { brand: 'Acme', managementKey: 'mk_invented' };
    const { links, requests } = await serviceWith({ body: { state: 'success' } }, config);
    await call(links);
    expect(requests).toMatchObject([{ method: 'POST', url: path, body }]);
    const keys = Object.entries(requests[0]?.headers ?? {}).filter(([name]) => /key|token/.test(name));
    expect(keys).toEqual([['x-acme-link-token', token]]);
  });

  // proves 187, I7
  test.each([
    ['a sentence', { detail: JSON.stringify(body) + token }],
    ['fields', { detail: [{ type: 'value_error', loc: ['body', code], msg: JSON.stringify(body), input: body }] }],
    ['an object', { error: 'bad', message: secretsOf(body).join().toUpperCase() }],
    ['plain text', `${JSON.stringify(body)} with ${token} was refused`],
  ])('refused in %s rejects without a secret', async (_form, answer) => {
    const { links } = await serviceWith({ status: 422, body: answer });
    const error = await rejection(call(links));
    expect(error).toBeInstanceOf(ServiceRefused);
    const shown = inspect(error, { depth: null }).toLowerCase();
    for (const secret of secretsOf(body)) expect(shown).not.toContain(secret.toLowerCase());
  });

  test('shows no secret in an error of the link either', async () => {
    const text = `${token} cannot do ${JSON.stringify(body)}`;
    const { links } = await serviceWith({ body: { state: 'error', error_type: 'invalid_token', error: text } });
    const shown = JSON.stringify(await call(links));
    expect(shown).toContain('cannot do');
    for (const secret of secretsOf(body)) expect(shown).not.toContain(secret);
  });

  test('keeps no piece of a secret, or of a person, when it cuts a long sentence', async () => {
    const text = `${'-'.repeat(270)} other@example.com +1 202 555 0123 ${token}${'x'.repeat(2_000)}`;
    const { links } = await serviceWith({ body: { state: 'error', error: text } });
    const shown = JSON.stringify(await call(links));
    expect(shown).toContain('<e-mail>');
    expect(shown).not.toMatch(/lt_|other@|555/);
  });
});

describe('the result of a step', () => {
  async function resultOf(body: unknown, status = 200) {
    const { links } = await serviceWith({ status, body });
    return links.completeMfa(provider, token, code);
  }

  // Written out, so a changed name in the product is noticed.
  const errorTypes = [
    ...['invalid_token', 'token_expired', 'token_not_validated', 'token_consumed', 'provider_credential_error'],
    ...['provider_password_expired', 'provider_api_error', 'unsupported_region', 'duplicate_connection'],
    ...['required_scopes_not_granted', 'incorrect_mfa_code', 'user_cancelled'],
  ];

  // proves 38, 41-54, 169, 186, 188, 309, 325, I7
  test('names the error types of the specification, and keeps unknown ones and unknown states', async () => {
    expect(linkErrorTypes).toEqual(errorTypes);
    for (const error_type of [...errorTypes, 'error_of_next_year']) {
      const sent = { state: 'error', error_type, error: 'words' };
      expect(await resultOf(sent)).toEqual(sent);
    }
    for (const state of ['success', 'pending_provider_mfa', 'state_of_next_year'])
      expect(await resultOf({ state })).toEqual({ state });
  });

  test.each<[number, unknown, string]>([
    [400, { detail: 'No such provider' }, 'ServiceRefused'],
    [401, { detail: 'Invalid link token' }, 'Unauthorized'],
    [400, { detail: { error_type: 'INVALID_REQUEST', error_message: 'words' } }, 'ServiceRefused'],
    [422, { detail: [{ loc: ['body', 'mfa_code'], msg: 'Field required' }] }, 'ServiceRefused'],
    [400, { state: 'success' }, 'ServiceRefused'],
  ])('is not in a refusal with %i and %j', async (status, body, name) => {
    expect(await rejection(resultOf(body, status))).toMatchObject({ name, status });
  });

  test.each<[number, object, string?]>([
    [400, { state: 'error', error_type: 'incorrect_mfa_code' }, 'incorrect_mfa_code'],
    [401, { detail: { error_type: 'incorrect_mfa_code' } }, 'incorrect_mfa_code'],
    [409, { error_type: 'duplicate_connection', state: null }, 'duplicate_connection'],
    [422, { detail: { state: 'error', error: 'words' } }],
    [400, { detail: 'incorrect_mfa_code' }, 'incorrect_mfa_code'],
    [422, { detail: [{ loc: ['body'] }, { type: 'incorrect_mfa_code', msg: 'words' }] }, 'incorrect_mfa_code'],
    [422, { detail: [{ type: 'value_error', msg: 'token_expired' }] }, 'token_expired'],
  ])('is a failed step with %i and %j', async (status, body, errorType) => {
    const result = await resultOf(body, status);
    expect([result.state, result.error_type]).toEqual(['error', errorType]);
  });
});

describe('a step of the login', () => {
  test.each([{ headersTimeoutMs: 2_000 }, { timeoutMs: 2_000 }])(
    'waits for the provider longer than other calls wait for their answer: %j',
    async (limit) => {
      const answers: (() => void)[] = [];
      const { baseUrl } = await serving((_request, response) => {
        answers.push(() => response.end('{"state":"success"}'));
      });
      const { links } = serviceAt(baseUrl, limit);
      const sent = [links.submitPassword(provider, token, credentials), links.completeMfa(provider, token, code)];
      await eventually(() => expect(answers).toHaveLength(2));
      expect(await rejection(links.createToken({ user_id: 'user-1' }))).toBeInstanceOf(AnswerLost);
      for (const answer of answers) answer();
      expect(await Promise.all(sent)).toMatchObject([{ state: 'success' }, { state: 'success' }]);
    },
  );

  test('ends by a timeout of its own', async () => {
    const { baseUrl } = await serving(() => undefined);
    const call = serviceAt(baseUrl).links.completeMfa(provider, token, code, { timeoutMs: 1_000 });
    expect(await rejection(call)).toBeInstanceOf(AnswerLost);
  });

  test('is not made with a token that no header can carry, and the token is not quoted', async () => {
    const call = serviceAt('http://127.0.0.1:1').links.completeMfa('invented_watch', 'lt\ninvented', code);
    const error = await rejection(call);
    expect(error).toMatchObject({ name: 'RequestInvalid', fields: [{ field: 'x-service-link-token' }] });
    expect(inspect(error)).not.toContain('invented');
  });
});

test('a provider and a source are compared without regard to case, hyphens and underscores', () => {
  expect(sourceSlugOf(' Invented-Watch ')).toBe('invented_watch');
  expect(isSameSource('invented_watch', 'Invented-Watch')).toBe(true);
  expect(isSameSource('invented_watch', 'invented')).toBe(false);
});
