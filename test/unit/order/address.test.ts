import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OrderSnapshot, TransactionOrder } from '../../../service/order-snapshot.js';
import { isAddressable, kitOrderId, placeKitOrderId, referencePattern } from '../../../protocol/ids.js';
import { readPassthrough, rootOf, writePassthrough } from '../../../protocol/order/root-order.js';
import { daysAfterStart, transactionOf } from './histories.js';

/** The specification's own example of an id that is not a UUID. */
const noUuid = 'e66321dd-4e0g-5226-9373-6124g811d8cf';

const order = (orderId: string, more: Partial<OrderSnapshot> = {}): OrderSnapshot => ({ orderId, events: [], ...more });
const inTransaction = (orderId: string, ...orders: TransactionOrder[]) =>
  order(orderId, { transaction: transactionOf(...orders) });

describe('the root of a chain is', () => {
  test('the root of a chain is first of all the one that our own passthrough names', () => {
    const passthrough = 'labops:root-1:ref:2';
    const siblings = transactionOf({ id: 'a', origin: 'initial' }, { id: 'b', origin: 'redraw', parentId: 'a' });
    expect(rootOf(order('b', { passthrough, transaction: siblings, parentId: 'a', origin: 'redraw' }))).toBe('root-1');
  });

  test('the root of a chain is the order itself, if our own passthrough names none', () => {
    const passthrough = 'labops:-:ref:1';
    expect(rootOf(order('a', { passthrough }))).toBe('a');
    expect(rootOf(order('a', { passthrough, transaction: transactionOf({ id: 'z', origin: 'initial' }) }))).toBe('a');
  });

  test.each<Partial<OrderSnapshot>>([{ origin: 'redraw' }, { origin: 'recreation' }, { parentId: 'a' }])(
    'the root of a chain is not the redraw that carries a copy of its parent’s passthrough: %j',
    (more) => {
      const transaction = transactionOf({ id: 'a', origin: 'initial' }, { id: 'b' });
      expect(rootOf(order('b', { passthrough: 'labops:-:ref:1', transaction, ...more }))).toBe('a');
    },
  );

  test('the root of a chain is the order itself, if our own passthrough names none and its parent is itself', () => {
    const transaction = transactionOf({ id: 'a', origin: 'initial' }, { id: 'b' });
    expect(rootOf(order('b', { passthrough: 'labops:-:ref:1', transaction, parentId: 'b' }))).toBe('b');
  });

  test('the root of a chain is otherwise the order with origin initial, even if another is older', () => {
    const initial = { id: 'b', origin: 'initial', createdAt: daysAfterStart(2) };
    const older = { id: 'a', createdAt: daysAfterStart(1) };
    for (const id of ['a', 'b', 'c']) {
      expect(rootOf(inTransaction(id, older, initial, { id: 'c', parentId: 'a' }))).toBe('b');
    }
  });

  test('the root of a chain is the earliest of several initial ones', () => {
    const late = { id: 'a', origin: 'initial', createdAt: daysAfterStart(2) };
    const early = { id: 'b', origin: 'initial', createdAt: daysAfterStart(1) };
    expect(rootOf(inTransaction('a', late, early))).toBe('b');
  });

  test('the root of a chain is otherwise the end of the parents, seen from every order of the chain', () => {
    // By age and by id it would be another one.
    const chain = [
      { id: 'c', createdAt: daysAfterStart(3) },
      { id: 'b', parentId: 'c', createdAt: daysAfterStart(2) },
      { id: 'a', parentId: 'b', createdAt: daysAfterStart(1) },
    ];
    for (const { id } of chain) expect(rootOf(inTransaction(id, ...chain)), id).toBe('c');
  });

  test('the root of a chain is the end of the parents even if the transaction does not list it', () => {
    expect(rootOf(inTransaction('b', { id: 'b', parentId: 'a' }))).toBe('a');
    expect(rootOf(order('b', { parentId: 'a', transaction: transactionOf({ id: 'b' }) }))).toBe('a');
    expect(rootOf(order('b', { parentId: 'c', transaction: transactionOf({ id: 'a' }) }))).toBe('c');
  });

  test('the root of a chain is found in what its transaction lists of an order, so all its orders find the same one', () => {
    const listed = [
      { id: 'a', createdAt: daysAfterStart(1) },
      { id: 'b', createdAt: daysAfterStart(2) },
    ];
    const says = { origin: 'initial', createdAt: daysAfterStart(0) };
    for (const id of ['a', 'b'])
      expect(rootOf(order(id, { ...says, transaction: transactionOf(...listed) }))).toBe('a');
  });

  test('the root of a chain is otherwise the earliest of the transaction, and the smallest id of several as early', () => {
    const orders = [
      { id: 'd', createdAt: daysAfterStart(2) },
      { id: 'c', createdAt: daysAfterStart(1) },
      { id: 'b', createdAt: daysAfterStart(1) },
      { id: 'a', createdAt: daysAfterStart(3) },
    ];
    for (const { id } of orders) {
      expect(rootOf(inTransaction(id, ...orders)), id).toBe('b');
      expect(rootOf(inTransaction(id, ...orders.toReversed())), id).toBe('b');
    }
    expect(rootOf(inTransaction('y', { id: 'y' }, { id: 'x' }))).toBe('x');
    // The order's own time counts, too, if its transaction lists only others; one without a time is older than all.
    const other = { id: 'z', createdAt: daysAfterStart(1) };
    const seen = (createdAt?: string) =>
      rootOf(order('a', { ...(createdAt !== undefined && { createdAt }), transaction: transactionOf(other) }));
    expect([seen(daysAfterStart(2)), seen(daysAfterStart(0)), seen()]).toEqual(['z', 'a', 'a']);
    for (const both of [
      [{ id: 'a' }, other],
      [other, { id: 'a' }],
    ])
      expect(rootOf(inTransaction('z', ...both))).toBe('a');
  });

  test('the root of a chain is the same for two orders of which each lists only the other', () => {
    const first: Partial<OrderSnapshot> = { origin: 'initial', createdAt: daysAfterStart(1) };
    const second: Partial<OrderSnapshot> = { origin: 'redraw', createdAt: daysAfterStart(0) };
    expect(rootOf(order('a', { ...first, transaction: transactionOf({ id: 'b', ...second }) }))).toBe('a');
    expect(rootOf(order('b', { ...second, transaction: transactionOf({ id: 'a', ...first }) }))).toBe('a');
  });

  test('the root of a chain is otherwise the parent, if there is no transaction', () => {
    expect(rootOf(order('b', { parentId: 'a' }))).toBe('a');
    expect(rootOf(order('b', { parentId: 'a', transaction: transactionOf() }))).toBe('a');
  });

  test('the root of a chain is at last the order itself', () => {
    expect(rootOf(order('a'))).toBe('a');
    expect(rootOf(order('a', { transaction: transactionOf() }))).toBe('a');
    expect(rootOf(order('a', { parentId: 'a' }))).toBe('a');
  });

  test.each([
    [
      'two orders that are each other’s parents',
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
    ],
    [
      'three',
      [
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ],
    ],
    [
      'an order that is its own parent',
      [
        ['a', 'a'],
        ['b', 'a'],
      ],
    ],
    [
      'a loop that the order only leads to',
      [
        ['a', 'b'],
        ['b', 'a'],
        ['c', 'a'],
      ],
    ],
  ])('the root of a chain is the earliest if the parents form a loop: %s', (_name, parents) => {
    const orders = parents.map(([id = '', parentId = '']) => ({ id, parentId }));
    for (const { id } of orders) expect(rootOf(inTransaction(id, ...orders)), id).toBe('a');
  });

  test('the root of a chain is even one whose id is not a UUID', () => {
    expect(rootOf(inTransaction('b', { id: noUuid, origin: 'initial' }, { id: 'b' }))).toBe(noUuid);
    expect(rootOf(order('b', { parentId: noUuid }))).toBe(noUuid);
  });

  test('the root of a chain is the order itself if its id cannot be part of a workflow ID: who asks refuses that', () => {
    expect(rootOf(order('a/b'))).toBe('a/b');
    expect(rootOf(inTransaction('a/b', { id: 'c/d', origin: 'initial' }))).toBe('a/b');
  });

  test.each(['a b', 'a/b', 'a:b', '', '..', '.', 'ä', 'a\n', 'a'.repeat(129)])(
    'the root of a chain is never one whose id cannot be part of a workflow ID: %j',
    (id) => {
      expect(isAddressable(id)).toBe(false);
      expect(rootOf(inTransaction('x', { id, origin: 'initial' }, { id: 'x' }))).toBe('x');
      expect(rootOf(inTransaction('x', { id: 'x', parentId: id }))).toBe('x');
      expect(rootOf(order('x', { parentId: id }))).toBe('x');
    },
  );

  test('the root of a chain is the same for every order of a transaction, however it is listed, if any of them is initial', () => {
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
    fc.assert(
      fc.property(transactions, (orders) => {
        const roots = orders.flatMap((one) => [
          rootOf(inTransaction(one.id, ...orders)),
          rootOf(inTransaction(one.id, ...orders.toReversed())),
        ]);
        expect(new Set(roots).size).toBe(1);
      }),
    );
  });
});

describe('our own passthrough', () => {
  const references = fc.stringMatching(referencePattern);
  const orderIds = fc.oneof(fc.uuid(), fc.constant(noUuid), fc.stringMatching(/^[A-Za-z0-9._-]{3,128}$/));

  test('comes back as it was written, for any reference and any root', () => {
    const passthroughs = fc.record({ reference: references, n: fc.integer({ min: 1, max: 999_999 }), root: orderIds });
    fc.assert(
      fc.property(passthroughs, ({ root, ...first }) => {
        expect(readPassthrough(writePassthrough(first))).toEqual(first);
        expect(readPassthrough(writePassthrough({ root, ...first }))).toEqual({ root, ...first });
      }),
      { numRuns: 500 },
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

test('a workflow ID is a pure function of its key', () => {
  expect(placeKitOrderId('ref:1')).toBe('place-kit-order/ref:1');
  expect(kitOrderId(noUuid)).toBe(`kit-order/${noUuid}`);
});

test.each(['', 'a b', 'a/b', 'a\n', 'ä', 'a'.repeat(129)])('a reference is never %j', (reference) => {
  expect(referencePattern.test(reference)).toBe(false);
});
