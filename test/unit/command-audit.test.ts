import type { Activator } from '@temporalio/workflow/lib/internals.js';
import { expect, test } from 'vitest';
import { deleteUserId, placingStopId, rejectedEventsId } from '../../protocol/ids.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { type AuditedCommand, CommandAudit } from '../../workflows/command-audit.js';
import { operatorCall } from '../../workflows/operator-calls.js';
import { stopPlacing } from '../../workflows/placing-stop.js';
import { begin, opening as ofDeletion, start, userId, usual } from './deletion/lives.js';
import { type Answers, Life } from './life.js';

const by = 'nurse-7';

/** A life whose commands are reported as in a worker. */
function audited(opening: ConstructorParameters<typeof Life>[0], answers: Answers, { isReplaying = false } = {}) {
  const life = new Life(opening, answers);
  const { activator } = life.run as unknown as { activator: Activator };
  activator.interceptors.inbound.push(new CommandAudit());
  activator.mutateWorkflowInfo((info) => ({
    ...info,
    unsafe: { ...info.unsafe, isReplayingHistoryEvents: isReplaying },
  }));
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
  expect(inBrief()).toEqual([
    'nurse-7 deleteUser.request done',
    '- deleteUser.undo InvalidCommand',
    '- deleteUser deleted',
  ]);
  expect(new Set(commands().map(({ subjects }) => subjects.join(' ')))).toEqual(
    new Set([`${deleteUserId(userId)} ${userId}`]),
  );
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

test('nothing is reported in a replay', async () => {
  const { life, commands } = audited({ ...ofDeletion, attributes }, usual, { isReplaying: true });
  await begin(life, { userId, by });
  expect(commands()).toEqual([]);
});
