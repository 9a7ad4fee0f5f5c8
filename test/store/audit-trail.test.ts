import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { parseKeyRing } from '../../client/encryption/key-ring.js';
import {
  AuditChain,
  type AuditEntry,
  type AuditFilter,
  AuditHashes,
  type Heads,
  type AuditRow,
  verifyChains,
} from '../../store/audit-trail.js';
import { all } from '../rig/all.js';
import { describeStores, referenceKeys } from '../rig/stores.js';

const [key] = referenceKeys;
const other = parseKeyRing(`other:${Buffer.from('another-key-for-audit-trails-001').toString('base64')}`)[0];
const hashes = new AuditHashes(() => [key]);

const newChain = () => new AuditChain(`test/${randomUUID()}`, hashes);

const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ at: '2026-01-05T10:00:00.123Z', actor: 'nurse-7', action: 'kitOrder.cancel', subjects: ['kit-order/1'] },
  ...{ outcome: 'done', ...more },
});

describeStores('the audit trail', (rig) => {
  const rowsOf = (filter: AuditFilter, by = hashes) => all(rig().store.audit.rows(filter, by));

  test('is read as it was written, by actor, subject and time, with ids as keyed hashes', async () => {
    const { store, userId } = rig();
    const workflowId = `delete-user/${userId}`;
    const actor = `nurse-${userId}`;
    const written = entry({ actor, subjects: [workflowId, userId], event: userId, details: { payloads: 2 } });
    await store.audit.append(newChain(), [written, entry({ actor, at: '2026-02-01T00:00:00.000Z', subjects: [] })]);
    const [first, second] = await rowsOf({ actor });
    expect(first).toMatchObject({
      ...{ sequence: 1, at: '2026-01-05T10:00:00.123000Z', actor, action: 'kitOrder.cancel', outcome: 'done' },
      ...{ details: '{"payloads":2}', keyId: key.id, previous: '' },
    });
    expect(second).toMatchObject({ sequence: 2, previous: first?.hash });
    expect(JSON.stringify(first).replaceAll(actor, '')).not.toContain(userId);
    const found = async (filter: AuditFilter, by = hashes) => (await rowsOf({ actor, ...filter }, by)).length;
    expect(await found({ subject: userId })).toBe(1);
    expect(await found({ subject: userId.toUpperCase() }), 'in another spelling').toBe(1);
    expect(await found({ subject: userId }, new AuditHashes(() => [other, key])), 'after a change of keys').toBe(1);
    expect(await found({ subject: userId }, new AuditHashes(() => [other]))).toBe(0);
    expect(await found({ subject: randomUUID() })).toBe(0);
    expect(await found({ from: '2026-02-01T00:00:00Z' })).toBe(1);
    expect(await found({ to: '2026-02-01T00:00:00Z' })).toBe(1);
  });

  test.each([true, false])('takes an event once, whoever writes it again; expected to be new: %s', async (areNew) => {
    const { store, userId: actor } = rig();
    const again = entry({ actor, event: randomUUID() });
    expect(await store.audit.append(newChain(), [again, again, entry({ actor })], { areNew })).toBe(2);
    const chain = newChain();
    expect(await store.audit.append(chain, [again, entry({ actor })], { areNew })).toBe(1);
    expect(await store.audit.append(chain, [entry({ actor })], { areNew })).toBe(1);
    expect(await rowsOf({ actor })).toHaveLength(4);
    expect(await verifyChains(store.audit.chains(), hashes)).toMatchObject({ faults: [] });
  });

  test('recognises an event that was written with an earlier key', async () => {
    const { store, userId: actor } = rig();
    const again = entry({ actor, event: randomUUID() });
    await store.audit.append(newChain(), [again]);
    const rotated = new AuditChain(randomUUID(), new AuditHashes(() => [other, key]));
    expect(await store.audit.append(rotated, [again])).toBe(0);
  });

  test.each([
    [true, 'not', [false]],
    [true, 'always', [true]],
    [false, 'in the end', [false, true]],
  ])('goes on where it was after lost answers; entries new: %s, committed: %s', async (areNew, _when, attempts) => {
    const { store, userId: actor } = rig();
    const chain = newChain();
    const entries = [entry({ actor }), entry({ actor })];
    for (const isCommitted of attempts) {
      const lost = store.audit.append(losing(chain, isCommitted), entries, { areNew });
      await expect(lost).rejects.toThrow('the connection was lost');
    }
    for (const more of [entries, [entry({ actor })]]) await store.audit.append(chain, more, { areNew });
    const rows = await rowsOf({ actor });
    expect(rows.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });
});

/** The chain, with a database that loses its answer, before it begins or after its commit. */
function losing(chain: AuditChain, isCommitted: boolean): AuditChain {
  const lost = async (work: () => Promise<unknown>): Promise<never> => {
    if (isCommitted) await work();
    throw new Error('the connection was lost');
  };
  const append: AuditChain['append'] = (database, entries, how) =>
    chain.append(
      {
        ...database,
        transaction: (work) => lost(() => database.transaction(work)),
        write: (sql, parameters) => lost(() => database.write(sql, parameters)),
      },
      entries,
      how,
    );
  return { append } as AuditChain;
}

/** What somebody does who can write to the table and has no key. */
type Tampering = (rows: AuditRow[]) => AuditRow[];

const changed =
  (place: number, change: Partial<AuditRow>): Tampering =>
  (rows) =>
    rows.map((row, index) => (index === place ? { ...row, ...change } : row));
const without =
  (...places: number[]): Tampering =>
  (rows) =>
    rows.filter((_, index) => !places.includes(index));
const notAuthentic = (...sequences: number[]) =>
  sequences.map((sequence) => ({ fault: 'not_authentic', writer: 'a', sequence }));

describeStores('a verification of the audit trail', (rig) => {
  let untouched: AuditRow[];
  let heads: Heads;
  beforeAll(async () => {
    const { audit } = rig().store;
    for (const writer of ['a', 'b']) {
      const chain = new AuditChain(writer, hashes);
      for (let row = 1; row <= 4; row++) await audit.append(chain, [entry({ outcome: `${writer}${row}` })]);
    }
    untouched = await all(audit.chains());
    heads = await audit.heads();
  });
  const faultsAfter = async (tampering: Tampering, known: Parameters<typeof verifyChains>[2] = {}, by = hashes) =>
    (await verifyChains(each(tampering(untouched)), by, known)).faults;
  const asItIs: Tampering = (rows) => rows;

  test('finds nothing in a trail that is intact', async () => {
    const verified = await verifyChains(each(untouched), hashes, { heads: [heads] });
    expect(verified).toEqual({ rows: 8, writers: 2, faults: [] });
  });

  test.each<Partial<AuditRow>>([
    { at: '2026-01-05T10:00:00.123001Z' },
    { actor: 'nurse-8' },
    { actor: null },
    { action: 'kitOrder.replaceKit' },
    { subjects: [] },
    { outcome: 'refused' },
    { details: '{"a":1}' },
    { event: 'x' },
    { hash: 'x' },
    { previous: 'x' },
  ])('finds a row that was changed to %j', async (change) => {
    expect((await faultsAfter(changed(1, change)))[0]).toEqual(notAuthentic(2)[0]);
    expect(await faultsAfter(changed(3, change)), 'the last one').toEqual(notAuthentic(4));
  });

  test.each([
    { places: [0], missing: [1, 1] },
    { places: [1], missing: [2, 2] },
    { places: [1, 2], missing: [2, 3] },
  ])('finds that rows were removed: $missing', async ({ places, missing: [sequence, upTo] }) => {
    expect(await faultsAfter(without(...places))).toEqual([{ fault: 'missing', writer: 'a', sequence, upTo }]);
  });

  test('finds that a row was removed though the later ones moved up', async () => {
    const movedUp: Tampering = (rows) =>
      without(1)(rows).map((row) =>
        row.writer === 'a' && row.sequence > 1 ? { ...row, sequence: row.sequence - 1 } : row,
      );
    expect(await faultsAfter(movedUp)).toEqual(notAuthentic(2, 3));
    const joined: Tampering = (rows) => changed(1, { previous: rows[0]?.hash ?? '' })(movedUp(rows));
    expect(await faultsAfter(joined)).toEqual(notAuthentic(2, 3));
  });

  test('finds a row that was inserted, also a copy of another', async () => {
    const [, , , last] = untouched;
    const inserted =
      (row: Partial<AuditRow>): Tampering =>
      (rows) =>
        rows.toSpliced(4, 0, { ...last, ...row } as AuditRow);
    expect(await faultsAfter(inserted({ sequence: 5, previous: last?.hash ?? '' }))).toEqual(notAuthentic(5));
    const other = [{ fault: 'not_authentic', writer: 'aa', sequence: 1 }];
    expect(await faultsAfter(inserted({ ...untouched[0], writer: 'aa' }))).toEqual(other);
  });

  test('finds by heads that a chain was cut, or written again by somebody with the key; without them it cannot', async () => {
    const cut = without(2, 3, 4, 5, 6, 7);
    expect(await faultsAfter(cut)).toEqual([]);
    expect(await faultsAfter(cut, { heads: [heads] })).toEqual([
      { fault: 'missing', writer: 'a', sequence: 3, upTo: 4 },
      { fault: 'missing', writer: 'b', sequence: 1, upTo: 4 },
    ]);
    const earlier = { ...heads, a: { sequence: 4, hash: 'of what was there' } };
    expect(await faultsAfter(asItIs, { heads: [earlier] })).toEqual(notAuthentic(4));
  });

  test('begins after the rows that a checkpoint names, and nowhere else', async () => {
    const removed = { a: { sequence: 2, hash: untouched[1]?.hash ?? '' }, gone: { sequence: 9, hash: 'x' } };
    const known = { removed, heads: [heads, { gone: { sequence: 8, hash: 'y' } }] };
    expect(await faultsAfter(without(0, 1), known)).toEqual([]);
    const third = { fault: 'missing', writer: 'a', sequence: 3, upTo: 3 };
    expect(await faultsAfter(without(0, 1, 2), known)).toEqual([third]);
    const other = { ...known, removed: { ...removed, a: { sequence: 2, hash: 'another' } } };
    expect(await faultsAfter(without(0, 1), other)).toEqual(notAuthentic(3));
    expect(await faultsAfter(without(0), known), 'what was removed is there again').toEqual(notAuthentic(2));
  });

  test('says which rows cannot be verified, because their key is missing', async () => {
    const faults = await faultsAfter(asItIs, {}, new AuditHashes(() => [other]));
    expect(faults.map(({ fault }) => fault)).toEqual(untouched.map(() => 'key_missing'));
  });
});

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
