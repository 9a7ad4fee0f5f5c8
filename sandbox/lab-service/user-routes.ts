import type { FastifyInstance } from 'fastify';
import type { Lab } from './lab.js';
import { pathText, pathUuid, readBody } from './validation.js';
import { refusal } from './problems.js';
import {
  createPortalLink,
  createUser,
  deleteUser,
  listUsers,
  patchUser,
  requireChangeable,
  requireUser,
  undoDeletion,
  userBody,
  userInfo,
} from './users.js';

/** Users, their deletion, demographics and portal links. */
export function userRoutes(app: FastifyInstance, lab: Lab): void {
  // The specification writes the slash, the schema does not: both are served.
  for (const path of ['/v2/user', '/v2/user/']) {
    app.get(path, (request) => listUsers(lab, request.query as { limit?: unknown; offset?: unknown }));
  }

  app.post('/v2/user', (request) => userBody(createUser(lab, request.body)));

  app.get('/v2/user/:user_id', (request) => userBody(requireUser(lab, pathUuid(request, 'user_id'))));

  app.patch('/v2/user/:user_id', (request, reply) => {
    patchUser(lab, requireChangeable(lab, pathUuid(request, 'user_id')), request.body);
    // The schema names no answer.
    return reply.code(204).send();
  });

  app.delete('/v2/user/:user_id', (request) => {
    deleteUser(lab, pathUuid(request, 'user_id'));
    return { success: true };
  });

  app.post('/v2/user/undo_delete', (request) => {
    undoDeletion(lab, request.query);
    return { success: true };
  });

  app.get('/v2/user/resolve/:client_user_id', (request) => {
    const user = lab.state.usersByClientId.get(pathText(request, 'client_user_id'));
    if (user === undefined) throw refusal(404, 'Not found');
    return userBody(user);
  });

  app.get('/v2/user/:user_id/info/latest', (request) => {
    const { info } = requireUser(lab, pathUuid(request, 'user_id'));
    // Not documented for a user without demographics; assumed.
    if (info === null) throw refusal(404, 'Not found');
    return info;
  });

  app.patch('/v2/user/:user_id/info', (request) => {
    const user = requireChangeable(lab, pathUuid(request, 'user_id'));
    user.info = readBody(userInfo, request.body);
    return user.info;
  });

  app.post('/v2/user/:user_id/create_portal_url', (request) => {
    const user = requireUser(lab, pathUuid(request, 'user_id'));
    const { url, expiresInSeconds } = createPortalLink(lab, user, request.body);
    return { url, expires_in: expiresInSeconds };
  });
}
