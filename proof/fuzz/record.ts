import { mkdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { ids } from '../../tools/service-check/ids.js';
import { sandboxControl, type SandboxControl } from '../../sandbox/control.js';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { labAccountIds, labTestIds, inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { startLabService } from '../../sandbox/lab-service/server.js';
import { serveHttp } from '../../sandbox/temporal/ports.js';
import { createLabService } from '../../service/lab-service.js';
import { sampleCalls } from '../../tools/service-check/calls.js';

/** Answers that the sandbox does not give to the sample requests, in the forms of docs/internals/lab-service.md. */

const appointment = {
  id: 'cb1c2d3e-4f50-4617-8293-a4b5c6d7e8f9',
  user_id: ids.userId,
  order_id: ids.orderId,
  order_transaction_id: ids.transactionId,
  address: {
    first_line: '77 Fictional Avenue',
    second_line: null,
    city: 'Nowhereville',
    state: 'IL',
    zip_code: '62701',
  },
  location: { lng: -89.6, lat: 39.8 },
  start_at: '2026-02-03T15:00:00',
  end_at: '2026-02-03T16:00:00',
  iana_timezone: 'America/Chicago',
  type: 'phlebotomy',
  provider: 'invented_visits',
  provider_id: 'invented-1',
  external_id: 'INV-1',
  status: 'confirmed',
  event_status: 'scheduled',
  event_data: null,
  can_reschedule: true,
  appointment_notes: null,
  events: [{ created_at: '2026-02-01T10:00:00Z', status: 'scheduled', data: null }],
};

const webhook = {
  id: ids.webhookId,
  url: 'https://product.example.com/webhooks',
  description: 'Invented',
  rate_limit: 10,
  disabled: false,
  filter_types: ['labtest.order.updated'],
  created_at: '2026-01-05T10:00:00Z',
  updated_at: '2026-01-05T10:00:00Z',
};

const orgKey = {
  id: ids.keyId,
  label: 'Invented',
  created_at: '2026-01-05T10:00:00Z',
  creator: { type: 'management_key', id: ids.keyId },
  role: 'team_admin',
  team_role_bindings: [{ team_id: ids.teamId }],
};

const teamKey = {
  id: ids.keyId,
  label: 'Invented',
  value: 'sk_invented',
  team_id: ids.teamId,
  created_at: '2026-01-05T10:00:00Z',
};

const byName: Readonly<Record<string, unknown>> = {
  'management.webhooks.list': { data: [webhook], next_cursor: null },
  'management.webhooks.create': webhook,
  'management.webhooks.get': webhook,
  'management.webhooks.update': webhook,
  'management.webhooks.delete': {},
  'management.webhooks.getHeaders': { headers: { 'x-invented': 'invented' }, sensitive: ['authorization'] },
  'management.webhooks.setHeaders': {},
  'management.webhooks.getSecret': { key: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  'management.webhooks.rotateSecret': {},
  'management.managementKeys.create': { ...orgKey, key: 'mk_invented' },
  'management.managementKeys.delete': {},
  'management.teamApiKeys.list': { api_keys: [teamKey], next_cursor: null },
  'management.teamApiKeys.create': teamKey,
};

const withAppointment = /^(?:appointments|walkIns)\.(?:book|request|reschedule|cancel|get)\b/;

function byHand(call: string): unknown {
  return withAppointment.test(call) ? appointment : byName[call];
}

/*
 * `npx tsx proof/fuzz/record.ts` writes seeds/: webhooks of every kind as the sandbox sends them, and its answer to every call of
 * the client. The fuzz mutates them. They are files, so a seed repeats the same cases.
 */

const key = 'sk_invented';
const managementKey = 'mk_invented';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const folder = join(import.meta.dirname, 'seeds');

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const webhooks: object[] = [];
const receiver = await serveHttp(async (request, response) => {
  webhooks.push(JSON.parse((await bodyOf(request)).toString()) as object);
  response.writeHead(204).end();
});
const sandbox = await startLabService({
  port: 0,
  apiKey: key,
  managementKey,
  settings: { webhookUrl: `${receiver.url}/webhooks`, webhookSecrets: [secret] },
});
const control: SandboxControl = sandboxControl(sandbox.url);

/** Plays what sends each kind of webhook, and returns the ids of what the calls can read then. */
async function play(): Promise<Record<string, string>> {
  const { user } = await control.createUser({ client_user_id: 'product user/1' });
  const { order, order_transaction_id: transactionId } = await control.createOrder({
    user_id: user.user_id,
    patientKnown: true,
    passthrough: 'labops/default:-:order-1001:1',
  });
  for (const status of ['transit_customer', 'out_for_delivery', 'with_customer', 'transit_lab', 'delivered_to_lab'])
    await control.move(order.id, status);
  await control.move(order.id, { status: 'completed', interpretation: 'critical' });
  await control.reportCritical(order.id);
  const failed = await control.createOrder({ user_id: user.user_id });
  await control.move(failed.order.id, { status: 'sample_error', status_detail: 'sample_hemolyzed' });
  await control.redraw(failed.order.id);
  const { id: jobId } = (await control.createJob({ user_id: user.user_id })) as unknown as { id: string };
  await control.moveJob(jobId, { status: 'completed', results: 'sample' });
  await control.connect(user.user_id, { provider: 'invented_watch' });
  await control.breakConnection(user.user_id, { provider: 'invented_watch' });
  await control.connect(user.user_id, { provider: 'invented_watch' });
  for (const kind of ['summary', 'samples', 'workout_stream', 'history'] as const)
    await control.sendHealthData(user.user_id, { kind });
  for (const variant of ['intervals', 'some_without_time', 'without_user'] as const)
    await control.sendHealthData(user.user_id, { kind: 'untidy', variant });
  const { id: rawResultId } = await control.createMatchReview({ decision_code: 'no_match' });
  await control.settleWebhooks();
  return { userId: user.user_id, orderId: order.id, transactionId, jobId, rawResultId };
}

const played = await play();
const real: Record<string, string> = {
  ...played,
  orgId: inventedOrgId,
  teamId: inventedTeamId,
  labTestId: labTestIds.kit,
  accountId: Object.values(labAccountIds)[0] ?? '',
};
const pairs = Object.entries(real).map(([name, id]) => [ids[name as keyof typeof ids], id] as const);
const toReal = (text: string) => pairs.reduce((done, [sample, id]) => done.replaceAll(sample, id), text);
const toSample = (text: string) => pairs.reduce((done, [sample, id]) => done.replaceAll(id, sample), text);

interface Answered {
  call: string;
  status: number;
  body: unknown;
}

/** What the sandbox refuses here, because the sample requests come one after the other, is answered like another call. */
const alike: Readonly<Record<string, string>> = {
  'users.undoDelete: by client user id': 'users.undoDelete',
  'orders.register': 'orders.create',
  'orders.register: with all fields': 'orders.create',
  'orders.cancel': 'orders.createTestkit',
  'providers.deregister': 'users.delete',
  'documents.beneficiaryNotice': 'documents.requisition',
  'reports.createJob': 'reports.getJob',
  'matchReviews.accept': 'matchReviews.accept: of an order',
  'matchReviews.resolve': 'matchReviews.get',
  'walkIns.availability': 'appointments.availability',
  'walkIns.availability: near': 'appointments.availability',
};

let present = '';
const answers: Answered[] = [];
const between = await serveHttp(async (request, response) => {
  const { host: _, 'content-length': __, 'transfer-encoding': ___, ...headers } = request.headers;
  const sent = await bodyOf(request);
  const body =
    sent.length === 0 ? undefined : String(headers['content-type']).includes('json') ? toReal(sent.toString()) : sent;
  const init = { method: request.method ?? 'GET', headers: headers as Record<string, string>, ...(body && { body }) };
  const answer = await fetch(sandbox.url + toReal(request.url ?? ''), init);
  const text = toSample(await answer.text());
  answers.push({ call: present, status: answer.status, body: jsonOf(text) });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' }).end(text);
});

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The one success of each call; a refusal beside it stays too. */
function usual(recorded: readonly Answered[]): Answered[] {
  const good = (name: string) => recorded.find(({ call, status }) => call === name && status < 300);
  return sampleCalls.flatMap(({ name }): Answered[] => {
    const refusals = recorded.filter(({ call, status }) => call === name && status >= 300);
    const body = byHand(name) ?? (good(name) ?? good(alike[name] ?? ''))?.body;
    return body === undefined ? refusals : [{ call: name, status: 200, body }, ...refusals];
  });
}

const service = createLabService({ baseUrl: between.url, apiKey: key, managementKey });
for (const { name, run } of sampleCalls) {
  present = name;
  await run(service).catch(() => undefined);
}
await service.close();
await mkdir(folder, { recursive: true });
const written = (value: unknown) => `${toSample(JSON.stringify(value, undefined, 1))}\n`;
await writeFile(join(folder, 'webhooks.json'), written(webhooks));
await writeFile(join(folder, 'answers.json'), written(usual(answers)));
await sandbox.close();
await Promise.all([receiver.close(), between.close()]);
