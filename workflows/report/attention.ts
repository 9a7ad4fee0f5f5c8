import { enqueue, headOf } from './announcements.js';
import { note, type RaisedReportAttention, type ReportCase } from './case.js';
import type { ReportAttentionReason } from './messages.js';

/** Asks a person to look, once while the question stands, and tells the product. */
export function raise(kase: ReportCase, reason: ReportAttentionReason, now: number): void {
  if (kase.attention.some((raised) => raised.reason === reason)) return;
  const time = (kase.raised[reason] ?? 0) + 1;
  kase.raised[reason] = time;
  const attention = { reason, since: new Date(now).toISOString(), time };
  kase.attention.push(attention);
  note(kase, `attention: ${reason.replaceAll('_', ' ')}`, now);
  tell(kase, attention, 'attention_raised', now);
}

export function clear(kase: ReportCase, reasons: readonly ReportAttentionReason[], now: number): void {
  const answered = kase.attention.filter(({ reason }) => reasons.includes(reason));
  kase.attention = kase.attention.filter(({ reason }) => !reasons.includes(reason));
  for (const attention of answered) {
    note(kase, `no more attention: ${attention.reason.replaceAll('_', ' ')}`, now);
    tell(kase, attention, 'attention_cleared', now);
  }
}

function tell(
  kase: ReportCase,
  { time, ...attention }: RaisedReportAttention,
  type: 'attention_raised' | 'attention_cleared',
  now: number,
): void {
  const key = time === 1 ? attention.reason : `${attention.reason}.${time}`;
  enqueue(kase, { ...headOf(kase, key, type, now), type, data: attention });
}
