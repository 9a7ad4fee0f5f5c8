import type { SearchAttributeUpdatePair } from '@temporalio/common';
import type { Attention, RaisedAttention } from '../../protocol/attention.js';
import { ofAttention } from '../../protocol/search-attributes.js';
import { note, type Journal } from './journal.js';
import { moment, setSearchAttributes, words } from './operators.js';
import type { AfterDelivery } from './outbox.js';
import { iso } from './spans.js';

/** The reasons why a person should look, in the state of the workflow that raises them. */
export interface Attentive<Raised extends RaisedAttention<string>> extends Journal {
  attention: Raised[];
  /** Times that each question was raised, by `<key>.<reason>`. */
  raised: Record<string, number>;
}

/** The question that a person is asked. It is raised once while it stands. */
type Question<Raised extends RaisedAttention<string>> = Omit<Raised, 'since' | 'time'>;

/** The empty parts that every workflow's state starts with. */
export const nothingYet = () => ({ attention: [], raised: {}, outbox: [], journal: [] });

type AttentionType = 'attention_raised' | 'attention_cleared';

/** How one kind of workflow asks a person to look. */
interface Asking<State, Raised extends RaisedAttention<string>> {
  /** The question that a bare reason stands for. Default: a question without a key. */
  questionOf?: (state: State, reason: Raised['reason']) => Question<Raised>;
  /** @param notification its id: `<reason>` or `<key>.<reason>`, with `.2` if the question is raised for the second time */
  notify?: (state: State, raised: Raised, notification: { id: string; type: AttentionType }, now: number) => void;
}

export interface AttentionVerbs<State, Raised extends RaisedAttention<string>> {
  /** Asks a person to look, once while the question stands. */
  raise: (state: State, question: Question<Raised> | Raised['reason'], now: number) => void;
  /** @returns whether there was such a question */
  clear: (
    state: State,
    isAnswered: readonly Raised['reason'][] | ((raised: Raised) => boolean),
    now: number,
  ) => boolean;
}

export function attentionVerbsFor<Raised extends RaisedAttention<string>, State extends Attentive<Raised>>({
  questionOf = (_state, reason) => ({ reason }) as unknown as Question<Raised>,
  notify,
}: Asking<State, Raised>): AttentionVerbs<State, Raised> {
  function announce(state: State, raised: Raised, type: AttentionType, now: number): void {
    const { reason, orderId, time } = raised;
    const what = `${words(type)}: ${words(reason)}`;
    note(state, what, now, orderId);
    const which = time === 1 ? '' : `.${time}`;
    notify?.(state, raised, { id: `${nameOf(raised)}${which}`, type }, now);
  }
  return {
    raise(state, asked, now) {
      const question = typeof asked === 'string' ? questionOf(state, asked) : asked;
      const name = nameOf(question);
      if (state.attention.some((raised) => nameOf(raised) === name)) return;
      const time = (state.raised[name] ?? 0) + 1;
      state.raised = { ...state.raised, [name]: time };
      const raised = { ...question, since: iso(now), time } as Raised;
      state.attention = [...state.attention, raised];
      announce(state, raised, 'attention_raised', now);
    },
    clear(state, answered, now) {
      const isAnswered = typeof answered === 'function' ? answered : ({ reason }: Raised) => answered.includes(reason);
      const cleared = state.attention.filter(isAnswered);
      state.attention = state.attention.filter((raised) => !cleared.includes(raised));
      for (const raised of cleared) announce(state, raised, 'attention_cleared', now);
      return cleared.length > 0;
    },
  };
}

/**
 * Replaces the attention of a run that makes attempts, such as a placing: from now on these reasons stand, and no others. One that
 * stood before keeps its time. Nobody is notified and there is no journal, so no question needs an id or a count.
 */
export function setAttention<Reason extends string>(
  run: { attention: readonly Attention<Reason>[] },
  ...reasons: Reason[]
): void {
  const since = iso(Date.now());
  run.attention = reasons.map((reason) => run.attention.find((asked) => asked.reason === reason) ?? { reason, since });
  setSearchAttributes(attentionAttributes(run.attention));
}

/** True if it was ever raised, whether it still stands or not. */
export function wasRaised<Reason extends string>(
  { raised }: Pick<Attentive<RaisedAttention<Reason>>, 'raised'>,
  question: { key?: string; reason: Reason },
): boolean {
  return raised[nameOf(question)] !== undefined;
}

function nameOf({ key, reason }: { key?: string | undefined; reason: string }): string {
  return key === undefined ? reason : `${key}.${reason}`;
}

/** The questions that an earlier run of the same thing left in its result. */
interface QuestionsLeft<Raised extends RaisedAttention<string>> {
  attention?: readonly Raised[];
  raised?: Readonly<Record<string, number>>;
}

/** A question that stood at the end of an earlier run still stands, until it is answered: then the product is notified that it is cleared. */
export function resumeQuestions<Raised extends RaisedAttention<string>>(
  state: Attentive<Raised>,
  { attention = [], raised = {} }: QuestionsLeft<Raised>,
): void {
  const stood = new Set(attention.map(nameOf));
  state.attention = [...attention, ...state.attention.filter((question) => !stood.has(nameOf(question)))];
  const counts = { ...raised, ...state.raised };
  for (const [name, times] of Object.entries(raised)) counts[name] = Math.max(times, state.raised[name] ?? 0);
  state.raised = counts;
}

/** Raises attention while notifications cannot be delivered: a person has to look at the receiver. */
export function afterDelivery<Raised extends RaisedAttention<string>, State>(
  state: State,
  { raise, clear }: AttentionVerbs<State, Raised>,
  hasNews: () => void,
): AfterDelivery {
  const reason: Raised['reason'] = 'notifications_undelivered';
  return {
    delivered() {
      if (clear(state, [reason], Date.now())) hasNews();
    },
    undelivered() {
      raise(state, reason, Date.now());
      hasNews();
    },
  };
}

/** The attention that callers see. */
export function shownAttention<Reason extends string>(
  attention: readonly RaisedAttention<Reason>[],
): Attention<Reason>[] {
  return attention.map(({ reason, since }) => ({ reason, since }));
}

/** The search attributes: each reason once, and since when the oldest stands. */
export function attentionAttributes(attention: readonly Attention<string>[]): SearchAttributeUpdatePair[] {
  return ofAttention(
    attention.map(({ reason }) => reason),
    attention.map(({ since }) => since),
  );
}

/** The lines of the case file. */
export function attentionLines(attention: readonly Attention<string>[]): string[] {
  return attention.map(({ reason, since }) => `**Attention** ${words(reason)} since ${moment(since)}`);
}
