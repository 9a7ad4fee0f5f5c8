import { readFile } from 'node:fs/promises';
import { NotUtf8, utf8Text } from '../../client/files.js';
import { Validator } from '@seriousme/openapi-schema-validator';
import { parse } from 'yaml';

/** The file cannot be used: the message says what is wrong with it, then what to do. */
export class DescriptionInvalid extends Error {
  override readonly name = 'DescriptionInvalid';
}

/** An object of the description: everything in it is read with care, because only its outline was validated. */
export type Part = Readonly<Record<string, unknown>>;

export interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Part | undefined;
}

export interface Operation {
  method: string;
  /** With its names in braces, `/v3/order/{order_id}`. */
  path: string;
  parameters: readonly Parameter[];
  /** By content type. */
  body: Readonly<Record<string, Part>> | undefined;
  bodyRequired: boolean;
  /** The contents of the first answer with a status of 2xx, by content type. */
  answer: Readonly<Record<string, Part>>;
  /** Alternatives of required headers, in lower case. No alternative: anybody may call. */
  credentials: readonly (readonly string[])[];
}

export interface Description {
  version: '3.0' | '3.1';
  document: Part;
  operations: readonly Operation[];
}

function textOf(file: string, bytes: Uint8Array): string {
  try {
    return utf8Text(bytes);
  } catch (error) {
    if (!(error instanceof NotUtf8)) throw error;
    throw new DescriptionInvalid(`${file} is ${error.problem}: save it as UTF-8.`);
  }
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/**
 * Reads an OpenAPI description, 3.0 or 3.1, in JSON or YAML.
 * @throws DescriptionInvalid
 */
export async function readDescription(file: string): Promise<Description> {
  const bytes = await readFile(file).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new DescriptionInvalid(`${file} cannot be read (${code}): check the path.`);
  });
  const document = parsed(file, textOf(file, bytes));
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  const { version } = validator;
  if (version !== '3.0' && version !== '3.1') {
    throw new DescriptionInvalid(`${file} is not OpenAPI 3.0 or 3.1: convert it, or give another file.`);
  }
  if (!result.valid) {
    const faults = typeof result.errors === 'string' ? result.errors : faultsIn(result.errors ?? []);
    throw new DescriptionInvalid(`${file} is not valid OpenAPI ${version}: correct it first.\n${faults}`);
  }
  return { version, document, operations: operationsOf(document) };
}

function parsed(file: string, text: string): Part {
  let value: unknown;
  try {
    // JSON is YAML.
    value = parse(text, { maxAliasCount: -1 });
  } catch (error) {
    const [where] = String(error instanceof Error ? error.message : error).split('\n');
    throw new DescriptionInvalid(`${file} is neither JSON nor YAML (${where}): correct it first.`);
  }
  if (isPart(value)) return value;
  throw new DescriptionInvalid(`${file} is not an OpenAPI description: its content is not an object.`);
}

function faultsIn(errors: readonly { instancePath?: string; message?: string }[]): string {
  return errors
    .slice(0, 10)
    .map(({ instancePath = '', message = '' }) => `  ${instancePath || '/'} ${message}`)
    .join('\n');
}

function operationsOf(document: Part): Operation[] {
  return Object.entries(partIn(document, 'paths')).flatMap(([path, given]) => {
    const item = resolved(document, given);
    return methods.flatMap((method) => {
      const operation = item[method];
      return isPart(operation) ? [operationOf(document, { method, path }, item, operation)] : [];
    });
  });
}

function operationOf(
  document: Part,
  { method, path }: { method: string; path: string },
  item: Part,
  operation: Part,
): Operation {
  const parameters = [...listIn(item, 'parameters'), ...listIn(operation, 'parameters')].map((given) =>
    parameterOf(resolved(document, given)),
  );
  const body = operation['requestBody'] === undefined ? undefined : resolved(document, operation['requestBody']);
  const success = Object.entries(partIn(operation, 'responses')).find(([status]) => status.startsWith('2'));
  return {
    method: method.toUpperCase(),
    path,
    parameters,
    body: body && contentOf(body),
    bodyRequired: body?.['required'] === true,
    answer: success ? contentOf(resolved(document, success[1])) : {},
    credentials: credentialsOf(document, operation),
  };
}

function parameterOf(given: Part): Parameter {
  const [content] = Object.values(contentOf(given));
  const schema = isPart(given['schema']) ? given['schema'] : content && partIn(content, 'schema');
  return { name: String(given['name']), in: String(given['in']), required: given['required'] === true, schema };
}

function contentOf(given: Part): Readonly<Record<string, Part>> {
  const entries = Object.entries(partIn(given, 'content')).filter((entry): entry is [string, Part] => isPart(entry[1]));
  return Object.fromEntries(entries);
}

function credentialsOf(document: Part, operation: Part): string[][] {
  const schemes = partIn(partIn(document, 'components'), 'securitySchemes');
  const alternatives = listIn('security' in operation ? operation : document, 'security');
  return alternatives.filter(isPart).map((alternative) =>
    Object.keys(alternative).flatMap((name) => {
      const scheme = resolved(document, schemes[name]);
      return scheme['type'] === 'apiKey' && scheme['in'] === 'header' ? [String(scheme['name']).toLowerCase()] : [];
    }),
  );
}

/** What a reference inside the document points at; anything else is itself. */
export function resolved(document: Part, given: unknown): Part {
  if (!isPart(given)) return {};
  const reference = given['$ref'];
  if (typeof reference !== 'string') return given;
  if (!reference.startsWith('#/')) {
    throw new DescriptionInvalid(`The description refers to ${reference}: put all files into one first (bundle it).`);
  }
  const names = reference.slice(2).split('/').map(unescaped);
  const target = names.reduce<unknown>((part, name) => (isPart(part) ? part[name] : undefined), document);
  return target === given ? {} : resolved(document, target);
}

function unescaped(name: string): string {
  return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
}

export function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function partIn(part: Part, name: string): Part {
  const value = part[name];
  return isPart(value) ? value : {};
}

export function listIn(part: Part, name: string): readonly unknown[] {
  const value = part[name];
  return Array.isArray(value) ? value : [];
}
