import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
// In your backend: '@lab-operations/client'.
import type { LabOperations, WebhookEndpoint, WebhookPlace } from '../../client/index.js';
import { form, type Field } from './forms.js';
import { html, moment, show, table, type Html, type Part } from './html.js';
import { carryOut, FieldProblem, isProblem, type Problem } from './problems.js';
import { fieldsOf, NotYours, requireStaff } from './session.js';

const pages = '/staff/webhooks';
const url: Field = { name: 'url', label: 'Address' };
const eventTypes: Field = {
  name: 'eventTypes',
  label: 'Event types',
  required: false,
  hint: 'With commas between them; none means all',
};

/** Where the lab service delivers the team's events. The worker does this with its management key. */
export function webhookRoutes(app: FastifyInstance, lab: LabOperations, place: WebhookPlace | undefined): void {
  const team = (request: FastifyRequest): WebhookPlace => {
    requireStaff(request);
    if (place) return place;
    throw new NotYours('Set LABOPS_ORG_ID, LABOPS_TEAM_ID and LABOPS_ENVIRONMENT');
  };

  app.get(pages, (request, reply) => listPage(lab, reply, team(request)));

  app.post(pages, async (request, reply) => {
    const of = team(request);
    const entered = fieldsOf(request);
    return withSecret(
      reply,
      () => lab.webhooks.register(of, { url: entered['url'] ?? '', eventTypes: listOf(entered['eventTypes']) }),
      (problem) => listPage(lab, reply, of, { entered, problem }),
    );
  });

  app.get(`${pages}/:id`, (request, reply) => endpointPage(lab, reply, team(request), idOf(request)));
  changeRoutes(app, lab, team);
}

function changeRoutes(app: FastifyInstance, lab: LabOperations, team: (request: FastifyRequest) => WebhookPlace): void {
  type Change = (of: WebhookPlace, id: string, entered: Record<string, string>) => Promise<unknown>;
  const changing = (name: string, change: Change, to = (id: string) => `${pages}/${id}`) =>
    app.post(`${pages}/:id/${name}`, (request, reply) => {
      const [of, id] = [team(request), idOf(request)];
      const act = async () => {
        await change(of, id, fieldsOf(request));
        return to(id);
      };
      return carryOut(reply, act, (problem) => endpointPage(lab, reply, of, id, problem));
    });

  changing('change', (of, id, entered) =>
    lab.webhooks.update(of, id, {
      url: entered['url'] ?? '',
      description: entered['description'] ?? '',
      eventTypes: listOf(entered['eventTypes']),
    }),
  );
  changing('disable', (of, id) => lab.webhooks.update(of, id, { disabled: true }));
  changing('enable', (of, id) => lab.webhooks.enable(of, id));
  changing('headers', (of, id, entered) => lab.webhooks.setHeaders(of, id, headersOf(entered['headers'])));
  changing(
    'delete',
    (of, id) => lab.webhooks.delete(of, id),
    () => pages,
  );
  app.post(`${pages}/:id/rotate`, (request, reply) => {
    const [of, id] = [team(request), idOf(request)];
    return withSecret(
      reply,
      () => lab.webhooks.rotate(of, id),
      (problem) => endpointPage(lab, reply, of, id, problem),
    );
  });
}

function idOf(request: FastifyRequest): string {
  return (request.params as { id: string }).id;
}

/** A secret is shown once: it stands on the answer's own page, and in no address. */
async function withSecret(
  reply: FastifyReply,
  act: () => Promise<{ secret?: string }>,
  again: (problem: Problem) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  let secret: string | undefined;
  try {
    ({ secret } = await act());
  } catch (error) {
    if (!isProblem(error)) throw error;
    return again(error);
  }
  const content = html`<p>
      ${secret === undefined ? 'The secret is in the dashboard of the lab service.' : html`<code>${secret}</code>`}
    </p>
    <p>Add it to the receiver's WEBHOOK_SECRETS: for a while the deliveries are signed with both secrets.</p>
    <p><a href="${pages}">All endpoints</a></p>`;
  return show(reply, 'The signing secret', content, { audience: 'staff' });
}

async function listPage(
  lab: LabOperations,
  reply: FastifyReply,
  of: WebhookPlace,
  sent?: { entered: Record<string, string>; problem: Problem },
): Promise<FastifyReply> {
  const endpoints = await lab.webhooks.readAll(of);
  const rows = endpoints.map((endpoint): Part[] => [
    html`<a href="${pages}/${endpoint.id}">${endpoint.url ?? endpoint.id}</a>`,
    endpoint.eventTypes.join(', ') || 'all',
    endpoint.disabled ? 'disabled' : 'enabled',
  ]);
  const content = html`${table(['Address', 'Events', 'Now'], rows, 'There are no endpoints.')}
    <h2>Register an endpoint</h2>
    ${form(pages, 'Register', { fields: [url, eventTypes], ...sent })}`;
  return show(reply, 'Webhook endpoints', content, { audience: 'staff', status: sent ? 422 : 200 });
}

async function endpointPage(lab: LabOperations, reply: FastifyReply, of: WebhookPlace, id: string, problem?: Problem) {
  const [endpoint, headers] = [await lab.webhooks.read(of, id), await headersPart(lab, of, id)];
  const here = `${pages}/${id}`;
  const fields: Field[] = [
    { ...url, value: endpoint.url ?? '' },
    { name: 'description', label: 'Description', required: false, value: endpoint.description ?? '' },
    { ...eventTypes, value: endpoint.eventTypes.join(', ') },
  ];
  const content = html`<p><strong id="phase">${endpoint.disabled ? 'disabled' : 'enabled'}</strong></p>
    ${times(endpoint)} ${form(`${here}/change`, 'Change', { fields, problem })}
    ${endpoint.disabled ? form(`${here}/enable`, 'Enable') : form(`${here}/disable`, 'Disable')}
    <h2>Headers</h2>
    ${headers}
    <h2>Signing secret</h2>
    ${form(`${here}/rotate`, 'Rotate the secret')}
    <h2>Delete</h2>
    ${form(`${here}/delete`, 'Delete the endpoint')}`;
  return show(reply, 'Webhook endpoint', content, { audience: 'staff', status: problem ? 422 : 200 });
}

function times({ createdAt, updatedAt }: WebhookEndpoint): Html {
  return html`${createdAt !== undefined && html`<p>Registered ${moment(createdAt)}</p>`}
  ${updatedAt !== undefined && html`<p>Changed ${moment(updatedAt)}</p>`}`;
}

/** Without encryption the headers are not read, because one of them may be a credential: the page says so. */
async function headersPart(lab: LabOperations, of: WebhookPlace, id: string): Promise<Html> {
  try {
    const { headers, sensitive } = await lab.webhooks.readHeaders(of, id);
    const written = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const field: Field = {
      ...{ name: 'headers', label: 'All headers', type: 'area', required: false, value: written.join('\n') },
      hint: 'One in a line, as name: value. They replace all headers.',
    };
    const again = sensitive.length > 0 && `These are not shown, and must be given again: ${sensitive.join(', ')}`;
    return form(`${pages}/${id}/headers`, 'Set the headers', { fields: [field], above: again });
  } catch (error) {
    if (!isProblem(error)) throw error;
    return html`<p>${error.sentence}</p>`;
  }
}

function listOf(text = ''): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function headersOf(text = ''): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line): [string, string] => {
      const at = line.indexOf(':');
      if (at < 1) throw new FieldProblem('headers', 'must be name: value in each line');
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
