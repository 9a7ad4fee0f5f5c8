import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnySchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { projectFolder } from './processes.js';

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });

/**
 * The reasons why a value does not fit a schema that is published with the client; none if it fits.
 *
 * @param document a file of client/schemas/: `kitOrder`, `notifications`
 * @param definition a name in its `$defs`: `query.state.answer`, `labops.order.result`
 */
export function schemaFaults(document: string, definition: string, value: unknown): string[] {
  if (ajv.getSchema(document) === undefined) {
    const text = readFileSync(join(projectFolder, `client/schemas/${document}.json`), 'utf8');
    ajv.addSchema(JSON.parse(text) as AnySchemaObject, document);
  }
  const validate = ajv.getSchema(`${document}#/$defs/${definition}`);
  if (validate === undefined) return [`client/schemas/${document}.json has no ${definition}`];
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${definition}${instancePath} ${message}`);
}
