import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { note } from '../../../workflows/entity/journal.js';
import {
  graceEndOf,
  isGraceOver,
  nextMoment,
  readableAt,
  reminderDueAt,
} from '../../../workflows/deletion/deadlines.js';
import { openDeletion, type Deletion } from '../../../workflows/deletion/deletion.js';
import type { DeletionRun } from '../../../workflows/deletion/run.js';
import { caseFileOf, stateOf } from '../../../workflows/deletion/view.js';
import type { DeleteUserInput, DeletionOutcome } from '../../../protocol/deletion/messages.js';
import { resolvePolicy } from '../../../protocol/policies.js';

const start = Date.parse('2026-11-02T09:00:00.000Z');

function opened(more: Partial<DeleteUserInput> = {}): Deletion {
  const policy = resolvePolicy('deletion');
  return openDeletion({ userId: 'user-1', clientUserId: 'Testperson Invented', policy, ...more }, start);
}

function scheduled(more: Partial<DeleteUserInput> = {}): Deletion {
  return { ...opened(more), scheduledAt: start + 5, phase: 'grace' };
}

describe('the grace', () => {
  test('counts from the first attempt, and its last moment is excluded', () => {
    const end = start + 5 + ms('7d');
    expect(graceEndOf(scheduled())).toBe(end);
    expect([end - 1, end, end + 1].map((now) => isGraceOver(scheduled(), now))).toEqual([false, true, true]);
  });

  test('has no moment before anything was attempted', () => {
    expect(nextMoment(opened())).toBeUndefined();
    expect(nextMoment(scheduled())).toEqual({ at: start + 5 + ms('6d'), name: 'reminder' });
  });

  test('can be looked into once what was sent has settled', () => {
    const run = (more: object) => ({ deletion: scheduled(), ...more }) as DeletionRun;
    const readable = [{ sentUntil: start + 60 }, { undoSentUntil: start + 70, sentUntil: start + 60 }];
    expect(readable.map((more) => readableAt(run(more)))).toEqual([60, 70].map((at) => start + at + 35_000));
  });

  test('is not over before anything was attempted', () => {
    expect(graceEndOf(opened())).toBeUndefined();
    expect(isGraceOver(opened(), start + ms('30d'))).toBe(false);
  });
});

describe('the reminder', () => {
  test('is due a day before the end, once', () => {
    expect(reminderDueAt(scheduled())).toBe(start + 5 + ms('6d'));
    expect(reminderDueAt({ ...scheduled(), reminded: true })).toBeUndefined();
    expect(reminderDueAt(opened())).toBeUndefined();
  });

  test.each(['1d', '12h'] as const)(
    'does not exist in a grace of %s, which is not longer than its lead time',
    (grace) => {
      expect(reminderDueAt(scheduled({ policy: resolvePolicy('deletion', { grace }) }))).toBeUndefined();
    },
  );
});

const outcomes: readonly DeletionOutcome[] = ['deleted', 'undone', 'unknown_user', 'running_work'];

describe('the state', () => {
  test.each([...outcomes, undefined])('names the person nowhere (%s)', (outcome) => {
    const deletion = { ...scheduled(), ...(outcome !== undefined && { outcome }), connections: ['invented-watch'] };
    const shown = JSON.stringify(stateOf(deletion)) + caseFileOf(deletion);
    expect(shown).toContain('user-1');
    expect(shown).not.toMatch(/testperson/i);
  });

  test('is a phase that the outcome replaces', () => {
    expect(stateOf(opened()).phase).toBe('requested');
    expect(stateOf(scheduled()).phase).toBe('grace');
    for (const outcome of outcomes) expect(stateOf({ ...scheduled(), outcome }).phase).toBe(outcome);
  });

  test('shows until when the deletion can be undone, what runs and what happened', () => {
    const deletion = scheduled();
    deletion.work = [{ workflowId: 'kit-order/1|2', name: 'kitOrder', fate: 'not_cancelled', reason: 'CancelRefused' }];
    deletion.attention = [{ reason: 'deletion_delayed', since: '2026-11-02T10:00:00.000Z', time: 1 }];
    note(deletion, 'the service accepted the deletion', start + ms('2h'));
    const file = caseFileOf(deletion);
    expect(file).toContain('**Can be undone until** 2026-11-09 09:00:00');
    expect(file).toContain('- kitOrder `kit-order/1·2`: not cancelled (CancelRefused)');
    expect(file).toContain('**Attention** deletion delayed since 2026-11-02 10:00:00');
    expect(file).toContain('| 2026-11-02 11:00:00 | The service accepted the deletion |');
  });

  test('shows that the service may end the grace earlier if somebody else began it', () => {
    expect(caseFileOf({ ...scheduled(), scheduledBefore: true })).toMatch(/the service may end it earlier/);
  });

  test('has no field for what is not known or did not happen', () => {
    const bare = { userId: 'user-1', phase: 'requested', requestedAt: '2026-11-02T09:00:00.000Z' };
    expect(stateOf(opened())).toStrictEqual({ ...bare, scheduledBefore: false, work: [], attention: [] });
    const connections = ['oura'];
    const undo = { at: bare.requestedAt, by: 'command' as const, restored: [], notRestored: [] };
    const ended = { undo, outcome: 'failed' as const, failure: 'Unauthorized', endedAt: bare.requestedAt };
    expect(stateOf({ ...scheduled(), connections, ...ended })).toStrictEqual({
      ...bare,
      phase: 'failed',
      scheduledAt: '2026-11-02T09:00:00.005Z',
      graceUntil: '2026-11-09T09:00:00.005Z',
      scheduledBefore: false,
      work: [],
      connections,
      attention: [],
      ...ended,
    });
  });

  test('begins with nothing done, and without a reference that was not given', () => {
    const { policy } = opened();
    const deletion = openDeletion({ userId: 'user-1', policy }, start);
    expect(deletion).toMatchObject({ workMet: false, scheduledBefore: false, reminded: false });
    expect(Object.keys(deletion)).not.toContain('clientUserId');
    expect(opened()).toMatchObject({ clientUserId: 'Testperson Invented' });
  });

  test('keeps the latest hundred entries', () => {
    const deletion = opened();
    for (let n = 0; n < 150; n += 1) note(deletion, `entry ${n}`, start);
    expect(deletion.journal).toHaveLength(100);
    expect(deletion.journal.at(-1)?.what).toBe('entry 149');
  });
});
