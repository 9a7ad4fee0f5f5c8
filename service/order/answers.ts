import type { RefusedField } from '../lab-operations-error.js';
import type { Marker } from '../lab-tests.js';
import type { OrderRequest } from './requests.js';

/*
 * The answers to the questions that markers ask at ordering. The catalogue shows the questions, so a wrong answer is found
 * before an order is sent. Only what is certain is a fault: a marker that is not given, one that shows no questions, a type
 * that is not known and a `constraint` (whose form is not documented) are left to the service. No message repeats an answer.
 */

type Asking = Pick<Marker, 'id' | 'aoe'>;
type Questions = NonNullable<NonNullable<Marker['aoe']>['questions']>;
type Question = Questions[number];
type GivenAnswer = NonNullable<OrderRequest['aoe_answers']>[number];

/**
 * Everything that is wrong with an order's `aoe_answers`: a required question without an answer, an answer to a question that
 * its marker does not ask, and one that does not fit its question. Each fault names question and marker, and what is expected.
 *
 * @param markers those that are ordered, as the catalogue shows them
 */
export function answerFaults(
  markers: readonly Asking[],
  answers: readonly GivenAnswer[] | null | undefined = [],
): RefusedField[] {
  const given = answers ?? [];
  const asked = new Map(
    markers.flatMap(({ id, aoe }): [number, Questions][] => (aoe?.questions ? [[id, aoe.questions]] : [])),
  );
  const wrong = given.flatMap((answer, index) => {
    const questions = asked.get(answer.marker_id);
    return questions ? faultsOf(answer, questions, `aoe_answers.${index}`) : [];
  });
  const missing = [...asked].flatMap(([markerId, questions]) =>
    questions
      .filter((question) => needsAnswer(question) && !given.some(isTo(markerId, question)))
      .map((question) => ({
        field: 'aoe_answers',
        message: `must answer ${nameOf(markerId, question)}: ${expectedBy(question)}`,
      })),
  );
  return [...wrong, ...missing];
}

/** Assumed: the service answers a question itself for which it has a default. */
function needsAnswer({ required, default: usual }: Question): boolean {
  return required === true && (usual ?? '') === '';
}

function isTo(markerId: number, { id }: Question) {
  return (answer: GivenAnswer) => answer.marker_id === markerId && answer.question_id === id;
}

function nameOf(markerId: number, { id }: Question): string {
  return `question ${id} of marker ${markerId}`;
}

function faultsOf({ marker_id: markerId, question_id: id, answer }: GivenAnswer, questions: Questions, at: string) {
  const question = questions.find((each) => each.id === id);
  if (!question) {
    const ids = questions.map((each) => each.id).join(', ') || 'none';
    return [{ field: `${at}.question_id`, message: `must be a question of marker ${markerId}: ${ids}` }];
  }
  if (isFitting(question, answer)) return [];
  return [{ field: `${at}.answer`, message: `to ${nameOf(markerId, question)} must be ${expectedBy(question)}` }];
}

function isFitting(question: Question, answer: string): boolean {
  const text = folded(answer);
  if (text === '') return !needsAnswer(question);
  const choices = choicesOf(question).flat().map(folded);
  switch (question.type) {
    case 'numeric':
      return /^[+-]?(\d+|\d*[.,]\d+)$/.test(text);
    case 'choice':
      return choices.length === 0 || choices.includes(text);
    case 'multi_choice':
      // Several in one answer or one answer each: not documented, so both pass.
      return choices.length === 0 || choices.includes(text) || parts(text).every((part) => choices.includes(part));
    default:
      return true;
  }
}

/** It is not documented whether the service compares letter case. */
function folded(text: string): string {
  return text.trim().toLowerCase();
}

function parts(text: string): string[] {
  return text.split(/[,;|]/).map((part) => part.trim());
}

/** It is not documented whether a choice is sent as its code, its text or its id: all of them pass. */
function choicesOf({ answers }: Question): string[][] {
  return (answers ?? []).map(
    ({ id, code, value }) => [code, value, String(id)].filter((text) => text != null && text !== '') as string[],
  );
}

/** Enough for a person to see what is meant. */
const mostChoices = 12;

function expectedBy(question: Question): string {
  const choices = choicesOf(question).map(([first = '']) => first);
  const shown = choices.slice(0, mostChoices).join(', ') + (choices.length > mostChoices ? ', …' : '');
  switch (question.type) {
    case 'numeric':
      return "a number such as '7' or '7.5'";
    case 'choice':
      return shown === '' ? 'one of its choices' : `one of ${shown}`;
    case 'multi_choice':
      return shown === '' ? 'some of its choices' : `some of ${shown}`;
    default:
      return 'a text that is not empty';
  }
}
