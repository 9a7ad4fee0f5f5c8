import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectFolder } from '../rig/processes.js';

test("a message's wire name is its export's name less its suffix", async () => {
  const folder = join(projectFolder, 'protocol');
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const modules = await Promise.all(
    files.map(async (file) => (await import(join(folder, file))) as Record<string, { name?: string }>),
  );
  const named = modules
    .flatMap((exported) => Object.entries(exported))
    .filter(([exportName]) => /^(?!define).+(?:Signal|Query|Update)$/.test(exportName))
    .map(([exportName, { name }]) => ({ exportName, wireName: name }));
  expect(named.length).toBeGreaterThan(30);
  const misnamed = named.filter(
    ({ exportName, wireName }) => exportName.replace(/(?:Signal|Query|Update)$/, '') !== wireName,
  );
  expect(misnamed).toEqual([]);
});
