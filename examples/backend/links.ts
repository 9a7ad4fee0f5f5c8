import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
// In your backend: '@lab-operations/client'.
import type { CodeAnswer, LabOperations, LinkState } from '../../client/index.js';
import { form, type Field } from './forms.js';
import { html, moment, phaseLine, show, table, webLink, words, type Html, type Part } from './html.js';
import { carryOut, FieldProblem, type Problem } from './problems.js';
import { fieldsOf, userOf } from './session.js';

/** Users choose a provider on the service's page: a link without one has this name in its address. */
const any = 'any';

/** The user's devices. The password goes from the browser to the lab service's page, never through this backend. */
export function linkRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/links', (request, reply) => devicesPage(lab, reply, userOf(request)));

  app.post('/links/:provider', (request, reply) => {
    const act = async () => {
      const link = await lab.links.start(which(request));
      await link.url();
      return `/links/${link.provider}`;
    };
    return carryOut(reply, act, (problem) => devicesPage(lab, reply, userOf(request), problem));
  });

  app.get('/links/:provider', (request, reply) => linkPage(lab, request, reply));

  /** What the password step answered to the user's browser, which posts it here. */
  app.post('/links/:provider/login', async (request, reply) => {
    const link = await lab.links.getHandle(which(request));
    await link.reportLinkResult(request.body as Record<string, unknown>);
    return reply.redirect(`/links/${link.provider}`, 303);
  });

  app.post('/links/:provider/code', (request, reply) => {
    const act = async () => {
      const link = await lab.links.getHandle(which(request));
      const { outcome, attemptsLeft } = await link.submitMfaCode({ code: fieldsOf(request)['code'] ?? '' });
      const wrong = wrongCode[outcome];
      if (wrong !== undefined) throw new FieldProblem('code', `${wrong} ${attemptsLeft} attempts are left.`);
      return `/links/${link.provider}`;
    };
    return carryOut(reply, act, (problem) => linkPage(lab, request, reply, problem));
  });

  app.post('/links/:provider/cancel', (request, reply) => {
    const act = async () => {
      const link = await lab.links.getHandle(which(request));
      await link.cancel();
      return `/links/${link.provider}`;
    };
    return carryOut(reply, act, (problem) => linkPage(lab, request, reply, problem));
  });

  app.post('/links/:provider/disconnect', (request, reply) => {
    const { userId, provider = '' } = which(request);
    const act = async () => {
      await lab.links.disconnect({ userId, provider });
      return '/links';
    };
    return carryOut(reply, act, (problem) => devicesPage(lab, reply, userId, problem));
  });
}

function which(request: FastifyRequest): { userId: string; provider?: string } {
  const { provider } = request.params as { provider: string };
  return { userId: userOf(request), ...(provider !== any && { provider }) };
}

/** Answers after which the user types another code; every other one is shown by the link's phase. */
const wrongCode: Partial<Record<CodeAnswer['outcome'], string>> = {
  wrong_code: 'was wrong.',
  asked_again: 'was right, and the provider asks for another one.',
  unknown: 'got no answer: ask for another one.',
};

async function devicesPage(lab: LabOperations, reply: FastifyReply, userId: string, problem?: Problem) {
  const [providers, connections] = await Promise.all([lab.links.providers(), lab.links.connections(userId)]);
  const connected = connections.map(({ slug, name, status, error_details: error }): Part[] => [
    name ?? slug,
    html`${slug}: ${status} ${error?.error_message}`,
    form(`/links/${slug}/disconnect`, `Disconnect ${name ?? slug}`),
  ]);
  const offered = providers.map(({ slug, name }): Part[] => [
    name ?? slug,
    form(`/links/${slug}`, `Link ${name ?? slug}`),
  ]);
  const content = html`${problem && html`<p role="alert" class="fault">${problem.sentence}</p>`}
    ${table(['Device', 'Connection', ''], connected, 'No device is connected.')}
    <h2>Link a device</h2>
    ${form(`/links/${any}`, 'Choose on the next page')} ${table(['Maker', ''], offered, 'None is offered.')}`;
  return show(reply, 'Your devices', content, { status: problem ? 422 : 200 });
}

async function linkPage(lab: LabOperations, request: FastifyRequest, reply: FastifyReply, problem?: Problem) {
  const link = await lab.links.getHandle(which(request));
  const state = await link.state();
  const here = `/links/${link.provider}`;
  const isOpen = state.outcome === undefined;
  const login = isOpen && state.phase === 'awaiting_password' && (await link.url()).linkWebUrl;
  const content = html`${phaseLine(state.phase)}
    ${state.errorType !== undefined && html`<p>The last attempt failed: ${words(state.errorType)}.</p>`}
    ${login && html`<p>${webLink(login, 'Log in')}</p>`}
    ${isOpen && state.phase === 'awaiting_code' && codeForm(here, state, problem)}
    ${isOpen && form(`${here}/cancel`, 'Cancel')} ${!isOpen && form(here, 'Link again')}
    <p><a href="/links">All devices</a></p>`;
  const title = state.chosenProvider ?? (link.provider === any ? 'a device' : link.provider);
  return show(reply, `Link ${title}`, content, { status: problem ? 422 : 200 });
}

function codeForm(here: string, { mfa, until }: LinkState, problem?: Problem): Html {
  const code: Field = { name: 'code', label: 'Code', autocomplete: 'one-time-code' };
  return html`<p>
      A code was sent by ${mfa?.method ?? 'the provider'} ${mfa?.hint !== undefined && `to ${mfa.hint}`}.
      ${until !== undefined && html`Enter it before ${moment(until)}.`}
    </p>
    ${form(`${here}/code`, 'Send', { fields: [code], problem })}`;
}
