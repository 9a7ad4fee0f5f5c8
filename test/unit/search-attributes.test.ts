import { expect, test } from 'vitest';
import {
  labAttentionKey,
  labAttentionSinceKey,
  labTransactionIdKey,
  labUserIdKey,
  ofAttention,
  ofTransaction,
  ofUser,
} from '../../protocol/search-attributes.js';

test('ids of users and transactions become search attributes', () => {
  expect(ofUser('6F0C0A49-2F0A-4B5E-8D6F-000000000001')).toEqual([
    { key: labUserIdKey, value: '6f0c0a49-2f0a-4b5e-8d6f-000000000001' },
  ]);
  expect(ofTransaction('transaction_1.b')).toEqual([{ key: labTransactionIdKey, value: 'transaction_1.b' }]);
});

test.each(['testperson@example.com', 'Testperson Invented', '', '..', 'a'.repeat(129), "x' OR ''='"])(
  'other values stay out of them: %j',
  (text) => {
    expect([...ofUser(text), ...ofTransaction(text)]).toEqual([]);
  },
);

test('nothing is set if nobody is known', () => {
  expect([...ofUser(undefined), ...ofTransaction(undefined)]).toEqual([]);
});

test('attention shows each reason once, and since when the oldest stands', () => {
  const since = ['2026-03-02T10:00:00.000Z', '2026-03-01T10:00:00.000Z', '2026-03-03T10:00:00.000Z'];
  expect(ofAttention(['results_overdue', 'critical_result', 'results_overdue'], since)).toEqual([
    { key: labAttentionKey, value: ['critical_result', 'results_overdue'] },
    { key: labAttentionSinceKey, value: new Date('2026-03-01T10:00:00.000Z') },
  ]);
});

test('without attention neither is set', () => {
  expect(ofAttention([], [])).toEqual([
    { key: labAttentionKey, value: [] },
    { key: labAttentionSinceKey, value: null },
  ]);
});
