import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { note } from '../../../workflows/entity/journal.js';
import { nextMoment, openDeletion, type Deletion } from '../../../workflows/deletion/deletion.js';
import { caseFileOf, stateOf } from '../../../workflows/deletion/view.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

const start = Date.parse('2026-11-02T09:00:00.000Z');

const opened = (): Deletion =>
  openDeletion({ userId: 'user-1', clientUserId: 'Testperson Invented', policy: resolvePolicy('deletion') }, start);
const scheduled = (): Deletion => ({ ...opened(), scheduledAt: start + 5, phase: 'grace' });

describe('the state', () => {
  test('names the person nowhere', () => {
    const deletion: Deletion = { ...scheduled(), outcome: 'deleted', connections: ['invented-watch'] };
    const shown = JSON.stringify(stateOf(deletion)) + caseFileOf(deletion);
    expect(shown).toContain('user-1');
    expect(shown).not.toMatch(/testperson/i);
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
    expect(nextMoment(opened())).toBeUndefined();
    for (const by of ['operator-1', null]) {
      const { journal } = openDeletion({ ...opened(), by: by as string }, start);
      expect(journal).toStrictEqual([{ at: bare.requestedAt, what: 'deletion requested', ...(by && { by }) }]);
    }
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
});
