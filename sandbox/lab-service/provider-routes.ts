import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { disconnect, emailProviders, passwordProviders, providerBody, providerConnection } from './connections.js';
import type { Lab } from './lab.js';
import { refusal } from './problems.js';
import { requireChangeable, requireUser } from './users.js';
import { optional, pathText, pathUuid, readQuery } from './validation.js';

const providerQuery = z.object({ source_type: optional(z.string()) });

/** The invented providers, and users' connections with them. */
export function providerRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/v2/providers', (request) => {
    readQuery(providerQuery, request.query);
    return [
      ...passwordProviders.map((provider) => providerBody(provider, 'password')),
      ...emailProviders.map((provider) => providerBody(provider, 'email')),
    ];
  });

  app.get('/v2/user/providers/:user_id', (request) => {
    const { connections } = requireUser(lab, pathUuid(request, 'user_id'));
    return { providers: connections.map((connection) => providerConnection(connection)) };
  });

  // The answer where there is no connection is not documented; assumed.
  app.delete('/v2/user/:user_id/:provider', (request) => {
    const user = requireChangeable(lab, pathUuid(request, 'user_id'));
    if (!disconnect(user, pathText(request, 'provider')))
      throw refusal(404, 'The user is not connected to this provider');
    return { success: true };
  });
}
