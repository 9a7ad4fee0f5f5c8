import { inspect } from 'node:util';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import Long from 'long';
import { afterAll, describe, expect, test } from 'vitest';
import { LabOperationsError } from '../../service/lab-operations-error.js';
import { createLabService, type WebhookPlace } from '../../client/index.js';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { kitFor, registration, visitFor } from '../rig/cast.js';
import { labops } from './labops.js';
import { startLink, rightCode } from './linked-user.js';
import { expectNothingReadable } from './raw-history.js';
import { patience, stack } from './stack.js';

/*
 * The lab service's refusals may quote the person whom they refuse. Here every call is refused with a text that quotes
 * an invented person, and that text must be nowhere but in encrypted payloads and before the caller.
 */

const lab = stack();
const begun = new Date();

const person = 'Quotina Marksdottir of 12 Imaginary Row, Nowhereville, born April 5, 1981, MRN A7654321';
const marks = /Quotina|Marksdottir|Imaginary Row|April 5|A7654321/i;

/** The shapes that the service's errors have. */
const bodies: readonly unknown[] = [
  { detail: `${person} could not be verified` },
  {
    detail: [
      {
        type: 'value_error',
        loc: ['body', 'patient_details', 'first_name'],
        msg: `${person} is not known`,
        input: person,
      },
      { type: 'Quotina Marksdottir', loc: ['body', 'answers', 'Quotina Marksdottir'], msg: person, ctx: { person } },
    ],
  },
  { error: 'Bad Request', message: `${person} was refused` },
  `${person} has an order already`,
  { detail: { error_type: `refused ${person}`, error_message: `${person} was refused` } },
];

async function quoting(path: string, status = 422, times: number | null = null): Promise<void> {
  const body = bodies[(await lab.sandbox.requests({})).length % bodies.length];
  await lab.sandbox.addFault({ path, times, action: { kind: 'answer', status, body } });
}

async function refusedEvery(path: string, act: () => Promise<unknown>): Promise<void> {
  for (const body of bodies) {
    const id = await lab.sandbox.addFault({ path, action: { kind: 'answer', status: 422, body } });
    const refusal: unknown = await act().catch((error: unknown) => error);
    await lab.sandbox.removeFaults(id);
    if (!(refusal instanceof LabOperationsError)) throw new Error(`${path} was not refused: ${String(refusal)}`);
    expect(everyText(refusal)).not.toMatch(marks);
    expect(`${refusal.serviceSentence} ${JSON.stringify(refusal.fields)}`, 'the caller reads why').toMatch(/Quotina/);
  }
}

/** What a product's log would show of an error. */
function everyText(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return [inspect(error), JSON.stringify(error), error.message, error.stack, everyText(error.cause)].join('\n');
}

const service = createLabServiceOf();
function createLabServiceOf() {
  let made: ReturnType<typeof createLabService> | undefined;
  afterAll(() => made?.close());
  return () => (made ??= createLabService({ baseUrl: lab.service.url, apiKey: lab.service.apiKey }));
}

async function visit() {
  const { order } = await service().orders.create(visitFor(await lab.newUser()));
  return lab.labs.appointments.start({ orderId: order.id });
}

describe('a refusal that quotes a person', () => {
  test('the caller alone reads the refusal of an order', async () => {
    await refusedEvery('/v3/order/testkit', async () => {
      const handle = await lab.labs.orders.place(kitFor(await lab.newUser(), `quoted-${randomUUID()}`));
      return handle.orderId();
    });
  });

  test('the caller alone reads the refusals of a registration, a cancellation and a replacement', async () => {
    // A replacement is not retried before an earlier attempt must have ended.
    const { handle, orderId } = await lab.place({ creationTimeout: '1s', creationSettling: '2s' });
    const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
    await refusedEvery('/v3/order/testkit/register', () =>
      handle.register({ registration: registration(sampleId ?? '') }),
    );
    await refusedEvery('/v3/order/*/cancel', () => handle.cancel());
    await lab.sandbox.move(orderId, 'transit_customer');
    await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
    await refusedEvery('/v3/order/testkit', () => handle.replaceKit({ orderId }));
  });

  test('the caller alone reads the refusals of a link and its code', async () => {
    await refusedEvery('/v2/link/token', async () => {
      const handle = await lab.labs.links.start({ userId: await lab.newUser(), provider: 'invented_band' });
      return handle.url();
    });
    const user = await startLink(lab);
    await user.logIn('mfa-sms');
    await refusedEvery('/v2/link/provider/**', () => user.submit(rightCode));
  });

  test('the caller alone reads the refusal of a report', async () => {
    await writeFile(join(lab.reportRoot, 'quoted.pdf'), samplePdf(['labops-sandbox: stuck']));
    await refusedEvery('/lab_report/v1/parser/job', async () => {
      const handle = await lab.labs.reports.submit({
        reference: `quoted-${randomUUID()}`,
        userId: await lab.newUser(),
        file: { path: 'quoted.pdf' },
      });
      return handle.jobId();
    });
  });

  test('the caller alone reads the refusal of an appointment', async () => {
    const handle = await visit();
    await refusedEvery('/v3/order/phlebotomy/appointment/availability', () => handle.slots());
    const { slots } = await handle.slots();
    const slotId = slots[0]?.id ?? '';
    await refusedEvery('/v3/order/*/phlebotomy/appointment/book', () => handle.choose({ slotId }));
  });

  test('the caller alone reads the refusals of a deletion and its undo', async () => {
    await refusedEvery('/v2/user/*', async () => lab.labs.users.requestDeletion({ userId: await lab.newUser() }));
    const handle = await lab.labs.users.requestDeletion({ userId: await lab.newUser() });
    await refusedEvery('/v2/user/undo_delete', () => handle.undo());
  });

  test('the caller alone reads the refusal of webhook endpoints', async () => {
    const place: WebhookPlace = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };
    await refusedEvery('/v1/org/**', () => lab.labs.webhooks.readAll(place));
  });

  test('the command line shows the refusal to the operator', async () => {
    const { orderId } = await lab.place();
    await quoting('/v3/order/*/cancel');
    const args = ['orders', 'cancel', orderId];
    const shown = await labops(lab, args);
    expect(shown.stderr).toMatch(/^CancelRefused: .*Quotina/);
    const inJson = await labops(lab, [...args, '-o', 'json']);
    const { error } = JSON.parse(inJson.stderr) as { error: Record<string, unknown> };
    expect(error['message']).not.toMatch(marks);
    expect(JSON.stringify(error)).toMatch(marks);
  });
});

test('none of it is in a log, a search attribute or a readable part of a history, also in outages and while work is under way', async () => {
  const { handle, orderId } = await lab.place();
  await quoting('/v3/order/*/cancel', 503, 1);
  await handle.cancel();
  await lab.untilIdle(orderId);
  const waiting = await visit();
  await quoting('/**', 503);
  const pending = await lab.labs.orders.place(kitFor(randomUUID(), `quoted-${randomUUID()}`));
  expect(pending.reference).toMatch(/^quoted-/);
  await expect
    .poll(() => lab.worker.output(), patience)
    .toMatch(/"activityType":"createKitOrder".*Activity failed|Activity failed.*"activityType":"createKitOrder"/);
  expect(waiting.orderId).not.toBe('');

  for (const output of [lab.worker.output(), lab.ingress.output(), lab.sandboxOutput])
    expect(output).not.toMatch(marks);
  expect(lab.worker.output(), 'the refusals were logged').toMatch(/was refused with status 422/);

  const { workflowService } = lab.rig.client.connection;
  const blind = new Client({ connection: lab.rig.client.connection });
  let seen = 0;
  const { namespace } = lab.rig;
  const query = `StartTime > '${begun.toISOString()}'`;
  const { executions } = await workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1_000 });
  for (const { execution } of executions) {
    const description = await workflowService.describeWorkflowExecution({ namespace, execution: execution ?? null });
    const { workflowId, runId } = execution ?? {};
    const history = await blind.workflow.getHandle(workflowId ?? '', runId ?? '').fetchHistory();
    for (const message of [description, history]) {
      expectNothingReadable(message, 'invented', marks);
      // As they are written: in base64 any of them may turn up in another case.
      expect(JSON.stringify(message)).not.toMatch(new RegExp(marks.source));
    }
    seen += 1;
  }
  expect(seen).toBeGreaterThan(20);
});

test('an activity that the worker does not know is logged without its input', async () => {
  const { connection } = lab.rig.client;
  const taskQueue = `unknown-activity-${randomUUID()}`;
  const { namespace } = lab.rig;
  const payload = { metadata: { encoding: Buffer.from('binary/plain') }, data: Buffer.from(person) };
  const workflowId = `quoted-${randomUUID()}`;
  await connection.workflowService.startWorkflowExecution({
    namespace,
    workflowId,
    requestId: randomUUID(),
    workflowType: { name: 'ofALaterRelease' },
    taskQueue: { name: taskQueue },
  });
  const poll = { namespace, taskQueue: { name: taskQueue }, identity: 'a worker of a later release' };
  const { taskToken } = await connection.withDeadline(Date.now() + 60_000, () =>
    connection.workflowService.pollWorkflowTaskQueue(poll),
  );
  await connection.workflowService.respondWorkflowTaskCompleted({
    namespace,
    taskToken,
    commands: [
      {
        commandType: proto.temporal.api.enums.v1.CommandType.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
        scheduleActivityTaskCommandAttributes: {
          activityId: '1',
          activityType: { name: 'activityOfALaterRelease' },
          taskQueue: { name: lab.rig.taskQueue },
          input: { payloads: [payload] },
          startToCloseTimeout: { seconds: Long.fromNumber(10) },
        },
      },
    ],
  });
  await lab.worker.waitFor(/Error while processing ActivityTask.start.*\n/);
  await connection.workflowService.terminateWorkflowExecution({ namespace, workflowExecution: { workflowId } });
  const output = lab.worker.output();
  expect(output).toMatch(/"taskEncoded":"\[redacted\]"/);
  const decoded = (output.match(/[A-Za-z0-9+/]{40,}/g) ?? []).map((text) => Buffer.from(text, 'base64').toString());
  expect(decoded.join('\n') + output).not.toMatch(marks);
});
