import { isShowableType } from '../../service/events.js';
import type { Answer } from './common-answers.js';

/** How many requests got which answer since the handler was made. */
export interface AnswerCounts<Name extends string> {
  answers: Record<Name, number>;
  /** Events that were not handled, by event type. At most 100 types; further ones are counted as `(others)`. */
  passedOver: Record<string, number>;
}

const mostTypes = 100;
const others = '(others)';

interface Counter<Name extends string> {
  /** Counts an answer; for a skipped type it returns how often that has happened. */
  add(name: Name, eventType: string): number;
  /** Counts a second result of an event that was accepted. */
  addToo(name: Name): void;
  snapshot(): AnswerCounts<Name>;
}

export function createCounter<Name extends string>(answers: Readonly<Record<Name, Answer>>): Counter<Name> {
  const byAnswer = new Map<Name, number>();
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
        Object.keys(answers).map((name) => [name, byAnswer.get(name as Name) ?? 0]),
      ) as Record<Name, number>,
      passedOver: Object.fromEntries(byType),
    }),
  };
}

function increment<Key>(counts: Map<Key, number>, key: Key): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

/** An event type in a form that is safe for logs and counts. */
export function countableType(eventType: string | undefined): string {
  if (eventType === undefined) return '(none)';
  return isShowableType(eventType) ? eventType : others;
}
