import { writeFile } from 'node:fs/promises';
import { pagePath, readCoverage } from './project.js';
import { countsOf, faultsOf } from './tables.js';

/* `npm run coverage`: prints each item with the number of its tests, and writes docs/coverage.md. */

const { sections, proofs, page } = await readCoverage();
for (const { section, items } of sections) {
  console.log(`\n${section}`);
  for (const [number, { says, unprovable }] of Object.entries(items)) {
    const tests = proofs.get(number)?.length ?? 0;
    console.log(`${number.padStart(5)}  ${(unprovable === undefined ? String(tests) : '-').padStart(3)}  ${says}`);
  }
}
await writeFile(pagePath, page);

const { items, proved, unprovable } = countsOf(sections, proofs);
console.log(`\n${items} items: ${proved} proved, ${unprovable} not provable here (-). docs/coverage.md is written.`);
const faults = faultsOf(sections, proofs);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
