import { describe, expect, test } from 'vitest';
import { LinkFailed } from '../../client/links/errors.js';
import { linkErrorTypes, type KnownLinkErrorType } from '../../service/link.js';
import type { Consequence } from '../../protocol/link/messages.js';
import { UserLink } from './user-link.js';
import { setStage } from './story.js';

/* What each error of a provider leads to, for the user who logs in and for the user who gives a code. */

const stage = setStage();

const consequences: Record<KnownLinkErrorType, Consequence> = {
  invalid_token: 'start_over',
  token_expired: 'start_over',
  token_not_validated: 'start_over',
  token_consumed: 'start_over',
  provider_credential_error: 'ask_credentials_again',
  provider_password_expired: 'ask_credentials_again',
  provider_api_error: 'ask_credentials_again',
  unsupported_region: 'give_up',
  duplicate_connection: 'give_up',
  required_scopes_not_granted: 'ask_credentials_again',
  incorrect_mfa_code: 'ask_code_again',
  user_cancelled: 'cancel',
};

const phases: Record<Consequence, string> = {
  start_over: 'awaiting_password',
  ask_credentials_again: 'awaiting_password',
  ask_code_again: 'awaiting_code',
  give_up: 'failed',
  cancel: 'cancelled',
};

const all = linkErrorTypes.map((errorType, index) => ({
  errorType,
  consequence: consequences[errorType],
  code: `9000${String(index + 1).padStart(2, '0')}`,
}));
const isEnd = ({ consequence }: { consequence: Consequence }) => ['give_up', 'cancel'].includes(consequence);
const passing = all.filter((each) => !isEnd(each));
const ending = all.filter(isEnd);

/** A token that may be spoilt is not handed out again; the others are. */
async function expectTokenAfter(consequence: Consequence, link: UserLink, before: string): Promise<void> {
  const { linkToken } = await link.handle.linkUrl();
  expect(linkToken === before).toBe(consequence !== 'start_over');
}

describe('after the answer to the password step', () => {
  test.each(passing)('$errorType: $consequence, and the user can still connect', async ({ errorType, consequence }) => {
    const link = await UserLink.start(stage);
    const { linkToken } = await link.handle.linkUrl();
    const state = await link.logIn(`error-${errorType}`);
    expect(state).toMatchObject({ phase: phases[consequence], errorType, consequence });
    expect(state.outcome).toBeUndefined();
    await expectTokenAfter(consequence, link, linkToken);
    if (consequence === 'ask_code_again') await link.logIn('mfa-sms');
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });

  test.each(ending)('$errorType: $consequence, and the link ends', async ({ errorType, consequence }) => {
    const link = await UserLink.start(stage);
    const outcome = phases[consequence];
    expect(await link.logIn(`error-${errorType}`)).toMatchObject({ phase: outcome, outcome, errorType, consequence });
    expect(await link.handle.result()).toMatchObject({ outcome, errorType });
    await link.expectNotifications(`ended ${outcome}`);
  });
});

describe('after the answer to a code', () => {
  test.each(passing)('$errorType: $consequence, and the user can still connect', async (played) => {
    const { errorType, consequence, code } = played;
    const link = await UserLink.start(stage);
    const { linkToken } = await link.handle.linkUrl();
    await link.logIn('mfa-sms');
    const answer = await link.handle.submitMfaCode(code);
    expect(answer).toMatchObject({
      outcome: consequence === 'ask_code_again' ? 'wrong_code' : consequence,
      errorType,
      state: { phase: phases[consequence], errorType, consequence },
    });
    await expectTokenAfter(consequence, link, linkToken);
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });

  test.each(ending)('$errorType: $consequence, and the link ends', async ({ errorType, consequence, code }) => {
    const link = await UserLink.start(stage);
    await link.logIn('mfa-sms');
    const refusal: unknown = await link.handle.submitMfaCode(code).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LinkFailed);
    expect(refusal).toMatchObject({ errorType, message: `The link has ended for good: ${errorType}` });
    expect(await link.handle.result()).toMatchObject({ outcome: phases[consequence], errorType });
  });
});

describe('an unknown answer', () => {
  test('an unknown answer with a new error type keeps the type, and the user starts over', async () => {
    const link = await UserLink.start(stage);
    const { linkToken } = await link.handle.linkUrl();
    const expected = { errorType: 'error_of_next_year', consequence: 'start_over' };
    await link.logIn('mfa-sms');
    expect(await link.handle.submitMfaCode('900099')).toMatchObject({ outcome: 'start_over', state: expected });
    await expectTokenAfter('start_over', link, linkToken);
    expect(await link.logIn('error-error_of_next_year')).toMatchObject(expected);
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
    expect(await link.happened()).toContain('error error_of_next_year');
  });

  test('an unknown answer with a new state keeps it and reads the connection, and the user starts over', async () => {
    const link = await UserLink.start(stage);
    const strange = await link.logIn('state-state_of_next_year');
    const expected = { errorType: 'state_of_next_year', consequence: 'start_over' };
    expect(strange).toMatchObject({ ...expected, phase: 'awaiting_password', passwordAttemptsLeft: 4 });
    await link.logIn('mfa-sms');
    expect(await link.handle.submitMfaCode('900098')).toMatchObject({
      outcome: 'start_over',
      attemptsLeft: 3,
      state: { ...expected, passwordAttemptsLeft: 3 },
    });
    expect(await stage.countRequests('GET', `/v2/user/${link.handle.userId}`)).toBe(2);
    expect(await link.connect()).toMatchObject({ outcome: 'connected' });
  });

  test('an unknown answer with a new state behind which there is a connection is connected', async () => {
    const link = await UserLink.start(stage);
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_watch', webhook: false });
    expect(await link.handle.reportLinkResult({ state: 'connected_in_a_new_way' })).toMatchObject({
      outcome: 'connected',
    });
  });
});

test.each(['token_consumed', 'duplicate_connection'])(
  '%s with the link’s own connection behind it is connected',
  async (errorType) => {
    const link = await UserLink.start(stage);
    await stage.sandbox.connect(link.handle.userId, { provider: 'invented_watch', webhook: false });
    const state = await link.handle.reportLinkResult({ state: 'error', errorType });
    expect(state).toMatchObject({ outcome: 'connected' });
    expect(state).not.toHaveProperty('errorType');
    expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  },
);

test('duplicate_connection with only an older connection behind it gives up', async () => {
  await stage.sandbox.changeSettings({ duplicateConnection: 'refuse' });
  const userId = await stage.newUser();
  const created_on = '2020-01-01T00:00:00Z';
  await stage.sandbox.connect(userId, { provider: 'invented_watch', created_on, webhook: false });
  const link = await UserLink.start(stage, { userId });
  expect(await link.logIn('ok')).toMatchObject({ outcome: 'failed', errorType: 'duplicate_connection' });
});

test('a login that fails as often as the policy allows ends the link', async () => {
  const link = await UserLink.start(stage, { policy: { maxPasswordAttempts: 2 } });
  expect(await link.logIn('nobody')).toMatchObject({ phase: 'awaiting_password', passwordAttemptsLeft: 1 });
  expect(await link.logIn('nobody')).toMatchObject({ outcome: 'failed', passwordAttemptsLeft: 0 });
  expect(await link.handle.result()).toMatchObject({ outcome: 'failed', errorType: 'provider_credential_error' });
});

test('a failed login that a code’s answer brings to the limit ends the link', async () => {
  const link = await UserLink.start(stage, { policy: { maxPasswordAttempts: 1 } });
  await link.logIn('mfa-sms');
  await expect(link.handle.submitMfaCode('900005')).rejects.toMatchObject({
    name: 'LinkFailed',
    errorType: 'provider_credential_error',
  });
});
