import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { schemaFaults } from '../rig/json-schemas.js';
import { projectFolder } from '../rig/processes.js';

/** The JSON examples of docs/messages.md, each with the schema that its fence names: ```json kitOrder#result */
async function examples(): Promise<{ schema: string; json: string }[]> {
  const text = await readFile(join(projectFolder, 'docs/messages.md'), 'utf8');
  return [...text.matchAll(/^```json ?(.*)\n([^]+?)^```/gm)].map(([, schema = '', json = '']) => ({ schema, json }));
}

/** The paths of the objects that an example shortens: they have the field `…`. */
function shortened(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([name, each]) => shortened(each, `${path}/${name}`));
  return '…' in value ? [path, ...inside] : inside;
}

test('every JSON example of docs/messages.md fits the schema that is published for it', async () => {
  const found = await examples();
  expect(found.length).toBeGreaterThan(20);
  const faults = found.flatMap(({ schema, json }) => {
    const [document = '', definition = ''] = schema.split('#');
    const example: unknown = JSON.parse(json);
    const incomplete = shortened(example).map((path) => `${definition}${path} must have required property`);
    const all = schemaFaults(document, definition, example);
    return all
      .filter((fault) => !incomplete.some((start) => fault.startsWith(start)))
      .map((each) => `${document} ${each}`);
  });
  expect(faults).toEqual([]);
});

test('the bodies of docs/sandbox.md that a shell can copy fit the schemas', async () => {
  const text = await readFile(join(projectFolder, 'docs/sandbox.md'), 'utf8');
  const bodies = [...text.matchAll(/<<END.*\n([^]+?)^END$/gm)].map(([, json = '']) => JSON.parse(json) as object);
  const [order, registration] = bodies;
  expect(bodies.length).toBe(2);
  expect(schemaFaults('placeKitOrder', 'input', order)).toEqual([]);
  expect(schemaFaults('kitOrder', 'update.register.argument', { registration })).toEqual([]);
});

test('a message that lacks a required field, has one of another type or an unknown choice does not fit its schema', () => {
  const code = (value: unknown) => schemaFaults('linkProvider', 'update.submitMfaCode.argument', value);
  expect(code({ code: '1234' })).toEqual([]);
  expect(code({})).toEqual([expect.stringContaining("required property 'code'")]);
  expect(code({ code: 1234 })).toEqual([expect.stringContaining('/code must be string')]);
  const decision = { orderId: 'an-order', decision: 'forget' };
  const faults = schemaFaults('kitOrder', 'update.resolveProblem.argument', decision);
  expect(faults).toEqual([expect.stringContaining('/decision')]);
});

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
