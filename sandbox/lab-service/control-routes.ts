import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { controlAppointmentRoutes } from './control-appointment-routes.js';
import { controlHealthRoutes } from './control-health-routes.js';
import { controlLinkRoutes } from './control-link-routes.js';
import { controlOrderRoutes } from './control-order-routes.js';
import {
  clockSchema,
  controlBody,
  deliveryFilterSchema,
  newUserSchema,
  releaseSchema,
  requestFilterSchema,
  storyNamed,
} from './control-requests.js';
import { controlReportRoutes } from './control-report-routes.js';
import type { FaultList } from './fault-list.js';
import { httpFaultSchema } from './http-faults.js';
import { createInventedUser } from './invented-user.js';
import type { Lab } from './lab.js';
import { pathText } from './path-ids.js';
import { settingsSchema, type Settings } from './settings.js';
import { STORIES } from './stories.js';
import { deleteUser, undoDeletion } from './user-deletion.js';
import { userBody } from './users.js';
import { webhookFaultSchema } from './webhook-faults.js';

/** The control surface: what tests and the demo do to the outside world. No authentication; never part of a service. */
export function controlRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/_sandbox/health', () => ({ status: 'ok' }));
  app.post('/_sandbox/reset', () => {
    lab.reset();
    return {};
  });
  settingsRoutes(app, lab);
  clockRoutes(app, lab);
  faultRoutes(app, '/_sandbox/faults', httpFaultSchema, lab.faults);
  faultRoutes(app, '/_sandbox/webhook-faults', webhookFaultSchema, lab.webhooks.faults);
  webhookRoutes(app, lab);
  observationRoutes(app, lab);
  controlOrderRoutes(app, lab);
  controlReportRoutes(app, lab);
  controlLinkRoutes(app, lab);
  controlAppointmentRoutes(app, lab);
  controlHealthRoutes(app, lab);
  userRoutes(app, lab);
}

function userRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/_sandbox/users/deleted', () => ({
    users: [...lab.state.deletedUsers.values()].map(({ user, since }) => ({
      user_id: user.id,
      since: new Date(since).toISOString(),
    })),
  }));
  app.delete('/_sandbox/users/:user_id', (request) => {
    deleteUser(lab, pathText(request, 'user_id'));
    return {};
  });
  app.post('/_sandbox/users/:user_id/restore', (request) => {
    undoDeletion(lab, { user_id: pathText(request, 'user_id') });
    return {};
  });
  app.post('/_sandbox/users', (request) => {
    const { client_user_id: clientUserId, demographics } = controlBody(newUserSchema, request.body ?? {});
    const user = createInventedUser(lab, demographics, clientUserId);
    return { user: userBody(user, lab.settings.current), info: user.info };
  });
}

function settingsRoutes(app: FastifyInstance, lab: Lab): void {
  // Secrets are taken, never shown.
  const shown = (): Omit<Settings, 'webhookSecrets'> => {
    const { webhookSecrets: _, ...rest } = lab.settings.current;
    return rest;
  };
  app.get('/_sandbox/settings', shown);
  app.patch('/_sandbox/settings', (request) => {
    const changes = controlBody(settingsSchema.partial(), request.body);
    const story = changes.storyForNewOrders;
    if (typeof story === 'string') storyNamed(story);
    lab.changeSettings(Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)));
    return shown();
  });
}

function clockRoutes(app: FastifyInstance, lab: Lab): void {
  const shown = (): { now: string; daySeconds: number } => ({
    now: new Date(lab.clock.now()).toISOString(),
    daySeconds: lab.clock.daySeconds,
  });
  app.get('/_sandbox/clock', shown);
  app.post('/_sandbox/clock', (request) => {
    const { set, advance } = controlBody(clockSchema, request.body);
    if (set !== undefined) lab.clock.setTo(typeof set === 'number' ? set : Date.parse(set));
    if (advance !== undefined) lab.clock.advance(advance);
    return shown();
  });
}

function faultRoutes<Fault extends { readonly skip: number; readonly times: number | null }, Facts>(
  app: FastifyInstance,
  path: string,
  schema: z.ZodType<Fault>,
  faults: FaultList<Fault, Facts>,
): void {
  app.get(path, () => ({ faults: faults.list() }));
  app.post(path, (request) => ({ id: faults.add(controlBody(schema, request.body)) }));
  app.delete(path, () => {
    faults.clear();
    return {};
  });
  app.delete(`${path}/:fault_id`, (request) => {
    const id = pathText(request, 'fault_id');
    // Removing one that has met its last request is no mistake.
    return { removed: faults.remove(id) };
  });
}

function webhookRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/_sandbox/deliveries', (request) => {
    const filter = controlBody(deliveryFilterSchema, request.query);
    const deliveries = lab.webhooks
      .deliveries()
      .filter(
        (delivery) =>
          (filter.order_id === undefined || filter.order_id === delivery.order_id) &&
          (filter.job_id === undefined || filter.job_id === delivery.job_id) &&
          (filter.event_type === undefined || filter.event_type === delivery.event_type) &&
          (filter.state === undefined || filter.state === delivery.state),
      );
    return { deliveries, endpointDisabled: lab.webhooks.isEndpointDisabled };
  });
  app.post('/_sandbox/webhooks/release', async (request) => ({
    released: await lab.webhooks.release(controlBody(releaseSchema, request.body ?? {}).order),
  }));
  app.post('/_sandbox/webhooks/settle', async () => {
    await lab.webhooks.settle();
    return {};
  });
}

function observationRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/_sandbox/requests', (request) => {
    const requests = lab.requests.find(controlBody(requestFilterSchema, request.query));
    return { count: requests.length, requests };
  });
  app.delete('/_sandbox/requests', () => {
    lab.requests.clear();
    return {};
  });
  app.get('/_sandbox/portal_links', () => ({
    links: lab.state.portalLinks.map((link) => ({
      url: link.url,
      context: link.context,
      user_id: link.userId,
      order_id: link.orderId,
      created_at: new Date(link.createdAt).toISOString(),
      expires_at: new Date(link.createdAt + link.expiresInSeconds * 1_000).toISOString(),
    })),
  }));
  app.get('/_sandbox/stories', () => ({ stories: STORIES }));
}
