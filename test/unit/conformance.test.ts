import { expect, test } from 'vitest';
import { faultsOf, provingTests, readConformance, type Section } from '../../tools/conformance/conformance.js';

test('every item of the specification has a test that proves it or a reason why none can', async () => {
  const { sections, proofs } = await readConformance();
  const remedy =
    'name the item in a comment above its test, `// proves 16`, or give a reason in tools/conformance/items.json';
  expect(faultsOf(sections, proofs), remedy).toEqual([]);
});

test('the items are numbered without gaps', async () => {
  const { sections } = await readConformance();
  const numbers = Array.from({ length: 328 }, (_, n) => String(n + 1));
  const inconsistencies = Array.from({ length: 12 }, (_, n) => `I${n + 1}`);
  expect(sections.flatMap(({ items }) => Object.keys(items))).toEqual([...numbers, ...inconsistencies]);
});

test('the comment above a test names items and ranges of them, also above rows, and is refused above anything else', () => {
  const plain = "// proves 16, 20-22, I3\ntest('has an id', () => {});\ntest('has none', () => {});\n";
  const rows = '  // proves 7\n  test.each([\n    [1, f(2)],\n  ])("it\'s %s", () => {});';
  const proofs = [
    { title: 'has an id', proves: ['16', '20', '21', '22', 'I3'] },
    { title: "it's %s", proves: ['7'] },
  ];
  expect(provingTests(plain + rows)).toEqual(proofs);
  expect(() => provingTests("// proves 7\ndescribe('a user', () => {});")).toThrow('directly above a test');
});

test('an item without test and reason, one with both, and an unknown number are faults', () => {
  const items = { 1: { says: 'one' }, 2: { says: 'two', unprovable: 'nothing shows it' } };
  const sections: Section[] = [{ section: 'Any', items }];
  const proof = { file: 'test/unit/any.test.ts', title: 'a title' };
  const proofs = new Map([
    ['2', [proof]],
    ['3', [proof]],
  ]);
  expect(faultsOf(sections, proofs)).toEqual([
    'Item 1 has neither a test nor a reason.',
    'Item 2 is called unprovable, but test/unit/any.test.ts proves it: "a title".',
    'There is no item 3: test/unit/any.test.ts.',
  ]);
});
