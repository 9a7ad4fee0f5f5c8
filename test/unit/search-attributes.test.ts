import { expect, test } from 'vitest';
import { labTransactionIdKey, labUserIdKey, ofTransaction, ofUser } from '../../protocol/search-attributes.js';

test('ids of users and transactions become search attributes', () => {
  expect(ofUser('6F0C0A49-2F0A-4B5E-8D6F-000000000001')).toEqual([
    { key: labUserIdKey, value: '6f0c0a49-2f0a-4b5e-8d6f-000000000001' },
  ]);
  expect(ofTransaction('transaction_1.b')).toEqual([{ key: labTransactionIdKey, value: 'transaction_1.b' }]);
});

const others = ['testperson@example.com', 'Testperson Invented', '', '..', 'a'.repeat(129), "x' OR ''='", undefined];
test.each(others)('other values, and none, stay out of them: %j', (text) => {
  expect([...ofUser(text), ...ofTransaction(text)]).toEqual([]);
});
