import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { connect, emailProviders, passwordProviders } from './connections.js';
import { Part } from './part.js';
import type { Json } from './order-body.js';
import { optional, readBody, readPath, refusal, ServiceProblem, unacceptable, uuid } from './validation.js';
import type { User } from './state.js';
import { linkErrorTypes } from '../../service/link/link.js';
import type { Lab } from './lab.js';

/** A token that the steps of one link carry. */
interface LinkToken {
  readonly token: string;
  readonly user: User;
  /** The one provider that it is good for; null: any. */
  readonly provider: string | null;
  readonly page: Page;
  state: 'open' | 'expired' | 'consumed';
  /** The provider that waits for a code, and the codes that it accepts; null while none waits. */
  waiting: { readonly provider: string; readonly codes: readonly string[] } | null;
}

/** What was chosen for the hosted page; null: nothing. */
interface Page {
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
export class Links extends Part {
  readonly #tokens = new Map<string, LinkToken>();

  createToken(user: User, provider: string | null, page: Page): LinkToken {
    const token: LinkToken = {
      token: `lt_${randomBytes(24).toString('base64url')}`,
      user,
      provider,
      page,
      state: 'open',
      waiting: null,
    };
    this.#tokens.set(token.token, token);
    this.lab.clock.scheduleUncompressed(tokenLifeMs, () => {
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

  /** `value` is the user name. */
  submitCredentials(step: Step): Json {
    return this.#take(step, (token) => this.#settle(token, step, outcomeOfCredentials(step.value)));
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
    const { connectionWebhooks: webhook } = this.lab.settings;
    token.state = 'consumed';
    token.waiting = null;
    const connection = connect(this.lab, token.user, step.provider, this.lab.clock.now(), { webhook });
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

/**
 * What the invented providers do with a user name and with a code, as docs/sandbox.md and docs/internals/sandbox.md list it ("Links"). Case
 * makes no difference, and what follows an `@` is ignored, so an e-mail address is a user name too.
 *
 * An error changes nothing: the token and the request for a code stay as they were.
 */
type ProviderOutcome =
  | { readonly kind: 'connected' }
  | { readonly kind: 'asks_for_code'; readonly method: 'sms' | 'email'; readonly codes: readonly string[] }
  | { readonly kind: 'error'; readonly errorType: string }
  | { readonly kind: 'state'; readonly state: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'broken' };

const firstCode = '123456';
const secondCode = '654321';

/** @param name the user name, which may be an e-mail address */
function outcomeOfCredentials(name: string): ProviderOutcome {
  const word = name.trim().toLowerCase().split('@', 1)[0] ?? '';
  if (word.startsWith('ok')) return { kind: 'connected' };
  if (word.startsWith('mfa-sms')) return { kind: 'asks_for_code', method: 'sms', codes: [firstCode] };
  if (word.startsWith('mfa-email')) return { kind: 'asks_for_code', method: 'email', codes: [firstCode] };
  if (word.startsWith('mfa-again')) return { kind: 'asks_for_code', method: 'sms', codes: [firstCode, secondCode] };
  if (word.startsWith('error-')) return { kind: 'error', errorType: word.slice('error-'.length) };
  if (word.startsWith('state-')) return { kind: 'state', state: word.slice('state-'.length) };
  if (word.startsWith('detail')) return { kind: 'refused' };
  return { kind: 'error', errorType: 'provider_credential_error' };
}

/** @param codes the codes that the provider still asks for, in their order */
function outcomeOfCode(code: string, codes: readonly string[]): ProviderOutcome {
  const [right, ...further] = codes;
  if (code === right) {
    return further.length === 0 ? { kind: 'connected' } : { kind: 'asks_for_code', method: 'email', codes: further };
  }
  const [, number] = /^900(\d{3})$/.exec(code) ?? [];
  const errorType = linkErrorTypes[Number(number) - 1];
  if (errorType !== undefined) return { kind: 'error', errorType };
  switch (number) {
    case '098':
      return { kind: 'state', state: 'state_of_next_year' };
    case '099':
      return { kind: 'error', errorType: 'error_of_next_year' };
    case '100':
      return { kind: 'asks_for_code', method: 'email', codes: [secondCode] };
    case '422':
      return { kind: 'refused' };
    case '500':
      return { kind: 'broken' };
    default:
      return { kind: 'error', errorType: 'incorrect_mfa_code' };
  }
}

const providerPath = '/v2/link/provider';
const hostedPagePath = '/link';

const anyProvider = z.enum([...passwordProviders, ...emailProviders]);

const tokenRequest = z.object({
  user_id: uuid,
  provider: optional(anyProvider),
  redirect_url: optional(z.string()),
  filter_on_providers: optional(z.array(anyProvider)),
  on_error: optional(z.literal('redirect')),
  on_close: optional(z.literal('redirect')),
});

/** True for a browser's request, which has a link token instead of an API key. */
export function isOfBrowser(request: FastifyRequest): boolean {
  const [path] = request.url.split('?', 1);
  return path === hostedPagePath || request.url.startsWith(`${providerPath}/`);
}

/**
 * Link tokens, and the steps of a link.
 *
 * @param header the name of the header with the link token
 */
export function linkRoutes(app: FastifyInstance, lab: Lab, header: string): void {
  const step = (request: FastifyRequest, provider: string, field: string, value: string): Step => {
    const token = request.headers[header];
    return { provider, token: typeof token === 'string' ? token : undefined, field, value };
  };

  app.post('/v2/link/token', (request) => createToken(lab, request));

  app.post(`${providerPath}/password/:provider`, (request) => {
    const { provider } = readPath(z.object({ provider: z.enum(passwordProviders) }), request);
    const credentials = z.object({ username: z.string(), password: z.string(), region: optional(z.string()) });
    const { username } = readBody(credentials, request.body);
    return lab.links.submitCredentials(step(request, provider, 'username', username));
  });

  app.post(`${providerPath}/password/:provider/complete_mfa`, (request) => {
    const { provider } = readPath(z.object({ provider: z.enum(passwordProviders) }), request);
    const { mfa_code: code } = readBody(z.object({ mfa_code: z.string() }), request.body);
    return lab.links.completeMfa(step(request, provider, 'mfa_code', code));
  });

  app.get(hostedPagePath, (request, reply) => {
    const { token } = request.query as { token?: unknown };
    const known = typeof token === 'string' ? lab.links.tokenNamed(token) : undefined;
    void reply.type('text/plain; charset=utf-8');
    if (known?.state === 'open')
      return 'Here a user would choose a provider and sign in: see "Links" in docs/sandbox.md.';
    void reply.code(404);
    return 'This link is not or no longer valid.';
  });
}

function createToken(lab: Lab, request: FastifyRequest): Json {
  const { user_id: userId, provider, ...page } = readBody(tokenRequest, request.body);
  const user = lab.state.users.get(userId);
  // The answer for an unknown user is not documented; assumed after the user endpoints.
  if (user === undefined) throw refusal(404, 'Not found');
  const { token } = lab.links.createToken(user, provider, page);
  const basePath = request.originalUrl.slice(0, -request.url.length);
  const url = `${request.protocol}://${request.host}${basePath}${hostedPagePath}?token=${token}`;
  return { link_token: token, link_web_url: url };
}
