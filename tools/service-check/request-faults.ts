import type { Description, Operation, Part } from './description.js';
import type { SentRequest } from './exchanges.js';
import type { Schemas } from './schemas.js';

/** Headers that every HTTP request has, and those that are credentials, which are checked by themselves. */
const usual =
  /^(?:accept|accept-encoding|connection|content-length|content-type|host|transfer-encoding|x-.*-(?:key|token))$/;

/** The operation that a request is for. A path with fewer names in braces comes first: `/order/import` is not an order's id. */
export function operationFor({ operations }: Description, { method, path }: SentRequest): Operation | undefined {
  return operations
    .filter((operation) => operation.method === method && pathValues(operation, path) !== undefined)
    .toSorted((one, other) => namesIn(one) - namesIn(other))[0];
}

function namesIn({ path }: Operation): number {
  return path.split('{').length;
}

function pathValues({ path: template }: Operation, path: string): Record<string, string> | undefined {
  const pattern = template.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{([^}]+)\}/g, '([^/]+)');
  const match = new RegExp(`^${pattern}$`).exec(path);
  const names = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? '');
  return match
    ? Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? '')]))
    : undefined;
}

/** Everything in a request that the description does not allow, a sentence each. */
export function requestFaults(
  request: SentRequest,
  operation: Operation,
  schemas: { parameters: Schemas; bodies: Schemas },
): string[] {
  return [
    ...credentialFaults(request, operation),
    ...pathFaults(request, operation, schemas.parameters),
    ...queryFaults(request, operation, schemas.parameters),
    ...headerFaults(request, operation),
    ...bodyFaults(request, operation, schemas),
  ];
}

function credentialFaults({ headers }: SentRequest, { credentials }: Operation): string[] {
  const isMet =
    credentials.length === 0 || credentials.some((names) => names.every((name) => headers[name] !== undefined));
  return isMet
    ? []
    : [`carries none of the required keys: ${credentials.map((names) => names.join(' and ')).join(', or ')}`];
}

function pathFaults(request: SentRequest, operation: Operation, schemas: Schemas): string[] {
  return Object.entries(pathValues(operation, request.path) ?? {}).flatMap(([name, value]) => {
    const schema = operation.parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.schema;
    return schema ? schemas.faultsOf(schema, value).map((fault) => `path parameter ${name}: ${fault}`) : [];
  });
}

function queryFaults({ query }: SentRequest, { parameters }: Operation, schemas: Schemas): string[] {
  const described = parameters.filter((parameter) => parameter.in === 'query');
  const missing = described.filter(({ name, required }) => required && !query.has(name));
  const wrong = [...new Set(query.keys())].flatMap((name) => {
    const parameter = described.find((each) => each.name === name);
    if (!parameter) return [`query parameter ${name}: is not described`];
    const values = query.getAll(name);
    const value = values.length === 1 ? values[0] : values;
    return parameter.schema
      ? schemas.faultsOf(parameter.schema, value).map((fault) => `query parameter ${name}: ${fault}`)
      : [];
  });
  return [...missing.map(({ name }) => `query parameter ${name}: is required and missing`), ...wrong];
}

function headerFaults({ headers }: SentRequest, { parameters }: Operation): string[] {
  const described = parameters
    .filter((parameter) => parameter.in === 'header')
    .map(({ name, required }) => ({ name: name.toLowerCase(), required }));
  const missing = described.filter(({ name, required }) => required && headers[name] === undefined);
  const unknown = Object.keys(headers).filter(
    (name) => !usual.test(name) && !described.some((each) => each.name === name),
  );
  return [
    ...missing.map(({ name }) => `header ${name}: is required and missing`),
    ...unknown.map((name) => `header ${name}: is not described`),
  ];
}

function bodyFaults(
  { body, contentType }: SentRequest,
  { body: described, bodyRequired }: Operation,
  schemas: { parameters: Schemas; bodies: Schemas },
): string[] {
  if (body === undefined) return bodyRequired ? ['has no body, which is required'] : [];
  const content = described?.[contentType ?? ''];
  if (!content) return [`has a body of type ${contentType ?? 'unknown'}, which is not described`];
  const schema = content['schema'];
  if (typeof schema !== 'object' || schema === null) return [];
  const isForm = contentType === 'multipart/form-data' && typeof body === 'string';
  const faults = isForm
    ? schemas.parameters.faultsOf(schema as Part, formOf(body))
    : schemas.bodies.faultsOf(schema as Part, body);
  return faults.map((fault) => `body: ${fault}`);
}

/** The texts and the names of the files of a form; a list if a name is repeated. */
function formOf(form: string): Record<string, string | string[]> {
  const values: Record<string, string[]> = {};
  for (const [, name = '', file, text = ''] of form.matchAll(
    /name="([^"]+)"(?:; filename="([^"]+)")?[^]*?\r\n\r\n([^]*?)\r\n--/g,
  )) {
    (values[name] ??= []).push(file ?? text);
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, [one = '', ...more]]) => [name, more.length > 0 ? [one, ...more] : one]),
  );
}
