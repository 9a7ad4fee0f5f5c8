import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Lab } from './lab.js';
import { pathChoice, type OrgAccess } from './org-access.js';
import { ORG_ID, PLAYED } from './organisation.js';
import type { Json } from './order-body.js';
import { pathUuid } from './path-ids.js';
import { refusal } from './problems.js';
import type { LabAccount } from './seed.js';
import { Fields, oneOf, uuid } from './validation.js';

const ACCOUNTS = '/v1/org/:org_id/lab_account/:env/:region';

/** Lab accounts of the organisation: the seed's, in the place that the stand-in plays; none elsewhere. */
export function orgLabAccountRoutes(app: FastifyInstance, lab: Lab, access: OrgAccess): void {
  app.get(ACCOUNTS, (request) => {
    const { teamIds } = access.manager(request);
    const accounts = accountsAt(lab, request);
    const fields = Fields.ofQuery(request.query);
    const id = fields.optionalString('lab_account_id', uuid);
    const teamId = fields.optionalString('team_id', uuid);
    const status = fields.optionalString('status', oneOf('active', 'pending', 'suspended', 'ready_to_launch'));
    fields.finish();
    const data = accounts.filter(
      (account) =>
        (id === null || account.id === id) &&
        (status === null || account.status === status) &&
        (teamId === null || account.team_id_allowlist.includes(teamId)) &&
        (teamIds === null || account.team_id_allowlist.some((allowed) => teamIds.includes(allowed))),
    );
    return { data: data.map(accountBody) };
  });

  app.patch(`${ACCOUNTS}/:account_id`, (request) => {
    access.orgAdmin(request);
    const id = pathUuid(request, 'account_id');
    if (!accountsAt(lab, request).some((account) => account.id === id)) throw refusal(404, 'Lab account not found');
    const fields = Fields.ofBody(request.body);
    if (!fields.has('team_id_allowlist')) fields.string('team_id_allowlist');
    const teamIds = fields.optionalStrings('team_id_allowlist', uuid) ?? [];
    fields.finish();
    lab.organisation.allow(id, teamIds);
    const account = lab.organisation.labAccounts().find((other) => other.id === id);
    return { lab_account: account === undefined ? null : accountBody(account) };
  });
}

function accountsAt(lab: Lab, request: FastifyRequest): LabAccount[] {
  const environment = pathChoice(request, 'env', 'production', 'sandbox');
  const region = pathChoice(request, 'region', 'us', 'eu');
  return environment === PLAYED.environment && region === PLAYED.region ? lab.organisation.labAccounts() : [];
}

function accountBody(account: LabAccount): Json {
  return { ...account, org_id: ORG_ID };
}
