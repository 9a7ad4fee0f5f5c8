import type { FastifyInstance } from 'fastify';
import { DeletionNotFound, type LabOperations } from '../../client/index.js';
import { form, html, page } from './html.js';
import { userOf } from './session.js';

/** Deleting the account, and taking that back while the grace lasts. */
export function accountRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/account', async (request, reply) => {
    const deletion = await lab.users.deletion(userOf(request)).catch((error: unknown) => {
      if (error instanceof DeletionNotFound) return undefined;
      throw error;
    });
    const state = await deletion?.state();
    const content =
      state === undefined || state.outcome !== undefined
        ? html`<p id="phase">${state?.phase ?? 'active'}</p>
            ${form('/account/deletion', 'Delete my data')}`
        : html`<p id="phase">${state.phase}</p>
            <p>Until ${state.graceUntil} you can change your mind.</p>
            ${form('/account/deletion/undo', 'Keep my data')}`;
    return reply.type('text/html').send(page('Your account', content));
  });

  app.post('/account/deletion', async (request, reply) => {
    await lab.users.requestDeletion({ userId: userOf(request), policy: { onRunningWork: 'cancel' } });
    return reply.redirect('/account', 303);
  });

  app.post('/account/deletion/undo', async (request, reply) => {
    await lab.users.restore({ userId: userOf(request) });
    return reply.redirect('/account', 303);
  });
}
