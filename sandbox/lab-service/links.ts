import { randomBytes } from 'node:crypto';
import { connect } from './connections.js';
import type { Lab } from './lab.js';
import { outcomeOfCode, outcomeOfCredentials, type ProviderOutcome } from './link-conventions.js';
import type { Json } from './order-body.js';
import { ServiceProblem, unacceptable } from './problems.js';
import type { User } from './state.js';

/** A token that the steps of one link carry. */
export interface LinkToken {
  readonly token: string;
  readonly user: User;
  /** The one provider that it is good for; null: any. */
  readonly provider: string | null;
  readonly page: Page;
  readonly createdAt: number;
  state: 'open' | 'expired' | 'consumed';
  /** The provider that waits for a code, and the codes that it accepts; null while none waits. */
  waiting: { readonly provider: string; readonly codes: readonly string[] } | null;
}

/** What was chosen for the hosted page; null: nothing. */
export interface Page {
  readonly redirect_url: string | null;
  /** Only the page keeps to it: no step of the API does. */
  readonly filter_on_providers: readonly string[] | null;
  readonly on_error: 'redirect' | null;
  readonly on_close: 'redirect' | null;
}

/** A step of a link as it came in: who, where, and what the request's field was that a refusal can quote. */
export interface Step {
  readonly provider: string;
  readonly token: string | undefined;
  readonly field: string;
  readonly value: string;
}

/** 60 minutes are documented too. `daySeconds` does not shorten it: a person signs in. */
const tokenLifeMs = 600_000;

const hints = { sms: '***-***-**23', email: 't***@example.com' };

/** Link tokens and what the steps that carry them come to. Failures of a link are HTTP 200 with a state of `error`. */
export class Links {
  readonly #lab: Lab;
  readonly #tokens = new Map<string, LinkToken>();

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  createToken(user: User, provider: string | null, page: Page): LinkToken {
    const token: LinkToken = {
      token: `lt_${randomBytes(24).toString('base64url')}`,
      user,
      provider,
      page,
      createdAt: this.#lab.clock.now(),
      state: 'open',
      waiting: null,
    };
    this.#tokens.set(token.token, token);
    this.#lab.clock.scheduleUncompressed(tokenLifeMs, () => {
      if (token.state === 'open') token.state = 'expired';
    });
    return token;
  }

  /** In order of creation. */
  tokens(): LinkToken[] {
    return [...this.#tokens.values()];
  }

  tokenNamed(token: string): LinkToken | undefined {
    return this.#tokens.get(token);
  }

  /** The password step, and the e-mail step: `value` is the user name or the address. */
  submitCredentials(step: Step): Json {
    return this.#take(step, (token) => {
      const outcome = outcomeOfCredentials(step.value);
      return this.#settle(token, step, outcome);
    });
  }

  /** That a code nobody asked for is `token_not_validated` is assumed. */
  completeMfa(step: Step): Json {
    return this.#take(step, (token) => {
      if (token.waiting?.provider !== step.provider) return errorBody(step, 'token_not_validated', token);
      return this.#settle(token, step, outcomeOfCode(step.value, token.waiting.codes));
    });
  }

  /** A token made for another provider is taken for an invalid one; not documented, assumed. */
  #take(step: Step, go: (token: LinkToken) => Json): Json {
    const token = this.#tokens.get(step.token ?? '');
    if (token === undefined || (token.provider ?? step.provider) !== step.provider) {
      return errorBody(step, 'invalid_token', undefined);
    }
    if (token.state === 'expired') return errorBody(step, 'token_expired', token);
    if (token.state === 'consumed') return errorBody(step, 'token_consumed', token);
    return go(token);
  }

  #settle(token: LinkToken, step: Step, outcome: ProviderOutcome): Json {
    switch (outcome.kind) {
      case 'connected':
        return this.#connect(token, step);
      case 'asks_for_code': {
        const { method, codes } = outcome;
        token.waiting = { provider: step.provider, codes };
        return resultBody(step, token, 'pending_provider_mfa', { provider_mfa: { method, hint: hints[method] } });
      }
      case 'error':
        return errorBody(step, outcome.errorType, token);
      case 'state':
        return resultBody(step, token, outcome.state, {});
      case 'refused':
        throw unacceptable(['body', step.field], `the provider does not take ${step.value}`, step.value);
      case 'broken':
        throw new ServiceProblem(500, 'Internal Server Error');
      default:
        throw new Error(`no such outcome: ${JSON.stringify(outcome satisfies never)}`);
    }
  }

  #connect(token: LinkToken, step: Step): Json {
    const { connectionWebhooks: webhook } = this.#lab.settings;
    token.state = 'consumed';
    token.waiting = null;
    const connection = connect(this.#lab, token.user, step.provider, this.#lab.clock.now(), { webhook });
    return resultBody(step, token, 'success', { connected: true, provider_id: connection.providerId });
  }
}

function errorBody(step: Step, errorType: string, token: LinkToken | undefined): Json {
  const error = errorType === 'provider_credential_error' ? 'Invalid username or password' : `Invented: ${errorType}`;
  return resultBody(step, token, 'error', { error_type: errorType, error });
}

function resultBody({ provider }: Step, token: LinkToken | undefined, state: string, more: Json): Json {
  return {
    state,
    redirect_url: token?.page.redirect_url ?? null,
    error_type: null,
    error: null,
    provider_mfa: null,
    provider,
    connected: false,
    provider_id: null,
    ...more,
  };
}
