import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startLabService, type LabService as RunningService } from '../../sandbox/lab-service/server.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { readEvent } from '../../service/events.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import { linkErrorTypes, type LinkResult } from '../../service/link.js';
import {
  sandboxApiKey,
  webhookSecret,
  callService,
  startReceiver,
  startSandbox,
  type Received,
  type Sandbox,
} from './sandbox-rig.js';

const watch = 'invented_watch';
const password = 'invented-password';
const logo = 'https://logos.example.com/invented_watch.png';
const right = '123456';

interface Linking extends Sandbox {
  readonly received: Received[];
  readonly userId: string;
  readonly token: string;
  /** The password step with that user name. */
  readonly signIn: (username: string, token?: string) => Promise<LinkResult>;
  readonly submit: (code: string, token?: string) => Promise<LinkResult>;
  /** Another token of the same user. */
  readonly newToken: () => Promise<string>;
  readonly slugs: () => Promise<(string | null | undefined)[]>;
}

/** The product's own client, closed with the test. */
function clientOf({ url: baseUrl }: RunningService, brand = 'service'): LabService {
  const client = createLabService({ baseUrl, apiKey: sandboxApiKey, brand });
  onTestFinished(() => client.close());
  return client;
}

/** A user with an open link token, and the product's own client, over real HTTP. */
async function startLinking(settings: Partial<Settings> = {}): Promise<Linking> {
  const { url: webhookUrl, received } = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl, webhookSecrets: [webhookSecret], ...settings });
  const { links, users } = clientOf(sandbox.service);
  const userId = await sandbox.newUser();
  const newToken = async (): Promise<string> => (await links.createToken({ user_id: userId })).link_token;
  const token = await newToken();
  return {
    ...sandbox,
    received,
    userId,
    token,
    newToken,
    signIn: (username, other = token) => links.submitPassword(watch, other, { username, password }),
    submit: (code, other = token) => links.completeMfa(watch, other, code),
    slugs: async () => {
      const { connected_sources: sources } = await users.get(userId);
      return (sources ?? []).map(({ source }) => source?.slug);
    },
  };
}

describe('user names', () => {
  // proves 6, 20, 257
  test('ok connects at once: the user shows the source, and a webhook reports it', async () => {
    const { control, received, signIn, slugs, userId } = await startLinking();
    const result = await signIn('ok-person');
    expect(result.provider_id).toMatch(/^pid_/);
    expect(result).toMatchObject({
      state: 'success',
      connected: true,
      provider: watch,
      error_type: null,
    });
    expect(await slugs()).toEqual([watch]);
    await control.settleWebhooks();
    expect(received.map(({ json }) => readEvent(json))).toMatchObject([
      { kind: 'connection', eventType: 'provider.connection.created', userId, sourceSlug: watch },
    ]);
    expect(await control.deliveries()).toMatchObject([{ user_id: userId, order_id: null, state: 'delivered' }]);
  });

  // proves 6, 56, 143, 169
  test.each([
    ['mfa-sms', 'sms', '***-***-**23'],
    ['MFA-EMAIL@example.com', 'email', 't***@example.com'],
  ])('%s has a code sent by %s, with a hint', async (username, method, hint) => {
    const { control, signIn, slugs } = await startLinking();
    const expected = { state: 'pending_provider_mfa', connected: false, provider_mfa: { method, hint } };
    expect(await signIn(username)).toMatchObject(expected);
    expect(await slugs()).toEqual([]);
    expect(await control.linkTokens()).toMatchObject([{ state: 'open', awaitsCodeOf: watch }]);
  });

  // proves 309
  test.each([...linkErrorTypes, 'error_of_next_year'])('error-%s answers that error type', async (error_type) => {
    const { signIn, slugs } = await startLinking();
    expect(await signIn(`error-${error_type}`)).toMatchObject({ state: 'error', error_type, connected: false });
    expect(await slugs()).toEqual([]);
  });

  test('state-… answers an unknown state, detail… is refused, and all others have no account', async () => {
    const { signIn } = await startLinking();
    expect(await signIn('state-thinking')).toMatchObject({ state: 'thinking' });
    await expect(signIn('detail')).rejects.toMatchObject({ name: 'ServiceRefused', status: 422 });
    expect(await signIn('somebody')).toMatchObject({
      error_type: 'provider_credential_error',
      error: 'Invalid username or password',
    });
  });
});

describe('codes', () => {
  test('mfa-again requires a second one after the first, sent elsewhere', async () => {
    const { signIn, submit } = await startLinking();
    expect(await signIn('mfa-again')).toMatchObject({ provider_mfa: { method: 'sms' } });
    const again = { state: 'pending_provider_mfa', provider_mfa: { method: 'email', hint: 't***@example.com' } };
    expect(await submit(right)).toMatchObject(again);
    expect(await submit(right)).toMatchObject({ error_type: 'incorrect_mfa_code' });
    expect(await submit('654321')).toMatchObject({ state: 'success' });
  });

  test.each(linkErrorTypes.map((errorType, index) => [String(900_001 + index), errorType]))(
    '%s answers %s, and the right one is still accepted',
    async (code, error_type) => {
      const { signIn, submit } = await startLinking();
      await signIn('mfa-sms');
      expect(await submit(code)).toMatchObject({ state: 'error', error_type });
      expect(await submit(right)).toMatchObject({ state: 'success' });
    },
  );

  test('play unknown answers, another request for a code, refusals and breakdowns', async () => {
    const { signIn, submit } = await startLinking();
    await signIn('mfa-sms');
    expect(await submit('900098')).toMatchObject({ state: 'state_of_next_year' });
    expect(await submit('900099')).toMatchObject({ state: 'error', error_type: 'error_of_next_year' });
    await expect(submit('900422')).rejects.toMatchObject({ status: 422, fields: [{ field: 'mfa_code' }] });
    await expect(submit('900422')).rejects.not.toThrow('900422');
    await expect(submit('900500')).rejects.toMatchObject({ name: 'ServiceUnavailable', status: 500 });
    expect(await submit('900100')).toMatchObject({ state: 'pending_provider_mfa', provider_mfa: { method: 'email' } });
    expect(await submit('654321')).toMatchObject({ state: 'success' });
  });

  test('codes that nobody asked for are token_not_validated', async () => {
    const { submit } = await startLinking();
    expect(await submit(right)).toMatchObject({ state: 'error', error_type: 'token_not_validated' });
  });
});

describe('a link token', () => {
  // proves 43
  test('lives for ten minutes of the clock', async () => {
    const { control, newToken, signIn, submit } = await startLinking();
    await signIn('mfa-sms');
    await control.advanceClock('9m');
    expect(await submit('111111')).toMatchObject({ error_type: 'incorrect_mfa_code' });
    await control.advanceClock('61s');
    expect(await submit(right)).toMatchObject({ state: 'error', error_type: 'token_expired' });
    expect(await signIn('ok')).toMatchObject({ error_type: 'token_expired' });
    expect(await signIn('ok', await newToken())).toMatchObject({ state: 'success' });
    expect((await control.linkTokens()).map(({ state }) => state)).toEqual(['expired', 'consumed']);
  });

  test('lives for as long as a setting says, however short a day is: a person signs in at their own pace', async () => {
    const { control, signIn } = await startLinking({ linkTokenMinutes: 60, daySeconds: 0.2 });
    await control.changeSettings({ daySeconds: 0.1 });
    await control.advanceClock('59m');
    expect(await signIn('mfa-sms')).toMatchObject({ state: 'pending_provider_mfa' });
    await control.advanceClock('61s');
    expect(await signIn('mfa-sms')).toMatchObject({ error_type: 'token_expired' });
  });

  // proves 45
  test('is consumed by a success', async () => {
    const { signIn } = await startLinking();
    await signIn('ok');
    expect(await signIn('ok')).toMatchObject({ state: 'error', error_type: 'token_consumed' });
  });

  test('a link token that is unknown, missing or for another provider is invalid, with 200', async () => {
    const { call, service, signIn, userId } = await startLinking();
    expect(await signIn('ok', 'lt_unknown')).toMatchObject({ state: 'error', error_type: 'invalid_token' });
    const path = `/v2/link/provider/password/${watch}`;
    const missing = await callService(service.url, 'POST', path, { username: 'ok', password }, {});
    expect(missing).toMatchObject({ status: 200, body: { state: 'error', error_type: 'invalid_token' } });
    const bound = await call('POST', '/v2/link/token', { user_id: userId, provider: 'invented_ring' });
    const { link_token: other } = JSON.parse(bound.text) as { link_token: string };
    expect(await signIn('ok', other)).toMatchObject({ error_type: 'invalid_token' });
  });

  test('needs the API key, a user and a known provider to be made', async () => {
    const { call, service, userId } = await startLinking();
    const path = '/v2/link/token';
    expect((await callService(service.url, 'POST', path, { user_id: userId }, {})).status).toBe(401);
    expect((await call('POST', path, { user_id: '00000000-0000-4000-8000-000000000000' })).status).toBe(404);
    for (const body of [{}, { user_id: 'x' }, { user_id: userId, provider: 'x' }, { user_id: userId, on_close: 'x' }]) {
      expect((await call('POST', path, body)).status).toBe(422);
    }
  });

  test('opens the hosted page while it is valid, and no log shows it', async () => {
    const { call, control, service, userId } = await startLinking();
    const { text } = await call('POST', '/v2/link/token', { user_id: userId, redirect_url: 'invented-app://linked' });
    const { link_token: token, link_web_url: url } = JSON.parse(text) as Record<'link_token' | 'link_web_url', string>;
    expect(new URL(url).origin).toBe(service.url);
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(`${service.url}/link?token=lt_unknown`)).status).toBe(404);
    expect((await control.requests({ path: '/link' })).map(({ query }) => query)).toEqual(['?token=***', '?token=***']);
    expect(JSON.stringify(await control.requests())).not.toContain(token);
  });

  test('goes in the header of the brand, and the redirect comes back with the result', async () => {
    const service = await startLabService({ port: 0, apiKey: sandboxApiKey, brand: 'Acme' });
    const lab = clientOf(service, 'acme');
    const { user } = await lab.users.create({ client_user_id: 'invented-1' });
    const token = await lab.links.createToken({ user_id: user.user_id, redirect_url: 'invented-app://linked' });
    const credentials = { username: 'ok', password };
    expect(await lab.links.submitPassword(watch, token.link_token, credentials)).toMatchObject({
      state: 'success',
      redirect_url: 'invented-app://linked',
    });
    await service.close();
  });
});

test('an unknown provider is refused with 422 on every step', async () => {
  const { call } = await startLinking();
  for (const step of ['password/never_heard_of', 'password/never_heard_of/complete_mfa']) {
    const answer = await call('POST', `/v2/link/provider/${step}`, {});
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ loc: ['path', 'provider'], type: 'enum' });
  }
});

describe('a second link with a connected provider', () => {
  test('replaces the first', async () => {
    const { call, control, signIn, slugs, userId } = await startLinking();
    await control.connect(userId, { provider: watch, created_on: '2024-01-01T00:00:00Z', webhook: false });
    expect(await signIn('ok')).toMatchObject({ state: 'success' });
    expect(await slugs()).toEqual([watch]);
    expect((await call('GET', `/v2/user/${userId}`)).text).not.toContain('2024-01-01');
  });

  test('is a duplicate_connection if a setting says so, and the token stays', async () => {
    const { control, signIn, userId } = await startLinking({ duplicateConnection: 'refuse' });
    await control.connect(userId, { provider: watch });
    expect(await signIn('ok')).toMatchObject({ state: 'error', error_type: 'duplicate_connection' });
    expect(await control.disconnect(userId, watch)).toBe(true);
    expect(await control.disconnect(userId, watch)).toBe(false);
    expect(await signIn('ok')).toMatchObject({ state: 'success' });
  });
});

describe('webhooks about connections', () => {
  test('can carry the slug under provider, and come without the envelope’s ids', async () => {
    const { control, received, signIn, userId } = await startLinking({
      connectionSlugIn: 'provider',
      webhookEnvelope: 'without_ids',
    });
    await signIn('ok');
    await control.settleWebhooks();
    expect(received.map(({ json }) => json)).toEqual([
      {
        event_type: 'provider.connection.created',
        data: { user_id: userId, provider: { name: 'Invented Watch', slug: watch, logo } },
      },
    ]);
  });

  test('keep their envelope if orders come without', async () => {
    const { control, received, signIn, userId } = await startLinking({ webhookEnvelope: 'bare_order' });
    await signIn('ok');
    await control.settleWebhooks();
    expect(received[0]?.json).toMatchObject({ event_type: 'provider.connection.created', user_id: userId });
  });

  test('can be switched off, and lost like others', async () => {
    const { control, newToken, received, signIn } = await startLinking({ connectionWebhooks: false });
    await signIn('ok');
    await control.changeSettings({ connectionWebhooks: true });
    await control.addWebhookFault({ event_type: 'provider.connection.created', action: { kind: 'lose' } });
    await signIn('ok', await newToken());
    await control.settleWebhooks();
    expect(received).toEqual([]);
    expect((await control.deliveries()).map(({ state }) => state)).toEqual(['lost']);
  });

  test('can be sent manually: for a connection made manually, a stale one, an error', async () => {
    const { control, received, userId } = await startLinking();
    const made = await control.connect(userId, { provider: watch, created_on: '2024-01-01T00:00:00+01:00' });
    expect(made).toMatchObject({ created_on: '2023-12-31T23:00:00.000000+00:00', source: { slug: watch } });
    await control.sendConnectionWebhook(userId, { provider: watch });
    await control.sendConnectionWebhook(userId, { provider: watch, event_type: 'provider.connection.error' });
    await control.settleWebhooks();
    expect(received.map(({ json }) => json.event_type).toSorted()).toEqual([
      'provider.connection.created',
      'provider.connection.created',
      'provider.connection.error',
    ]);
  });
});

describe('trouble on the way', () => {
  test('a stand-in that is out of reach refuses connections: nothing was sent, and it keeps its state', async () => {
    const { control, signIn, slugs, submit } = await startLinking();
    await signIn('mfa-sms');
    await control.goOffline(5_000);
    await expect(submit(right)).rejects.toMatchObject({ name: 'ServiceUnreachable' });
    await vi.waitFor(() => control.health(), { timeout: 60_000 });
    expect(await slugs()).toEqual([]);
    expect(await submit(right)).toMatchObject({ state: 'success' });
  });

  test('a stand-in that is out of reach can end', async () => {
    const { control, service } = await startLinking();
    await control.goOffline(60_000);
    await service.close();
    await expect(control.health()).rejects.toThrow('fetch failed');
  });

  test('no log shows a user name, a password, a code or a token', async () => {
    const { control, signIn, submit, token } = await startLinking();
    await signIn('mfa-sms-testperson');
    await submit(right);
    const log = JSON.stringify(await control.requests());
    expect(log).toContain('complete_mfa');
    for (const secret of ['testperson', password, right, token]) expect(log).not.toContain(secret);
  });
});

test('a reset forgets tokens and connections', async () => {
  const { control, signIn } = await startLinking();
  await control.reset();
  expect(await control.linkTokens()).toEqual([]);
  expect(await signIn('ok')).toMatchObject({ error_type: 'invalid_token' });
});
