import type { FastifyInstance } from 'fastify';
import { controlBody } from './control-requests.js';
import { healthDataSchema } from './health-data.js';
import type { Lab } from './lab.js';
import { pathUuid } from './path-ids.js';
import { ServiceProblem } from './problems.js';

/** The part of the control surface that is about health data. */
export function controlHealthRoutes(app: FastifyInstance, lab: Lab): void {
  app.post('/_sandbox/users/:user_id/health_data', (request) => {
    const id = pathUuid(request, 'user_id');
    const user = lab.state.users.get(id);
    if (user === undefined) throw new ServiceProblem(404, { error: `there is no user ${id}` });
    return lab.healthData.send(user, controlBody(healthDataSchema, request.body), lab.clock.now());
  });
}
