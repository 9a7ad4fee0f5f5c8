import type { DeletionState, FoundWork } from '../../protocol/deletion/messages.js';
import { labPhaseKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { attentionAttributes, attentionLines, shownAttention } from '../entity/attention.js';
import { code, historyTable, moment, plain, sentence, showToOperators, words } from '../entity/operators.js';
import { isoOf } from '../entity/spans.js';
import { graceEndOf, type Deletion } from './deletion.js';
import { omitNullish } from '../../protocol/json.js';

export function stateOf(deletion: Deletion): DeletionState {
  const { userId, phase, requestedAt, scheduledAt, scheduledBefore, work = [], attention } = deletion;
  const { requestedBy, connections, undo, histories, receipt, outcome, failure, endedAt } = deletion;
  return {
    userId,
    phase: outcome ?? phase,
    requestedAt,
    ...omitNullish({ requestedBy, connections, undo, histories, receipt, outcome, failure, endedAt }),
    ...omitNullish({ scheduledAt: isoOf(scheduledAt), graceUntil: isoOf(graceEndOf(deletion)) }),
    scheduledBefore,
    work,
    attention: shownAttention(attention),
  };
}

/** The case file that the Web UI shows, in Markdown. It names ids, slugs and times, never the person. */
export function caseFileOf(deletion: Deletion): string {
  const state = stateOf(deletion);
  return [
    `### ${sentence(state.phase)}`,
    `User ${code(state.userId)}`,
    ...standing(state),
    ...attentionLines(state.attention),
    ...(state.work.length > 0 ? [['**Running work**', ...state.work.map(workLine)].join('\n')] : []),
    ...(state.connections && state.connections.length > 0
      ? [`**Connections ended** ${state.connections.map((slug) => plain(slug)).join(', ')}`]
      : []),
    ...historiesLines(state),
    historyTable(deletion.journal, (what) => what),
  ].join('\n\n');
}

function standing({ phase, graceUntil, scheduledBefore, failure, undo }: DeletionState): string[] {
  switch (phase) {
    case 'requested':
      return ['**Waits for** the lab service to accept the deletion'];
    case 'grace': {
      const doubt = scheduledBefore ? ' (it had already been scheduled, so the service may end it earlier)' : '';
      return [`**Can be undone until** ${moment(graceUntil ?? '')}${doubt}`];
    }
    case 'confirming':
      return ['**Waits for** the lab service to show that the user is gone'];
    case 'deleted':
      return ['**Outcome** deleted, which cannot be undone'];
    case 'undone':
      return [
        undo?.restored.length === 0
          ? '**Outcome** withdrawn before anything was deleted'
          : '**Outcome** the user and their data are restored; connections have to be linked again',
      ];
    case 'unknown_user':
      return ['**Outcome** the lab service does not know this user'];
    case 'running_work':
      return ['**Outcome** nothing was deleted: the user has running work'];
    case 'failed':
      return [`**Outcome** nothing was deleted: ${plain(failure ?? 'unknown')}`];
    default:
      return phase satisfies never;
  }
}

function historiesLines({ histories }: DeletionState): string[] {
  if (histories === undefined) return [];
  if (histories === 'kept')
    return ['**Histories** kept in Temporal until its retention is over: ERASE_HISTORIES=false'];
  const { erased, left } = histories;
  const lines = left.map(
    ({ workflowId, name, because }) => `- left: ${plain(name)} ${code(workflowId)} (${words(because)})`,
  );
  return [[`**Histories** of ${erased.length} workflows were erased from Temporal`, ...lines].join('\n')];
}

function workLine({ workflowId, name, fate, reason }: FoundWork): string {
  const why = reason === undefined ? '' : ` (${plain(reason)})`;
  return `- ${plain(name)} ${code(workflowId)}: ${fate === 'left' ? 'left running' : words(fate)}${why}`;
}

export function show(deletion: Deletion): void {
  const { userId, phase, attention } = stateOf(deletion);
  showToOperators(
    () => caseFileOf(deletion),
    [{ key: labUserIdKey, value: userId }, { key: labPhaseKey, value: phase }, ...attentionAttributes(attention)],
  );
}
