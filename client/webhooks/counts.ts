import { isShowableType } from '../../service/word.js';
import { type Answer, unverified } from './common-answers.js';

/** How many requests got which answer since the handler was made. */
export interface AnswerCounts<Name extends string> {
  answers: Record<Name, number>;
  /** Events that were not handled, by event type. At most 100 types; further ones are counted as `(others)`. */
  passedOver: Record<string, number>;
}

const mostTypes = 100;
const others = '(others)';

interface Counter<Name extends string> {
  /** Counts an answer; of one that is logged rarely it returns how often it was given. */
  add(name: Name, eventType: string): number | undefined;
  /** Counts a second result of an event that was accepted. */
  addToo(name: Name): void;
  snapshot(): AnswerCounts<Name>;
}

export function createCounter<Name extends string>(answers: Readonly<Record<Name, Answer>>): Counter<Name> {
  const byAnswer = new Map<Name, number>();
  const byType = new Map<string, number>();
  return {
    add(name, eventType) {
      const times = increment(byAnswer, name);
      if (unverified.has(name)) return times;
      if (answers[name].log !== 'rarely') return undefined;
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

/** True for the first time, the 10th, the 100th and so on: what a stranger causes without end must not fill a log. */
export function isWorthALine(times: number): boolean {
  return /^10*$/.test(String(times));
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
