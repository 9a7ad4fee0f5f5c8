import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { pageOf } from '../../items/page.js';
import { pagePath, readCoverage } from '../../items/project.js';
import { faultsOf, type Proof, type Section } from '../../items/tables.js';

const remedy =
  'name the number in the title of a test that proves the item, or give the reason in test/items/items.json';

describe('every item of the specification', () => {
  test('has a test that names it or a reason why none can, and every number is an item', async () => {
    const { sections, proofs } = await readCoverage();
    expect(faultsOf(sections, proofs), remedy).toEqual([]);
  });

  test('is numbered without gaps, in the order of the specification, and says something', async () => {
    const { sections } = await readCoverage();
    const items = sections.flatMap((section) => Object.entries(section.items));
    const numbers = Array.from({ length: 328 }, (_, n) => String(n + 1));
    const inconsistencies = Array.from({ length: 12 }, (_, n) => `I${n + 1}`);
    expect(items.map(([number]) => number)).toEqual([...numbers, ...inconsistencies]);
    expect(items.filter(([, { says }]) => says.trim() === '')).toEqual([]);
  });

  test('stands in docs/coverage.md as the tests have it', async () => {
    const { page } = await readCoverage();
    expect(await readFile(pagePath, 'utf8'), 'run `npm run coverage`').toBe(page);
  });
});

describe('the check', () => {
  const sections: Section[] = [
    { section: 'Any', items: { 1: { says: 'one' }, 2: { says: 'two', unprovable: 'nothing shows it' } } },
  ];
  const proof: Proof = { file: 'test/unit/any.test.ts', title: 'a_title' };

  test('is content with a test for the one and a reason for the other', () => {
    expect(faultsOf(sections, new Map([['1', [proof]]]))).toEqual([]);
  });

  test('names an item without either, one with both, and a number that is none', () => {
    const proofs = new Map([
      ['2', [proof]],
      ['3', [proof]],
    ]);
    expect(faultsOf(sections, proofs)).toEqual([
      'item 1 has neither a test nor a reason',
      'item 2 is called unprovable, and test/unit/any.test.ts proves it: "a_title"',
      'there is no item 3: test/unit/any.test.ts, "a_title"',
    ]);
  });

  test('writes a page with titles as they are, reasons and survivors', () => {
    const survivors = [{ file: 'any.ts', name: 'word', why: 'no reason' }];
    const page = pageOf(sections, new Map([['1', [proof, proof]]]), survivors);
    expect(page).toContain('2 items: 1 proved by tests, 1 that no test here can prove.');
    expect(page).toContain('- **1** one\n  - `test/unit/any.test.ts`: a\\_title\n');
    expect(page).toContain('- **2** two\n  - Not provable here: nothing shows it\n');
    expect(page).toContain('- `service/any.ts`, `word`: no reason\n');
  });
});
