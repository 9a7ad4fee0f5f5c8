import type { FastifyInstance, FastifyRequest } from 'fastify';
import { connectedSource } from './connections.js';
import { connectionSchema, connectionWebhookSchema, controlBody } from './control-requests.js';
import type { Lab } from './lab.js';
import { pathText, pathUuid } from './path-ids.js';
import { ServiceProblem } from './problems.js';
import type { User } from './state.js';

/** The part of the control surface that is about links and connections. */
export function controlLinkRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/_sandbox/link_tokens', () => ({
    tokens: lab.links.tokens().map(({ token, user, provider, createdAt, state, waiting }) => ({
      link_token: token,
      user_id: user.id,
      provider,
      created_at: new Date(createdAt).toISOString(),
      state,
      awaitsCodeOf: waiting?.provider ?? null,
    })),
  }));

  app.post('/_sandbox/users/:user_id/connections', (request) => {
    const user = requireUser(lab, request);
    const { provider, created_on: createdOn, webhook } = controlBody(connectionSchema, request.body);
    const at = createdOn === undefined ? lab.clock.now() : Date.parse(createdOn);
    return connectedSource(lab.connections.connect(user, provider, at, { webhook }), lab.settings.current);
  });

  app.delete('/_sandbox/users/:user_id/connections/:provider', (request) => ({
    removed: lab.connections.disconnect(requireUser(lab, request), pathText(request, 'provider')),
  }));

  app.post('/_sandbox/users/:user_id/connection_webhooks', (request) => {
    const user = requireUser(lab, request);
    const { provider, event_type: eventType } = controlBody(connectionWebhookSchema, request.body);
    lab.connections.announce(user, provider, eventType);
    return {};
  });
}

function requireUser(lab: Lab, request: FastifyRequest): User {
  const id = pathUuid(request, 'user_id');
  const user = lab.state.users.get(id);
  if (user === undefined) throw new ServiceProblem(404, { error: `there is no user ${id}` });
  return user;
}
