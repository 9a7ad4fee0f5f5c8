import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { linkErrorTypes } from '../../../service/link/link.js';
import { consequenceOf, mayBeConnected } from '../../../workflows/link/link.js';
import { defaultLinkPolicy } from '../../../protocol/link/policy.js';
import { projectFolder } from '../../rig/processes.js';

let assumptions = '';
let page = '';
beforeAll(async () => {
  assumptions = await readFile(join(projectFolder, 'docs/internals/assumptions.md'), 'utf8');
  const service = await readFile(join(projectFolder, 'docs/internals/lab-service.md'), 'utf8');
  [, page = ''] = /^## Links\n([^]+?)\n## /m.exec(service) ?? [];
});

/** The rows of the table of consequences, by the error type that each is about. */
function documented(): Record<string, { consequence: string; why: string }> {
  const rows = page.matchAll(/^\| (`\w+`|any other) +\| `(\w+)` +\| (.+) \|$/gm);
  return Object.fromEntries(
    [...rows].map(([, type = '', consequence = '', why = '']) => [type.replaceAll('`', ''), { consequence, why }]),
  );
}

test('every error type of the specification has the documented consequence, and any other has the one of "any other"', () => {
  const { 'any other': other, ...known } = documented();
  expect(Object.keys(known)).toEqual(expect.arrayContaining([...linkErrorTypes]));
  expect(Object.keys(known)).toHaveLength(linkErrorTypes.length);
  for (const type of linkErrorTypes) expect(known[type]?.consequence, type).toBe(consequenceOf(type));
  const others = ['error_of_next_year', undefined, '', 'constructor', 'toString', '__proto__', 'INVALID_TOKEN'];
  for (const type of others) expect(other?.consequence, type).toBe(consequenceOf(type));
});

test('the user is read first after those error types for which the table says so', () => {
  for (const [type, { why }] of Object.entries(documented())) {
    expect(why.includes('the user is read first'), type).toBe(mayBeConnected(type));
  }
});

test('every setting of the policy is in the table of what is assumed, except the one about the product', () => {
  const { notificationDeadline: _, ...assuming } = defaultLinkPolicy;
  for (const name of Object.keys(assuming)) expect(assumptions).toMatch(new RegExp(`\`${name}\\b`));
});
