import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { LabOperations } from '../../client/index.js';
import { form, html, page } from './html.js';
import { fieldsOf, userOf } from './session.js';

/** The user's devices. The password goes from the browser to the lab service's page, never through this backend. */
export function linkRoutes(app: FastifyInstance, lab: LabOperations): void {
  const which = (request: FastifyRequest) => ({
    userId: userOf(request),
    provider: (request.params as { provider: string }).provider,
  });

  app.get('/links', async (request, reply) => {
    const [providers, connections] = await Promise.all([lab.links.providers(), lab.links.connections(userOf(request))]);
    const connected = connections.map(
      ({ slug, status }) => html`<li>${slug}: ${status} ${form(`/links/${slug}/disconnect`, 'Disconnect')}</li>`,
    );
    const offered = providers.map(({ slug, name }) => html`<li>${form(`/links/${slug}`, `Link ${name ?? slug}`)}</li>`);
    const content = html`<ul>
        ${connected}
      </ul>
      <ul>
        ${offered}
      </ul>`;
    return reply.type('text/html').send(page('Your devices', content));
  });

  app.post('/links/:provider', async (request, reply) => {
    const link = await lab.links.start(which(request));
    await link.linkUrl();
    return reply.redirect(`/links/${link.provider}`, 303);
  });

  app.get('/links/:provider', async (request, reply) => {
    const link = await lab.links.get(which(request));
    const { phase, mfa, outcome } = await link.state();
    const here = `/links/${link.provider}`;
    const needsLogin = outcome === undefined && phase === 'awaiting_password';
    const content = html`<p id="phase">${phase}</p>
      ${needsLogin && html`<p><a href="${(await link.linkUrl()).linkWebUrl}">Log in</a></p>`}
      ${phase === 'awaiting_code' && html`<p>A code was sent by ${mfa?.method} to ${mfa?.hint}.</p>`}
      ${phase === 'awaiting_code' && form(`${here}/code`, 'Send', ['code'])}
      ${outcome === undefined && form(`${here}/cancel`, 'Cancel')}`;
    return reply.type('text/html').send(page(`Link ${link.provider}`, content));
  });

  /** What the password step answered to the user's browser, which posts it here. */
  app.post('/links/:provider/login', async (request, reply) => {
    const link = await lab.links.get(which(request));
    await link.reportLinkResult(request.body as Record<string, unknown>);
    return reply.redirect(`/links/${link.provider}`, 303);
  });

  app.post('/links/:provider/code', async (request, reply) => {
    const link = await lab.links.get(which(request));
    await link.submitMfaCode(fieldsOf(request)['code'] ?? '');
    return reply.redirect(`/links/${link.provider}`, 303);
  });

  app.post('/links/:provider/cancel', async (request, reply) => {
    const link = await lab.links.get(which(request));
    await link.cancel();
    return reply.redirect(`/links/${link.provider}`, 303);
  });

  app.post('/links/:provider/disconnect', async (request, reply) => {
    await lab.links.disconnect(which(request));
    return reply.redirect('/links', 303);
  });
}
