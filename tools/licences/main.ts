import { notAllowed, productionPackages } from './licences.js';

/* `npm run licences`: prints each production dependency with its licence, and fails if one is not on the list. */

const packages = await productionPackages(process.cwd());
for (const { id, licence = 'states no licence' } of packages) console.log(`${id}: ${licence}`);

const refused = notAllowed(packages);
for (const { id, licence = 'no licence' } of refused) {
  console.error(`${id} has ${licence}: replace it, or add the licence to tools/licences/licences.ts if you may use it`);
}
process.exitCode = refused.length === 0 ? 0 : 1;
