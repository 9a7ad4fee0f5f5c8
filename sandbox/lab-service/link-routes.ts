import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Lab } from './lab.js';
import type { Step } from './links.js';
import type { Json } from './order-body.js';
import { emailProviders, passwordProviders } from './connections.js';
import { refusal, optional, readBody, readPath, uuid } from './validation.js';

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
