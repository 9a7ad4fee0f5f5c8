import { expect, test } from 'vitest';
import { type Database, StoreFailed } from '../../store/database.js';
import { UserTransactions } from '../../store/user-transactions.js';

/** Runs what it is given, without a server. */
const database: Database = {
  query: () => Promise.resolve([]),
  transaction: (work) => work({ query: () => Promise.resolve([]), script: () => Promise.resolve() }),
  write: () => Promise.resolve([]),
  scrub: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

function holding() {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { held, release: () => release() };
}

test('what is written about one user comes in order, and a failure holds up nobody', async () => {
  const transactions = new UserTransactions(database);
  const done: string[] = [];
  const { held, release } = holding();
  const first = transactions.run('u', async () => {
    await held;
    done.push('first');
    throw new Error('refused');
  });
  const second = transactions.run('u', () => Promise.resolve(done.push('second')));
  await transactions.run('other', () => Promise.resolve(done.push('other')));
  await transactions.run(undefined, () => Promise.resolve(done.push('of nobody')));
  release();
  await expect(first).rejects.toThrow('refused');
  await second;
  expect(done).toEqual(['other', 'of nobody', 'first', 'second']);
});

test('no more than a hundred wait for one user, and there is room again when they are done', async () => {
  const transactions = new UserTransactions(database);
  const { held, release } = holding();
  const waiting = Array.from({ length: 100 }, () => transactions.run('u', () => held));
  await expect(transactions.run('u', () => Promise.resolve())).rejects.toThrow(StoreFailed);
  expect(await transactions.run('other', () => Promise.resolve('done'))).toBe('done');
  release();
  await Promise.all(waiting);
  expect(await transactions.run('u', () => Promise.resolve('done'))).toBe('done');
});

test('no more than a thousand wait in all, so a database that stands still does not fill the memory', async () => {
  const transactions = new UserTransactions(database);
  const { held, release } = holding();
  const users = Array.from({ length: 999 }, (_, index) => `u${index}`);
  const waiting = [...users, undefined].map((user) => transactions.run(user, () => held));
  for (const user of ['other', undefined])
    await expect(transactions.run(user, () => Promise.resolve())).rejects.toThrow(StoreFailed);
  release();
  await Promise.all(waiting);
  expect(await transactions.run('other', () => Promise.resolve('done'))).toBe('done');
});
