import type { SearchAttributePair, SearchAttributeUpdatePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { canonicalJson } from '../../protocol/json.js';
import { labAttentionSinceKey } from '../../protocol/search-attributes.js';

/** The view of operators: the case file, which is written when somebody asks for it, and search attributes. */
export function showToOperators(caseFile: () => string, attributes: readonly SearchAttributeUpdatePair[]): void {
  // The SDK keeps the details as they are given, and writes them as JSON into the answer of its query.
  setCurrentDetails({ toJSON: caseFile } as unknown as string);
  setSearchAttributes(attributes);
}

/**
 * Writes search attributes only when one of them changes, which is once per coarse phase and not per event; what the
 * start set already is not written again. LabAttentionSince is only written together with another, because alone it would cost an
 * event, and one that histories from before it do not have.
 */
export function setSearchAttributes(attributes: readonly SearchAttributeUpdatePair[]): void {
  const present = workflowInfo().typedSearchAttributes;
  const changed = attributes.filter(
    ({ key, value }) => canonicalJson(present.get(key) ?? []) !== canonicalJson(value ?? []),
  );
  if (changed.some(({ key }) => key.name !== labAttentionSinceKey.name)) upsertSearchAttributes(changed);
}

/** Sets those that the start has not set: a backend may set none. */
export function setAbsentSearchAttributes(attributes: readonly SearchAttributePair[]): void {
  const present = workflowInfo().typedSearchAttributes;
  const absent = attributes.filter(({ key }) => present.get(key) === undefined);
  if (absent.length > 0) upsertSearchAttributes(absent);
}

/* How case files write what comes from outside: Markdown for the Web UI. */

export function sentence(name: string): string {
  const text = words(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function words(name: string): string {
  return name.replaceAll('_', ' ');
}

export function code(text: string): string {
  return `\`${plain(text)}\``;
}

/** Text from outside must not end a cell, a code span or a line; statuses and ids have none of the characters that are replaced. */
export function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N} _.:,/()+-]/gu, '·').trim() || '·';
}

/** The text of `waitingLine` while an operator has stopped placing. @param reason the operator's */
export function untilResumed(reason = ''): string {
  return `placing to be resumed (stopped: ${plain(reason)})`;
}

/** The line of a case file that says what is waited for. */
export function waitingLine({ for: what, until }: { for: string; until?: string | undefined }): string {
  return `**Waits for** ${what}${until === undefined ? '' : ` until ${moment(until)}`}`;
}

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The table of events, the earliest first. */
export function historyTable(timeline: readonly { at: string; what: string; by?: string }[], written = plain): string {
  const rows = timeline.map(({ at, what, by }) => [moment(at), `${written(sentence(what))}${byActor(by)}`]);
  return table(['When (UTC)', 'What happened'], rows);
}

/** Null is how other languages leave a field out. */
export function byActor(by: string | null | undefined): string {
  return by == null ? '' : `, by ${code(by)}`;
}

export function moment(at: string): string {
  return plain(at.slice(0, 19).replace('T', ' '));
}
