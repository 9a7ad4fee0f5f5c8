import { readFileSync } from 'node:fs';

/*
 * Fails if a package in the lock file has no hash. npm installs such a package as the registry serves it, whatever that is
 * today. Needs nothing but Node, because it runs before anything is installed.
 */

const [path = 'package-lock.json'] = process.argv.slice(2);
const { packages } = /** @type {{ packages: Record<string, { integrity?: string, resolved?: string }> }} */ (
  JSON.parse(readFileSync(path, 'utf8'))
);

const faults = Object.entries(packages).flatMap(([name, { integrity, resolved }]) => {
  if (name === '') return []; // the project itself
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')) return [`${name} has no sha512 hash as its integrity`];
  if (resolved === undefined || resolved.startsWith('https://registry.npmjs.org/')) return [];
  return [`${name} is resolved to a registry that others may not reach: leave "resolved" out`];
});

for (const fault of faults) process.stderr.write(`${path}: ${fault}\n`);
if (faults.length > 0) {
  process.stderr.write('Give each package the hash that `npm view <name>@<version> dist.integrity` shows.\n');
  process.exitCode = 1;
}
