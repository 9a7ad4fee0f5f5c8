import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OrderSnapshot, TransactionOrder } from '../../../service/order/snapshot.js';
import { omitNullish } from '../../../service/json-object.js';
import { isAddressable, referencePattern } from '../../../protocol/ids.js';
import { readPassthrough, rootOf, writePassthrough } from '../../../protocol/order/root-order.js';
import { daysAfterStart, transactionOf } from './histories.js';
import { forAll } from './reports.js';

/** The specification's own example of an id that is not a UUID. */
const noUuid = 'e66321dd-4e0g-5226-9373-6124g811d8cf';

const order = (orderId: string, more: Partial<OrderSnapshot> = {}): OrderSnapshot => ({ orderId, events: [], ...more });

/** What a transaction says of an order: `b redraw, parent a, day 2`. */
function listedAs(text: string): TransactionOrder {
  const pattern = /^(?<id>[^ ,]+)( (?<origin>\w+))?(, parent (?<parentId>[^ ,]+))?(, day (?<day>\d))?$/;
  const { id = '', origin, parentId, day } = pattern.exec(text)?.groups ?? {};
  return { id, ...omitNullish({ origin, parentId, createdAt: day && daysAfterStart(Number(day)) }) };
}
const listing = (...orders: string[]) => transactionOf(...orders.map(listedAs));
/** An order that says so of itself, in a transaction that says so of all. */
function inTransaction(own: string, ...orders: string[]): OrderSnapshot {
  const { id, ...fields } = listedAs(own);
  return order(id, { ...fields, transaction: listing(...orders) });
}

describe('the root of a chain is', () => {
  const passthrough = 'labops:-:ref:1';
  const copied = { passthrough, transaction: listing('a initial', 'b') };
  const named = { passthrough: 'labops:root-1:ref:2', parentId: 'a', origin: 'redraw' };

  test.each<[string, OrderSnapshot, string]>([
    ['the one that our own passthrough names', order('b', { ...named, transaction: listing('a initial') }), 'root-1'],
    ['the order itself, if our own passthrough names none', order('b', { passthrough }), 'b'],
    ['the order itself then, whichever order is initial', order('b', copied), 'b'],
    ['the order itself then, also if its parent is itself', order('b', { ...copied, parentId: 'b' }), 'b'],
    ['not a redraw with a copy of its parent’s passthrough', order('b', { ...copied, origin: 'redraw' }), 'a'],
    ['not a recreation with a copy', order('b', { ...copied, origin: 'recreation' }), 'a'],
    ['not an order that has a parent with a copy', order('b', { ...copied, parentId: 'a' }), 'a'],
    ['the earliest of several initial ones', inTransaction('a', 'a initial, day 2', 'b initial, day 1'), 'b'],
    ['the parent, though the transaction does not list it', inTransaction('b', 'b, parent a'), 'a'],
    ['the own parent, too', inTransaction('b, parent a', 'b'), 'a'],
    ['the own parent before another', inTransaction('b, parent c', 'a'), 'c'],
    ['the smallest id of several as early', inTransaction('y', 'y', 'x'), 'x'],
    ['the parent, if there is no transaction', order('b', { parentId: 'a' }), 'a'],
    ['the parent, if the transaction is empty', inTransaction('b, parent a'), 'a'],
    ['at last the order itself', order('a'), 'a'],
    ['the order itself, if the transaction is empty', inTransaction('a'), 'a'],
    ['the order itself, if it is its own parent', order('a', { parentId: 'a' }), 'a'],
    ['another, though the order is earlier', inTransaction('a, day 2', 'z, day 1'), 'z'],
    ['the order by its own time', inTransaction('a, day 0', 'z, day 1'), 'a'],
    ['the order, if it has no time: it is older than all', inTransaction('a', 'z, day 1'), 'a'],
    ['one without a time, wherever it is listed', inTransaction('z', 'z, day 1', 'a'), 'a'],
    ['even one whose id is not a UUID', inTransaction('b', `${noUuid} initial`, 'b'), noUuid],
    ['even a parent whose id is not a UUID', order('b', { parentId: noUuid }), noUuid],
    ['itself, if its id cannot be part of a workflow ID: who asks refuses that', order('a/b'), 'a/b'],
    ['itself then, whichever order is initial', inTransaction('a/b', 'c/d initial'), 'a/b'],
    [
      'what the transaction lists, not what the order says',
      inTransaction('b initial, day 0', 'a, day 1', 'b, day 2'),
      'a',
    ],
    ['the same for an order that lists only the other', inTransaction('a initial, day 1', 'b redraw, day 0'), 'a'],
    ['the same for that other, which lists only the first', inTransaction('b redraw, day 0', 'a initial, day 1'), 'a'],
  ])('%s', (_what, snapshot, root) => {
    expect(rootOf(snapshot)).toBe(root);
  });

  test.each<[string, string, string[]]>([
    ['the initial one, even if another is older', 'b', ['a, day 1', 'b initial, day 2', 'c, parent a']],
    ['else the end of the parents, whatever is older', 'c', ['c, day 3', 'b, parent c, day 2', 'a, parent b, day 1']],
    ['else the earliest, and the smallest id of several', 'b', ['d, day 2', 'c, day 1', 'b, day 1', 'a, day 3']],
    ['the earliest of two that are each other’s parents', 'a', ['a, parent b', 'b, parent a']],
    ['the earliest of three whose parents form a loop', 'a', ['a, parent b', 'b, parent c', 'c, parent a']],
    ['one that is its own parent', 'a', ['a, parent a', 'b, parent a']],
    ['the earliest of a loop that an order only leads to', 'a', ['a, parent b', 'b, parent a', 'c, parent a']],
  ])('for every order of a transaction, however it is listed, %s', (_what, root, orders) => {
    for (const { id } of orders.map(listedAs)) {
      expect(rootOf(inTransaction(id, ...orders)), id).toBe(root);
      expect(rootOf(inTransaction(id, ...orders.toReversed())), id).toBe(root);
    }
  });

  test.each(['a b', 'a/b', 'a:b', '', '..', '.', 'ä', 'a\n', 'a'.repeat(129)])(
    'never one whose id cannot be part of a workflow ID: %j',
    (id) => {
      expect(isAddressable(id)).toBe(false);
      expect(rootOf(order('x', { transaction: transactionOf({ id, origin: 'initial' }, { id: 'x' }) }))).toBe('x');
      expect(rootOf(order('x', { transaction: transactionOf({ id: 'x', parentId: id }) }))).toBe('x');
      expect(rootOf(order('x', { parentId: id }))).toBe('x');
    },
  );

  test('the same for every order of a transaction, however it is listed, if any of them is initial', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd');
    const sibling = fc.record(
      {
        id,
        parentId: fc.oneof(id, fc.constant('elsewhere')),
        createdAt: fc.nat({ max: 2 }).map(daysAfterStart),
        origin: fc.constantFrom('initial', 'redraw', 'recreation', 'invented'),
      },
      { requiredKeys: ['id'] },
    );
    const transactions = fc
      .uniqueArray(sibling, { minLength: 1, selector: (one) => one.id })
      .map(([first, ...others]) => [{ ...first, id: first?.id ?? 'a', origin: 'initial' }, ...others]);
    forAll(transactions, (orders) => {
      const roots = orders.flatMap((one) => [
        rootOf(order(one.id, { transaction: transactionOf(...orders) })),
        rootOf(order(one.id, { transaction: transactionOf(...orders.toReversed()) })),
      ]);
      expect(new Set(roots).size).toBe(1);
    });
  });
});

describe('our own passthrough', () => {
  const references = fc.stringMatching(referencePattern);
  const orderIds = fc.oneof(fc.uuid(), fc.constant(noUuid), fc.stringMatching(/^[A-Za-z0-9._-]{3,128}$/));

  test('comes back as it was written, for any reference and any root', () => {
    const passthroughs = fc.record({ reference: references, n: fc.integer({ min: 1, max: 999_999 }), root: orderIds });
    forAll(
      passthroughs,
      ({ root, ...first }) => {
        expect(readPassthrough(writePassthrough(first))).toEqual(first);
        expect(readPassthrough(writePassthrough({ root, ...first }))).toEqual({ root, ...first });
      },
      500,
    );
  });

  test.each([':', '::', '1:2', 'labops:-:x:1', ':1', '-', 'a'.repeat(128)])(
    'may carry the reference %j',
    (reference) => {
      expect(writePassthrough({ reference, n: 1 })).toBe(`labops:-:${reference}:1`);
      expect(readPassthrough(`labops:-:${reference}:1`)).toEqual({ reference, n: 1 });
      expect(readPassthrough(`labops:root:${reference}:12`)).toEqual({ root: 'root', reference, n: 12 });
    },
  );

  test.each([
    undefined,
    '',
    'a key of another system',
    'labops',
    'labops:-:ref',
    'labops:-::1',
    'labops::ref:1',
    'labops:-:ref:0',
    'labops:-:ref:01',
    'labops:-:ref:-1',
    'labops:-:ref:1.5',
    'labops:-:ref:1e3',
    'labops:-:ref:1000000',
    'labops:-:ref:1\n',
    ' labops:-:ref:1',
    'LABOPS:-:ref:1',
    'labops:-:a reference:1',
    'labops:-:réf:1',
    'labops:a/b:ref:1',
    'labops:..:ref:1',
    `labops:-:${'a'.repeat(129)}:1`,
    `labops:${'a'.repeat(129)}:ref:1`,
  ])('is not what another system wrote: %j', (value) => {
    expect(readPassthrough(value)).toBeUndefined();
    expect(rootOf(order('x', { ...(value !== undefined && { passthrough: value }), parentId: 'a' }))).toBe('a');
  });
});

test.each(['', 'a b', 'a/b', 'a\n', 'ä', 'a'.repeat(129)])('a reference is never %j', (reference) => {
  expect(referencePattern.test(reference)).toBe(false);
});
