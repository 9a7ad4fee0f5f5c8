import { isShowableType } from '../../service/event-type.js';
import { type AnswerName, answers } from './answers.js';

/** How many webhooks got which answer since the handler was made. */
export interface WebhookCounts {
  answers: Record<AnswerName, number>;
  /** Events that were not handled, by event type. At most 100 types; what comes beyond them is `(others)`. */
  passedOver: Record<string, number>;
}

const mostTypes = 100;
const others = '(others)';

export interface Counter {
  /** Counts an answer; for a type that was passed over it tells how often that was. */
  add(name: AnswerName, eventType: string): number;
  /** Counts what else became of an event that was taken. */
  addToo(name: AnswerName): void;
  snapshot(): WebhookCounts;
}

export function createCounter(): Counter {
  const byAnswer = new Map<AnswerName, number>();
  const byType = new Map<string, number>();
  return {
    add(name, eventType) {
      increment(byAnswer, name);
      if (answers[name].log !== 'rarely') return 0;
      return increment(byType, byType.has(eventType) || byType.size < mostTypes ? eventType : others);
    },
    addToo: (name) => void increment(byAnswer, name),
    snapshot: () => ({
      answers: Object.fromEntries(
        Object.keys(answers).map((name) => [name, byAnswer.get(name as AnswerName) ?? 0]),
      ) as Record<AnswerName, number>,
      passedOver: Object.fromEntries(byType),
    }),
  };
}

function increment<Key>(counts: Map<Key, number>, key: Key): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

/** An event type as it may stand in a log or a count. */
export function countableType(eventType: string | undefined): string {
  if (eventType === undefined) return '(none)';
  return isShowableType(eventType) ? eventType : others;
}
