import { describe, expect, test } from 'vitest';
import { answerFaults } from '../../../../service/order/answers.js';

const choices = [
  { id: 1, code: 'AM', value: 'Morning' },
  { id: 2, code: 'PM', value: 'Evening' },
];
const asking = (more: object) => [{ id: 14, aoe: { questions: [{ id: 5, required: true, answers: [], ...more }] } }];
const given = (answer: string, more: object = {}) => [{ marker_id: 14, question_id: 5, answer, ...more }];
const rulesFor = (question: object, ...answers: string[]) => {
  const faults = answerFaults(
    asking(question),
    answers.flatMap((text) => given(text)),
  );
  return faults.map(({ field, message }) => `${field} ${message}`);
};

test.each<[object, ...string[]]>([
  [{ type: 'choice', answers: choices }, 'AM'],
  [{ type: 'choice', answers: choices }, 'Evening'],
  [{ type: 'choice', answers: choices }, ' 2 '],
  [{ type: 'choice', answers: choices }, 'am', ' MORNING '],
  [{ type: 'choice' }, 'whatever: no choice is shown'],
  [{ type: 'multi_choice', answers: choices }, 'AM, PM'],
  [{ type: 'multi_choice', answers: choices }, 'AM', 'PM'],
  [{ type: 'multi_choice', answers: choices }, 'am; evening'],
  [{ type: 'numeric' }, '7.5'],
  [{ type: 'numeric' }, '-3'],
  [{ type: 'numeric' }, '.5', '5,5', '+0.5'],
  [{ type: 'text' }, 'anything'],
  [{ type: 'invented' }, 'anything'],
  [{ type: 'numeric', required: false }, ''],
  [{ type: 'choice', required: false, answers: choices }],
  [{ type: 'choice', default: 'AM', answers: choices }],
])('an answer fits its question: %j takes %j', (question, ...answers) => {
  expect(rulesFor(question, ...answers)).toEqual([]);
});

describe('a wrong answer is named with its question and what was expected, and never repeated', () => {
  test.each<[object, string, string]>([
    [{ type: 'choice', answers: choices }, 'noon-invented', 'one of AM, PM'],
    [{ type: 'choice', answers: choices }, 'AM, PM', 'one of AM, PM'],
    [{ type: 'choice', answers: choices }, ' ', 'one of AM, PM'],
    [{ type: 'multi_choice', answers: choices }, 'AM, noon-invented', 'some of AM, PM'],
    [{ type: 'numeric' }, 'seven-invented', "a number such as '7' or '7.5'"],
    [{ type: 'numeric' }, '.', "a number such as '7' or '7.5'"],
    [{ type: 'text' }, '', 'a text that is not empty'],
  ])('%j does not take %j', (question, answer, expected) => {
    expect(rulesFor(question, answer)).toEqual([`aoe_answers.0.answer to question 5 of marker 14 must be ${expected}`]);
  });

  test('a required question without an answer', () => {
    expect(rulesFor({ type: 'choice', answers: choices })).toEqual([
      'aoe_answers must answer question 5 of marker 14: one of AM, PM',
    ]);
    expect(answerFaults(asking({ type: 'text' }), null)).toHaveLength(1);
  });

  test('an answer to a question that its marker does not ask', () => {
    const answers = [...given('AM'), ...given('AM', { question_id: 6 })];
    expect(answerFaults(asking({ type: 'choice', answers: choices }), answers)).toEqual([
      { field: 'aoe_answers.1.question_id', message: 'must be a question of marker 14: 5' },
    ]);
  });

  test('of many choices the first dozen is shown', () => {
    const many = Array.from({ length: 30 }, (_, id) => ({ id, code: `C${id}` }));
    const [rule = ''] = rulesFor({ type: 'choice', answers: many }, 'other');
    expect(rule).toContain('C11, …');
    expect(rule).not.toContain('C12');
  });
});

test('a marker that is not given, or shows no questions, is left to the service', () => {
  expect(answerFaults([{ id: 13, aoe: null }], [...given('x'), ...given('x', { marker_id: 13 })])).toEqual([]);
});
