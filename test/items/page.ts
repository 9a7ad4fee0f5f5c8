import type { Survivor } from '../renaming/survivors.js';
import { countsOf, type Item, type Proof, type Proofs, type Section } from './tables.js';

/** docs/coverage.md: what the items, the tests' titles and the known survivors say, and nothing of its own. */
export function pageOf(sections: readonly Section[], proofs: Proofs, survivors: readonly Survivor[]): string {
  const { items, proved, unprovable } = countsOf(sections, proofs);
  return [
    '# Coverage of the specification',
    '',
    'Made by `npm run coverage` from `test/items/items.json` and the titles of the tests: do not edit it here. Each item of the',
    'specification has a number, and the tests that prove it name the number at the end of their titles (CONTRIBUTING.md).',
    '"Unknown" items are proved by tests of tolerance.',
    '',
    `${items} items: ${proved} proved by tests, ${unprovable} that no test here can prove.`,
    '',
    ...sections.flatMap((section) => sectionOf(section, proofs)),
    ...survivorsPart(survivors),
  ].join('\n');
}

function sectionOf({ section, items }: Section, proofs: Proofs): string[] {
  return [`## ${section}`, '', ...Object.entries(items).flatMap((entry) => itemOf(...entry, proofs)), ''];
}

function itemOf(number: string, { says, unprovable }: Item, proofs: Proofs): string[] {
  const tests = proofs.get(number) ?? [];
  const files = [...new Set(tests.map(({ file }) => file))];
  const proved = files.map((file) => `  - \`${file}\`: ${titlesOf(tests.filter((each) => each.file === file))}`);
  const why = unprovable === undefined ? [] : [`  - Not provable here: ${unprovable}`];
  return [`- **${number}** ${escaped(says)}`, ...proved, ...why];
}

function titlesOf(tests: readonly Proof[]): string {
  return [...new Set(tests.map(({ title }) => escaped(title)))].join('; ');
}

function survivorsPart(survivors: readonly Survivor[]): string[] {
  return [
    '## Survivors',
    '',
    'Names of the wire in `service/` that can be renamed without a test turning red (`npm run renamings`), each with the reason:',
    '',
    ...survivors.map(({ file, name, why }) => `- \`service/${file}\`, \`${name}\`: ${why}`),
    ...(survivors.length === 0 ? ['- none'] : []),
    '',
  ];
}

/** As Markdown shows it as it is. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_<>[\]]/g, '\\$&');
}
