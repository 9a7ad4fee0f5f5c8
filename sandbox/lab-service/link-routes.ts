import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Lab } from './lab.js';
import type { Json } from './order-body.js';
import { pathText } from './path-ids.js';
import { invalidFields, refusal } from './problems.js';
import { EMAIL_PROVIDERS, PASSWORD_PROVIDERS } from './providers.js';
import { Fields, oneOf, uuid } from './validation.js';

const PASSWORD_STEP = '/v2/link/provider/password/:provider';
const EMAIL_STEP = '/v2/link/provider/email/:provider';
const HOSTED_PAGE = '/link';

const anyProvider = oneOf(...PASSWORD_PROVIDERS, ...EMAIL_PROVIDERS);

/** True for a browser's request, which has a link token instead of an API key. */
export function isOfBrowser(request: FastifyRequest): boolean {
  const [path] = request.url.split('?', 1);
  return path === HOSTED_PAGE || request.url.startsWith('/v2/link/provider/');
}

/**
 * Link tokens, and the steps of a link.
 *
 * @param header the name of the header with the link token
 */
export function linkRoutes(app: FastifyInstance, lab: Lab, header: string): void {
  app.post('/v2/link/token', (request) => createToken(lab, request));

  app.post(PASSWORD_STEP, (request) => {
    const provider = pathProvider(request, PASSWORD_PROVIDERS);
    const fields = Fields.ofBody(request.body);
    const username = fields.string('username');
    fields.string('password');
    fields.optionalString('region');
    fields.finish();
    return lab.links.submitCredentials({ provider, token: linkToken(request), field: 'username', value: username });
  });

  app.post(EMAIL_STEP, (request) => {
    const provider = pathProvider(request, EMAIL_PROVIDERS);
    const fields = Fields.ofBody(request.body);
    const email = fields.string('email');
    fields.optionalString('region');
    fields.finish();
    return lab.links.submitCredentials({ provider, token: linkToken(request), field: 'email', value: email });
  });

  // Not documented for providers that take an e-mail address; the same step is assumed.
  app.post(`${PASSWORD_STEP}/complete_mfa`, (request) => {
    const provider = pathProvider(request, [...PASSWORD_PROVIDERS, ...EMAIL_PROVIDERS]);
    const fields = Fields.ofBody(request.body);
    const code = fields.string('mfa_code');
    fields.finish();
    return lab.links.completeMfa({ provider, token: linkToken(request), field: 'mfa_code', value: code });
  });

  app.get(HOSTED_PAGE, (request, reply) => {
    const { token } = request.query as { token?: unknown };
    const known = typeof token === 'string' ? lab.links.tokenNamed(token) : undefined;
    void reply.type('text/plain; charset=utf-8');
    if (known?.state === 'open')
      return 'Here a user would choose a provider and sign in: see "Playing links" in docs/sandbox.md.';
    void reply.code(404);
    return 'This link is not or no longer valid.';
  });

  function linkToken(request: FastifyRequest): string | undefined {
    const value = request.headers[header];
    return typeof value === 'string' ? value : undefined;
  }
}

function createToken(lab: Lab, request: FastifyRequest): Json {
  const fields = Fields.ofBody(request.body);
  const userId = fields.string('user_id', uuid).toLowerCase();
  const provider = fields.optionalString('provider', anyProvider);
  const redirectUrl = fields.optionalString('redirect_url');
  fields.optionalStrings('filter_on_providers', anyProvider);
  fields.optionalString('on_error', oneOf('redirect'));
  fields.optionalString('on_close', oneOf('redirect'));
  fields.finish();
  const user = lab.state.users.get(userId);
  // The answer for an unknown user is not documented; assumed after the user endpoints.
  if (user === undefined) throw refusal(404, 'Not found');
  const { token } = lab.links.createToken(user, provider, redirectUrl);
  return { link_token: token, link_web_url: `${request.protocol}://${request.host}${HOSTED_PAGE}?token=${token}` };
}

function pathProvider(request: FastifyRequest, known: readonly string[]): string {
  const provider = pathText(request, 'provider');
  const fault = oneOf(...known)(provider);
  if (fault === undefined) return provider;
  throw invalidFields([{ ...fault, loc: ['path', 'provider'], input: provider }]);
}
