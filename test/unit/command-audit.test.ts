import type { Activator } from '@temporalio/workflow/lib/internals.js';
import { expect, test } from 'vitest';
import { deleteUserId, placingStopId, rejectedEventsId } from '../../protocol/ids.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { type AuditedCommand, CommandAudit } from '../../workflows/command-audit.js';
import { operatorCall } from '../../workflows/operator-calls.js';
import { reconcileOrders } from '../../workflows/reconcile.js';
import { stopPlacing } from '../../workflows/placing-stop.js';
import { begin, opening as ofDeletion, start, userId, usual } from './deletion/lives.js';
import { type Answers, Life, silent } from './life.js';
import { opening as ofLink } from './link/links.js';
import { found, opening as ofReview, rawResultId } from './match-review/reviews.js';

const by = 'nurse-7';

/** A life whose commands are reported as in a worker. */
function audited(opening: ConstructorParameters<typeof Life>[0], answers: Answers, { isReplaying = false } = {}) {
  const life = new Life(opening, answers);
  const { activator } = life.run as unknown as { activator: Activator };
  const audit = new CommandAudit();
  activator.interceptors.inbound.push(audit);
  activator.interceptors.internals.push(audit);
  const replaying = { isReplayingHistoryEvents: isReplaying };
  activator.mutateWorkflowInfo((info) => ({ ...info, unsafe: { ...info.unsafe, ...replaying } }));
  const commands = () =>
    activator.sinkCalls.flatMap(({ ifaceName, args }) => (ifaceName === 'audit' ? (args as AuditedCommand[]) : []));
  const inBrief = () => commands().map(({ action, outcome, by: actor = '-' }) => `${actor} ${action} ${outcome}`);
  return { life, commands, inBrief };
}

const attributes = [{ key: labUserIdKey, value: userId }];

test('a command is reported once it is answered, with its sender, what came of it and what it was about', async () => {
  const { life, commands, inBrief } = audited({ ...ofDeletion, attributes }, usual);
  await begin(life, { userId, by });
  await life.update('undo', { by: 'Not An Id' });
  await life.given({ readUser: { standing: 'scheduled' } }, 8 * 24);
  const undone = '- deleteUser.undo InvalidCommand';
  expect(inBrief()).toEqual(['nurse-7 deleteUser.request done', undone, '- deleteUser deleted']);
  const subjects = [deleteUserId(userId), userId];
  expect(commands()).toMatchObject([{ subjects }, { subjects }, { subjects }]);
  expect(new Set(commands().map(({ event }) => event)).size, 'each has an event of its own').toBe(3);
});

test('an operator’s call is reported with its name and the event that it is about, or its refusal', async () => {
  const workflowId = rejectedEventsId('unique');
  const opening = { workflow: operatorCall, type: 'operatorCall', workflowId, now: start };
  const discarding = audited(opening, { discardRejectedEvent: { id: '17', state: 'discarded' } });
  await discarding.life.start({ do: 'discardRejectedEvent', id: '17', reason: 'invented', by });
  expect(discarding.commands()).toEqual([
    expect.objectContaining({
      ...{ action: 'operatorCall.discardRejectedEvent', by, outcome: 'done', subjects: [workflowId, '17'] },
    }),
  ]);
  const unknown = audited(opening, {});
  await unknown.life.start({ do: 'Invented Person', by });
  expect(unknown.inBrief()).toEqual(['nurse-7 operatorCall InvalidCommand']);
});

test('a stop of placing and its end name who asked for each', async () => {
  const opening = { workflow: stopPlacing, type: 'stopPlacing', workflowId: placingStopId('model'), now: start };
  const { life, inBrief } = audited(opening, {});
  await life.start({ reason: 'recalled test', by });
  await life.signal('resume', { by: 'nurse-8' });
  expect(inBrief()).toEqual(['nurse-7 stopPlacing started', 'nurse-8 stopPlacing.resume done', '- stopPlacing done']);
});

test('who starts work is reported once, though it continues in a new run', async () => {
  const inputs = { userId, provider: 'oura', policy: resolvePolicy('link'), by };
  const link = audited(ofLink(`link-provider/${userId}/oura`), {});
  await link.life.start(inputs);
  expect(link.inBrief()).toEqual(['nurse-7 linkProvider started']);
  expect(link.commands()[0]?.subjects, 'the search attributes come later').toContain(userId);
  const next = audited({ ...ofLink(`link-provider/${userId}/oura`), continuedFrom: 'run-0' }, {});
  await next.life.start(inputs);
  expect(next.commands()).toEqual([]);
});

test('a reconciliation of a range names who started it, and one of the schedule is not reported', async () => {
  const workflowId = 'reconcile-orders/lab';
  const opening = { ...ofReview, workflow: reconcileOrders, type: 'reconcileOrders', workflowId };
  const asked = audited(opening, { reconcilePage: silent });
  await asked.life.start({ from: '2026-01-05', to: '2026-01-06', by });
  expect(asked.inBrief()).toEqual(['nurse-7 reconcileOrders started']);
  const scheduled = audited(opening, { reconcilePage: silent });
  await scheduled.life.start({});
  expect(scheduled.commands()).toEqual([]);
});

test('a request that joins a run is reported with its sender, as that with the start is', async () => {
  const review = audited(ofReview, { identifyMatchReview: found(), readMatchReview: silent });
  const requested = { name: 'reviewRequested', argument: { by } };
  await review.life.start({ rawResultId, policy: resolvePolicy('match review') }, requested);
  await review.life.signal('reviewRequested', { by: 'nurse-8' });
  const request = 'matchReview.reviewRequested done';
  expect(review.inBrief()).toEqual([`nurse-7 ${request}`, `nurse-8 ${request}`]);
});

test('nothing is reported in a replay', async () => {
  const { life, commands } = audited({ ...ofDeletion, attributes }, usual, { isReplaying: true });
  await begin(life, { userId, by });
  expect(commands()).toEqual([]);
});
