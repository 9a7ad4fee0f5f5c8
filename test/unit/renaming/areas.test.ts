import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { areasOf, isOurs, oursIn } from '../../renaming/areas.js';
import { knownSurvivors } from '../../renaming/survivors.js';
import { wireNamesOf } from '../../renaming/wire-names.js';
import { projectFolder } from '../../rig/processes.js';

const namesIn = async (file: string) => wireNamesOf(await readFile(join(projectFolder, 'service', file), 'utf8'));

test('every file of service/ with names of the wire has tests that hold them, and they are there', async () => {
  const areas = await areasOf(projectFolder, namesIn);
  for (const { file, suite } of areas) {
    expect(suite, file).not.toEqual([]);
    for (const path of suite) await expect(access(join(projectFolder, path)), path).resolves.toBeUndefined();
  }
  const counted = await Promise.all(areas.map(async ({ file }) => (await namesIn(file)).length));
  expect(counted.every((count) => count > 0)).toBe(true);
});

test('a name that is told to survive, or to be ours, is there', async () => {
  for (const { file, name } of knownSurvivors) {
    expect((await namesIn(file)).map((each) => each.name)).toContain(name);
    expect(isOurs(file, name)).toBe(false);
  }
  for (const { file } of await areasOf(projectFolder, namesIn)) {
    const names = new Set((await namesIn(file)).map(({ name }) => name));
    expect(Object.keys(oursIn(file)).filter((name) => !names.has(name))).toEqual([]);
  }
});
