import { faultsOf, readConformance } from './conformance.js';

/* `npm run conformance`: prints each item of the specification with the tests that prove it, or the reason why none can. */

const { sections, proofs } = await readConformance();
for (const { section, items } of sections) {
  console.log(`\n${section}`);
  for (const [number, { says, unprovable }] of Object.entries(items)) {
    console.log(`${number.padStart(5)}  ${says}`);
    if (unprovable !== undefined) console.log(`         not provable here: ${unprovable}`);
    for (const { file, title } of proofs.get(number) ?? []) console.log(`         ${file}: ${title}`);
  }
}

const items = sections.flatMap((section) => Object.entries(section.items));
const unprovable = items.filter(([, item]) => item.unprovable !== undefined).length;
console.log(
  `\n${items.length} items: ${items.length - unprovable} to be proved by tests, ${unprovable} not provable here.`,
);
const faults = faultsOf(sections, proofs);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
