import { expect, test } from 'vitest';
import { notAllowed, productionPackages } from '../../tools/licences/licences.js';
import { projectFolder } from '../rig/processes.js';

test('no production dependency has a licence outside the list', async () => {
  const packages = await productionPackages(projectFolder);
  const names = packages.map(({ id }) => id.replace(/@[^@]*$/, ''));
  // Shared with a development dependency; needed by the worker alone; needed for development alone.
  expect(names).toEqual(expect.arrayContaining(['@temporalio/client', '@temporalio/worker']));
  expect(names).not.toContain('vitest');
  expect(notAllowed(packages)).toEqual([]);
});

test.each(['MIT', '(MIT OR GPL-3.0-only)', 'Apache-2.0 AND MIT'])('%s is allowed', (licence) => {
  expect(notAllowed([{ id: 'invented@1.0.0', licence }])).toEqual([]);
});

test.each(['GPL-3.0-only', 'MIT AND AGPL-3.0-only', 'SEE LICENSE IN terms.txt', undefined])('%s is not', (licence) => {
  expect(notAllowed([{ id: 'invented@1.0.0', licence }])).toHaveLength(1);
});
