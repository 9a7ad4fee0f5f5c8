import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { errors, LabOperations } from '../../client/index.js';
import { withIdentityOf } from '../../client/payload-limit.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { webhookEndpointsId } from '../../protocol/ids.js';
import { slotIdOf } from '../../protocol/appointment/slots.js';
import { operatorCall } from '../../workflows/operator-calls.js';
import { submitReport } from '../../workflows/report/submit.js';
import { parsingJob } from '../../workflows/report/workflow.js';
import { stopPlacing } from '../../workflows/placing-stop.js';
import { snapshot, start, life as appointmentLife, reading } from './appointment/appointments.js';
import { begin as beginDeletion, opening as ofDeletion, userId, usual } from './deletion/lives.js';
import { Life, silent } from './life.js';
import { life as linkLife } from './link/links.js';
import { life as reviewLife, shown as shownReview, item } from './match-review/reviews.js';
import { began, jobId, snapshot as jobSnapshot, userId as reportsUser } from './report/jobs.js';
import { rejection } from './service/recording-server.js';

/* Who sends a command: from the client to what state and case file show of it. Those of orders are with their lives. */

const by = 'nurse-7';
const other = 'nurse-8';
const placingReason = 'recalled test';

/** Leads nowhere, until the test has ended. */
function connection(): Connection {
  const lazy = Connection.lazy({ address: '127.0.0.1:1' });
  onTestFinished(() => lazy.close());
  return lazy;
}

/** A client whose Temporal is nowhere: what it would send is recorded, and then fails. */
function recording(options: { identity?: string; actor?: string } = {}) {
  const sent: unknown[] = [];
  const record = (input: { args?: readonly unknown[] } | { options: { args?: readonly unknown[] } }): never => {
    sent.push(...(('args' in input ? input.args : 'options' in input ? input.options.args : undefined) ?? []));
    throw new errors.OrderEnded('recorded');
  };
  const workflow: WorkflowClientInterceptor[] = [
    {
      startUpdate: record,
      signal: record,
      startWithDetails: record,
      startUpdateWithStart: ({ updateArgs }) => record({ args: updateArgs }),
    },
  ];
  const { actor, ...client } = options;
  const temporal = new Client({ connection: connection(), interceptors: { workflow }, ...client });
  const lab = new LabOperations(temporal, { encryption: 'optional', ...(actor !== undefined && { actor }) });
  return { lab, sent };
}

describe('an actor', () => {
  const noActors = ['Invented Person', 'invented@example.com', '', 'x'.repeat(129), 7] as string[];
  test.each(noActors)('that is not an id (%j) is refused before anything is sent, and not repeated', async (actor) => {
    const { lab } = recording();
    const given = [async () => recording({ actor }), async () => lab.as(actor), () => LabOperations.connect({ actor })];
    for (const give of given) {
      const refused = await rejection(give());
      expect(refused).toBeInstanceOf(errors.ActorInvalid);
      expect(String(refused)).not.toMatch(/invented/i);
    }
  });

  test('may come from LABOPS_ACTOR, which is checked as well', async () => {
    vi.stubEnv('LABOPS_ACTOR', 'Invented Person');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await rejection(LabOperations.connect())).toBeInstanceOf(errors.ActorInvalid);
  });

  test.each<[string, (lab: LabOperations) => Promise<unknown>]>([
    ['a command', async ({ notifications }) => notifications.discard('kit-order/invented', { ids: ['invented'] })],
    ['a deletion', async ({ users }) => users.requestDeletion({ userId: randomUUID() })],
    ['an operator’s call', async ({ rejectedEvents }) => rejectedEvents.discard('17', { reason: 'invented' })],
    ['a stop of placing', async ({ placing }) => placing.stop({ reason: placingReason })],
  ])('is in %s; without one the command has none', async (_what, command) => {
    const { lab, sent } = recording();
    for (const of of [lab, lab.as(by), lab.as(other)]) await rejection(command(of));
    expect(sent).toMatchObject([{}, { by }, { by: other }]);
    expect(sent[0]).not.toHaveProperty('by');
  });

  test('is the identity of its calls, unless the Temporal client has one of its own', async () => {
    const identityOf = (client: Client, actor?: string) => withIdentityOf(client, actor).options.identity;
    const usualOne = new Client({ connection: connection() });
    expect(identityOf(usualOne)).toBe(`${process.pid}@${hostname()}`);
    expect(identityOf(usualOne, by)).toBe(by);
    expect(identityOf(new Client({ connection: connection(), identity: 'orders-service' }), by)).toBe('orders-service');
  });

  test('shares the connections of the client that it comes from, and closes none of them', async () => {
    const close = vi.fn<() => Promise<void>>().mockResolvedValue(undefined);
    const lab = new LabOperations(new Client({ connection: connection() }), { encryption: 'optional' }, close);
    await lab.as(by).as(other).close();
    expect(close).not.toHaveBeenCalled();
    await lab.close();
    expect(close).toHaveBeenCalledOnce();
  });
});

const shownBy = ({ run }: Life) => run.shown.details.match(/, by `([^`]+)`/g) ?? [];
const stateOf = async ({ run }: Life) => (await run.query('state')) as Record<string, unknown>;

const ofReport = { reference: 'report-1', userId: reportsUser, policy: resolvePolicy('report') };

async function jobLife(): Promise<Life> {
  const shown = jobSnapshot('started');
  const identifyJob = { snapshot: shown, gone: false, notifies: true, owner: { kind: 'none' } };
  const opening = { workflow: parsingJob, type: 'parsingJob', workflowId: `parsing-job/${jobId}`, now: began };
  const job = new Life(opening, { identifyJob, readParsingJob: shown, notify: silent });
  const argument = { ...ofReport, snapshot: shown, adopted: false, notifies: true };
  return job.start({ jobId, policy: ofReport.policy }, { name: 'reportSubmitted', argument });
}

async function submissionLife(): Promise<Life> {
  const opening = { workflow: submitReport, type: 'submitReport', workflowId: 'submit-report/report-1', now: began };
  return new Life(opening, { uploadReport: silent }).start({ ...ofReport, file: { path: 'report.pdf' } });
}

describe('state and case file show who', () => {
  test('decided about an unmatched result, and not who repeats that', async () => {
    const sent: unknown[] = [];
    const decideMatchReview = (_now: number, decision: unknown) => {
      sent.push(decision);
      return { ...shownReview(item({ status: 'pending_ops_review', allowedActions: [] })), isOurs: true };
    };
    const review = await reviewLife(item(), { decideMatchReview });
    for (const actor of [by, other]) await review.update('markUnsure', { note: 'invented', by: actor });
    const { decision, timeline } = await stateOf(review);
    expect(decision).toMatchObject({ action: 'unsure', by });
    expect(timeline).toContainEqual(expect.objectContaining({ what: 'decided: unsure', by }));
    expect(shownBy(review)).toEqual([', by `nurse-7`']);
    expect(sent).toHaveLength(1);
    expect(sent[0]).not.toHaveProperty('by');
  });

  test('requested a deletion and undid it, and not who joined them', async () => {
    const deletion = await beginDeletion(new Life(ofDeletion, { ...usual, undoDeletion: silent }), { userId, by });
    await deletion.update('request', { userId, by: other });
    await deletion.update('undo', { by: 'nurse-9' });
    await deletion.update('undo', { by: other });
    await deletion.given({ undoDeletion: null });
    const { result } = deletion.run.end as { result: object };
    expect(result).toMatchObject({ requestedBy: by, undo: { by: 'command', undoneBy: 'nurse-9' } });
    expect(shownBy(deletion)).toEqual([', by `nurse-7`', ', by `nurse-9`']);
    expect(JSON.stringify(deletion.announced)).not.toContain('nurse');
  });

  test('requested the deletion that cancels running work: each cancellation is theirs', async () => {
    const work = [{ workflowId: 'kit-order/a', name: 'kitOrder' }];
    const cancelled: unknown[] = [];
    const cancelWork = (_now: number, given: unknown) => (cancelled.push(given), { fate: 'cancelled' });
    const life = new Life(ofDeletion, { ...usual, findRunningWork: { work, notifies: true }, cancelWork });
    const deletion = await beginDeletion(life, { userId, by, policy: { onRunningWork: 'cancel' } });
    expect(cancelled).toEqual(work.map((each) => ({ ...each, by })));
    expect(await stateOf(deletion)).toMatchObject({ work: [{ workflowId: 'kit-order/a', fate: 'cancelled' }] });
    expect(JSON.stringify(deletion.announced)).not.toContain('nurse');
  });

  test('stopped following a report, or cancelled its submission', async () => {
    for (const of of [await jobLife(), await submissionLife()]) {
      for (const actor of [by, other]) await of.update('cancel', { by: actor });
      expect(shownBy(of)).toEqual([', by `nurse-7`']);
    }
  });

  test('made a decision whose answer was lost', async () => {
    const lost = { failure: { type: 'AnswerLost' } };
    const review = await reviewLife(item(), { decideMatchReview: lost });
    await review.update('reject', { by });
    const rejected = item({ status: 'resolved', resolutionAction: 'rejected', allowedActions: [] });
    await review.given({ readMatchReview: shownReview(rejected) }, 1);
    expect(review.run.end).toMatchObject({ result: { phase: 'rejected', decision: { action: 'reject', by } } });
    expect(shownBy(review)).toEqual([', by `nurse-7`', ', by `nurse-7`']);
  });

  test('cancelled a link', async () => {
    const link = await linkLife({}, { notify: silent });
    for (const actor of [by, other]) await link.update('cancel', { by: actor });
    expect((await stateOf(link))['timeline']).toContainEqual(expect.objectContaining({ what: 'cancelled', by }));
    expect(shownBy(link)).toEqual([', by `nurse-7`']);
  });

  const slot = { day: '2026-03-06', start: '2026-03-06T10:00:00.000Z', end: '2026-03-06T11:00:00.000Z' };
  const confirmed = snapshot(['pending', 'confirmed']);
  test.each<[string, object, Parameters<typeof appointmentLife>[3]]>([
    ['chooseSlot', { slotId: slotIdOf(slot) }, { bookSlot: confirmed }],
    ['requestAppointment', { provider: 'invented' }, { requestAppointment: confirmed }],
    ['reschedule', { slotId: slotIdOf(slot) }, { rescheduleAppointment: confirmed }],
    ['cancel', { rebook: true }, { cancelAppointment: snapshot(['confirmed', 'cancelled']) }],
  ])('sent %s to an appointment', async (name, given, answers) => {
    const isThere = name === 'reschedule' || name === 'cancel';
    const sentBy = async (actor: string | null, answered: typeof answers) => {
      const appointment = await appointmentLife(reading(isThere ? confirmed : undefined), {}, true, answered);
      await appointment.update(name, { ...given, by: actor });
      return appointment;
    };
    const appointment = await sentBy(by, answers);
    expect(shownBy(appointment)).toEqual([', by `nurse-7`']);
    expect((await stateOf(appointment))['timeline']).toContainEqual(expect.objectContaining({ by }));
    expect(shownBy(await sentBy(null, answers))).toEqual([]);
    const lost = Object.keys(answers ?? {}).map((call) => [call, { failure: { type: 'AnswerLost' } }] as const);
    expect(shownBy(await sentBy(by, Object.fromEntries(lost)))).toEqual([', by `nurse-7`']);
  });

  test('stopped placing, and who resumed it', async () => {
    const opening = { workflow: stopPlacing, type: 'stopPlacing', workflowId: 'placing-stop/lab', now: start };
    const stop = await new Life(opening, {}).start({ reason: placingReason, by });
    expect(shownBy(stop)).toEqual([', by `nurse-7`']);
    await stop.signal('resume', { by: other });
    expect(shownBy(stop)).toEqual([', by `nurse-7`', ', by `nurse-8`']);
    expect(await new Life(opening, {}).start({ reason: placingReason, by: 'Invented Person' })).toMatchObject({
      run: { end: { kind: 'failed', type: 'InvalidCommand' } },
    });
  });
});

test.each<[string, () => Promise<Life>, string, object]>([
  ['a match review', () => reviewLife(item()), 'reject', {}],
  ['a deletion', () => beginDeletion(new Life(ofDeletion, usual), { userId }), 'undo', {}],
  ['a deletion', () => beginDeletion(new Life(ofDeletion, usual), { userId }), 'request', { userId }],
  ['a link', () => linkLife(), 'cancel', {}],
  ['a report', () => jobLife(), 'cancel', {}],
  ['a submission', () => submissionLife(), 'cancel', {}],
  ['an appointment', () => appointmentLife(reading()), 'cancel', {}],
])('%s refuses an actor that is not an id, and repeats nothing', async (_what, life, name, given) => {
  const begun = await life();
  expect(await begun.update(name, { ...given, by: 'Invented Person' })).toMatchObject({ refused: 'InvalidCommand' });
  expect(JSON.stringify(begun.run.refusals)).not.toContain('Invented');
  expect(begun.run.accepted).not.toContain(name === 'request' ? undefined : name);
});

test('an operator’s call has its actor in its history only: the activity does not get it', async () => {
  const place = { orgId: 'org-1', teamId: 'team-1', environment: 'sandbox' };
  const asked: unknown[] = [];
  const listWebhooks = (_now: number, input: unknown) => (asked.push(input), []);
  const opening = { workflow: operatorCall, type: 'operatorCall', workflowId: webhookEndpointsId(place), now: 0 };
  await new Life(opening, { listWebhooks }).start({ do: 'listWebhooks', ...place, by });
  expect(asked).toEqual([place]);
  const refused = await new Life(opening, {}).start({ do: 'listWebhooks', ...place, by: 'Invented Person' });
  expect(refused.run.end).toMatchObject({ type: 'InvalidCommand', details: { fields: [{ field: 'by' }] } });
});
