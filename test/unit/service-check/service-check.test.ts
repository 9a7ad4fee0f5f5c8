import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Document, parseDocument, type YAMLSeq } from 'yaml';
import { serviceDescriptionIn } from '../../../client/files.js';
import { createLabService } from '../../../service/lab-service.js';
import { sampleCalls } from '../../../tools/service-check/calls.js';
import { checkDescription, type CheckOptions, type Findings } from '../../../tools/service-check/check.js';
import { deriveService } from '../../../tools/service-check/deriving.js';
import { type Description, DescriptionInvalid, readDescription } from '../../../tools/service-check/description.js';
import { type Given, serviceCheck } from '../../../tools/service-check/service-check.js';
import { projectFolder } from '../../rig/processes.js';

const example = join(import.meta.dirname, 'lab-service.openapi.yaml');

async function fileWith(text: string, name = 'description.yaml'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-service-check-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

/** The calls whose names begin like this, and no others. */
const only = (...names: string[]): CheckOptions => ({ only: names });

type Change = (document: Document) => void;

async function exampleWith(...changes: Change[]): Promise<Description> {
  const document = parseDocument(await readFile(example, 'utf8'));
  for (const change of changes) change(document);
  return readDescription(await fileWith(document.toString()));
}

async function findingsWith(change: Change, options: CheckOptions): Promise<Findings> {
  return checkDescription(await exampleWith(change), options);
}

/** An invented deployment with another brand, other paths and addresses, and schemas in the place of examples. No deployment wrote it. */
function ofAnotherShape(document: Document): void {
  const moved = (from: string, method: string, to: string) => {
    const operation = document.getIn(['paths', from, method]);
    document.deleteIn(['paths', from, method]);
    document.setIn(['paths', to, method], operation);
  };
  moved('/orders', 'get', '/lab/orders');
  moved('/v2/user/', 'get', '/v2/user');
  moved('/v3/order', 'post', '/v3/order/create');
  document.deleteIn(['paths', '/v3/order/import']);
  document.setIn(['components', 'securitySchemes', 'teamKey', 'name'], 'X-Acme-API-Key');
  document.setIn(['components', 'securitySchemes', 'linkToken', 'name'], 'X-Acme-Link-Token');
  document.set('servers', [
    { url: 'https://api.acme.example/lab/', description: 'Production' },
    { url: 'https://api.acme.example/sandbox/eu' },
    { url: 'https://us.acme.example', 'x-name': 'SandboxUS' },
    { url: '/relative' },
  ]);
  const provider = { name: 'provider', in: 'path', required: true, schema: { enum: ['another_watch'] } };
  document.setIn(['paths', '/v2/link/provider/password/{provider}', 'post', 'parameters'], [provider]);
  const files = { type: 'array', items: { type: 'string', format: 'binary' } };
  const form = { user_id: { type: 'string' }, file: files, needs_human_review: { type: 'boolean' } };
  document.setIn([...formSchema, 'properties'], form);
  const id = { type: 'string', format: 'uuid' };
  // Its example breaks the schema, as those of real descriptions do; the answer that is made of it has other ids than were asked for.
  const order = { $ref: '#/components/schemas/placed' };
  document.setIn(['components', 'schemas', 'placed'], {
    ...{ type: 'object', required: ['id', 'user_id', 'status'], example: { order: 'wrapped twice' } },
    properties: { id, user_id: id, status: { type: 'string' } },
  });
  answer(document, '/v3/order/testkit', 'post', {
    schema: { type: 'object', required: ['order'], properties: { order } },
  });
  const user = { type: 'object', required: ['user_id'], properties: { user_id: id } };
  answer(document, '/v2/user/{user_id}', 'get', { schema: { ...user, example: { user: { user_id: 'x' } } } });
}

/** Describes the answer to a call. */
function answer(document: Document, path: string, method: string, json: object): void {
  document.setIn(['paths', path, method, 'responses', '200', 'content'], { 'application/json': json });
}

const bodyOf = (path: string, type: string) => ['paths', path, 'post', 'requestBody', 'content', type, 'schema'];
const formSchema = bodyOf('/lab_report/v1/parser/job', 'multipart/form-data');

describe('a deployment of another shape', () => {
  const service = {
    ...{ brand: 'Acme', ordersPath: '/lab/orders', usersPath: '/v2/user', createOrderPath: '/v3/order/create' },
    addresses: {
      production: 'https://api.acme.example/lab',
      'sandbox-eu': 'https://api.acme.example/sandbox/eu',
      'sandbox-us': 'https://us.acme.example',
    },
  };

  test('is derived from its description, and what cannot be derived is said', async () => {
    expect(deriveService(await exampleWith(ofAnotherShape))).toEqual({
      service,
      open: ['addresses: /relative is not a whole address.'],
    });
    const bare = (document: Document): void => {
      document.delete('servers');
      document.setIn(['components', 'securitySchemes', 'linkToken', 'name'], 'x-other-link-token');
      for (const path of ['/v3/order', '/v2/user/', '/v2/user']) document.deleteIn(['paths', path]);
      document.setIn(['paths', '/old/orders'], document.getIn(['paths', '/orders'], true));
      document.setIn(['paths', '/new/orders'], document.getIn(['paths', '/orders'], true));
      document.deleteIn(['paths', '/orders']);
    };
    expect(deriveService(await exampleWith(bare))).toEqual({
      service: {},
      open: [
        "brand: 2 words are in the security schemes' x-<brand>-api-key.",
        'ordersPath: more than one GET has a path that ends in /orders.',
        'usersPath: no GET has a path that ends in /user or /users.',
        'createOrderPath: no POST has a path that ends in /order or /order/create.',
        'addresses: the description names no server.',
      ],
    });
  });

  test('has no violation with its own description: what the check invented itself does not count', async () => {
    const { counts, ...found } = await checkDescription(await exampleWith(ofAnotherShape), { service });
    expect(found).toMatchObject({
      ...{ violations: [], missing: ['orders.import'] },
      doubtful: [expect.stringMatching(/^users\.get: the schema example of GET \S+ is not read/) as string],
    });
    expect(counts.made).toBe(3);
  });

  test.each<[string, string, Change, RegExp]>([
    [
      "a list of words without the client's own",
      'orders.page',
      (document) => withParameter(document, 'interpretation', { enum: ['normal'] }, '/lab/orders'),
      /query parameter interpretation: it must be equal to one of the allowed values/,
    ],
    [
      'a form with another field for the file',
      'reports.createJob',
      (document) => document.setIn([...formSchema, 'required'], ['user_id', 'document']),
      /body: it must have required property 'document'/,
    ],
    [
      'a form with another type',
      'reports.createJob',
      (document) => document.setIn([...formSchema, 'properties'], { file: { type: 'integer' } }),
      /body: file must be integer/,
    ],
    [
      'an answer whose schema has the order elsewhere',
      'orders.createTestkit',
      (document) =>
        answer(document, '/v3/order/testkit', 'post', {
          schema: { type: 'object', properties: { result: { type: 'string' } } },
        }),
      /the schema of POST \/v3\/order\/testkit is not read/,
    ],
  ])('shows %s', async (_what, name, change, expected) => {
    const description = await exampleWith(ofAnotherShape, change);
    const { violations } = await checkDescription(description, { service, ...only(name) });
    expect(violations).toEqual(expect.arrayContaining([expect.stringMatching(expected)]));
  });
});

test('every method of the client has a sample call', () => {
  const service = createLabService({ baseUrl: 'http://127.0.0.1:1', apiKey: 'sk_invented' });
  onTestFinished(() => service.close());
  const methods = (given: object, prefix: string): string[] =>
    Object.entries(given).flatMap(([name, value]) => {
      if (typeof value === 'function') return [`${prefix}${name}`];
      return typeof value === 'object' && value !== null ? methods(value as object, `${prefix}${name}.`) : [];
    });
  const called = new Set(sampleCalls.map(({ name }) => name.split(':')[0]));
  // The streams make the same requests as the documents.
  const uncalled = methods(service, '').filter((name) => !called.has(name) && !name.startsWith('documents.streams.'));
  expect(uncalled).toEqual(['close']);
});

test('a description of what the sandbox plays has no violation, in YAML as 3.0 and in JSON as 3.1', async () => {
  const document = parseDocument(await readFile(example, 'utf8'));
  document.set('openapi', '3.1.0');
  const json = await fileWith(JSON.stringify(document), 'description.json');
  for (const file of [example, json]) {
    const parts = only('orders.', 'users.', 'links.');
    const { violations, counts } = await checkDescription(await readDescription(file), parts);
    expect(violations).toEqual([]);
    expect(counts.examples).toBeGreaterThan(20);
  }
});

const order = '/v3/order/{order_id}';
const kitSchema = bodyOf('/v3/order/testkit', 'application/json');

/** Describes the parameters of the order list without one, or with another one of its name. */
function withParameter(document: Document, name: string, schema?: object, path = '/orders'): void {
  const place = ['paths', path, 'get', 'parameters'];
  const parameters = (document.getIn(place) as YAMLSeq).toJSON() as { name: string }[];
  const others = parameters.filter((each) => each.name !== name);
  document.setIn(place, schema === undefined ? others : [...others, { name, in: 'query', schema }]);
}

const requiredHeader = { in: 'header', required: true, schema: { type: 'string' } };

test.each<[string, string[], Change, RegExp]>([
  [
    'a required field that the client does not send',
    ['orders.createTestkit'],
    (document) => document.addIn([...kitSchema, 'required'], 'invented'),
    /orders\.createTestkit: POST \/v3\/order\/testkit body: it must have required property 'invented'/,
  ],
  [
    'a field of another type',
    ['orders.createTestkit'],
    (document) => document.setIn([...kitSchema, 'properties', 'lab_test_id'], { type: 'integer' }),
    /body: lab_test_id must be integer/,
  ],
  [
    'a field that is not described',
    ['orders.createTestkit'],
    (document) => document.deleteIn([...kitSchema, 'properties', 'user_id']),
    /body: it must NOT have additional properties \(user_id\)/,
  ],
  [
    'a query parameter that is not described',
    ['orders.page'],
    (document) => withParameter(document, 'is_critical'),
    /query parameter is_critical: is not described/,
  ],
  [
    'a query parameter of another form',
    ['orders.page'],
    (document) => withParameter(document, 'page', { type: 'integer', minimum: 2 }),
    /query parameter page: it must be >= 2/,
  ],
  [
    'a required header',
    ['orders.get'],
    (document) => document.addIn(['paths', order, 'get', 'parameters'], { name: 'X-Invented', ...requiredHeader }),
    /header x-invented: is required and missing/,
  ],
  [
    'another credential',
    ['orders.get'],
    (document) => document.setIn(['components', 'securitySchemes', 'teamKey', 'name'], 'x-other-api-key'),
    /carries none of the required keys: x-other-api-key/,
  ],
  [
    'an example without what is required',
    ['orders.get'],
    (document) => answer(document, order, 'get', { example: { status: 'received' } }),
    /the example of GET \/v3\/order\/\{order_id\} is not read: .*id/,
  ],
  [
    'an example with a value that is lost',
    ['orders.get'],
    (document) => answer(document, order, 'get', { example: { id: 'order-1', has_abn: 'surely' } }),
    /loses has_abn/,
  ],
])('a violation is found: %s', async (_what, names, change, expected) => {
  const { violations } = await findingsWith(change, only(...names));
  expect(violations).toEqual(expect.arrayContaining([expect.stringMatching(expected)]));
});

test('calls whose paths are not described are missing, as a group if all are, unless they are known to be', async () => {
  const gone = (document: Document) => {
    for (const path of [order, '/v2/user/{user_id}/create_portal_url']) document.deleteIn(['paths', path]);
  };
  const { missing, violations } = await findingsWith(gone, only('orders.', 'portal.'));
  expect({ missing, violations }).toEqual({ missing: ['portal', 'orders.get'], violations: [] });
  const known = await findingsWith(gone, { ...only('orders.', 'portal.'), service: { missing: ['portal'] } });
  expect(known.missing).toEqual(['orders.get']);
});

test('unknown fields, statuses and events are listed, and do not count as violations', async () => {
  const { violations, unknownFields, unknown } = await findingsWith((document) => {
    const events = [{ id: 1, invented_detail: 'a text' }];
    const example = { id: 'order-1', status: 'received', invented_field: 'invented', events };
    answer(document, order, 'get', { example });
    const words = (...all: string[]) => ({ type: 'string', enum: all });
    const properties = {
      status: words('received.testkit.ordered', 'received.testkit.teleported'),
      event_type: words('labtest.order.updated', 'labtest.order.teleported', 'invented.thing.created'),
    };
    document.setIn(['components', 'schemas', 'invented'], { type: 'object', properties });
  }, only('orders.get'));
  expect(violations).toEqual([]);
  expect(unknownFields).toEqual([`GET ${order}: invented_field`, `GET ${order}: events.invented_detail`]);
  expect(unknown).toEqual({
    statuses: ['received.testkit.teleported'],
    events: ['invented.thing.created', 'labtest.order.teleported'],
  });
});

test.each([
  ['{ "openapi": "3.0', /is neither JSON nor YAML/],
  ['just a text', /its content is not an object/],
  ['swagger: "2.0"\ninfo: { title: a, version: "1" }\npaths: {}', /is not OpenAPI 3\.0 or 3\.1/],
  [
    'openapi: 3.0.3\ninfo: { title: a }\npaths: {}',
    /is not valid OpenAPI 3\.0: correct it first\.\n {2}\/info must have required property 'version'/,
  ],
])('a file that cannot be used is refused in words: %j', async (text, expected) => {
  const file = await fileWith(text);
  await expect(readDescription(file)).rejects.toBeInstanceOf(DescriptionInvalid);
  await expect(readDescription(file)).rejects.toThrow(expected);
});

describe('the command', () => {
  /** If both agree, and what it says. */
  async function checked(given: Given): Promise<[boolean, string]> {
    const said: string[] = [];
    return [await serviceCheck(given, (line) => said.push(line)), said.join('\n')];
  }

  test('exits with 2 and its usage for an option that it does not know', async () => {
    const command = ['--import', 'tsx', 'tools/service-check/main.ts', '--openapi', example, '--invented'];
    await expect(promisify(execFile)(process.execPath, command, { cwd: projectFolder })).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/unknown option '--invented'\n\nUsage: npm run service-check -- /) as string,
    });
  });

  test('finds what is not described, and refuses a file that is missing', async () => {
    const openapi = await fileWith('openapi: 3.0.3\ninfo: { title: a, version: "1" }\npaths: {}');
    expect(await checked({ openapi })).toEqual([false, expect.stringMatching(/not described:\n {2}users\n/)]);
    await expect(checked({ openapi: '/nowhere/invented.yaml' })).rejects.toThrow(/cannot be read/);
  });

  const few = [order, '/lab/orders', '/v2/user', '/v3/order/create'];

  test('writes what it derived, and then shows what has changed since', async () => {
    const { document } = await exampleWith(ofAnotherShape, (each) => {
      for (const path of Object.keys((each.toJSON() as { paths: object }).paths))
        if (!few.includes(path)) each.deleteIn(['paths', path]);
    });
    const openapi = await fileWith(JSON.stringify(document));
    const written = join(dirname(openapi), 'deployment.json');
    const [, said] = await checked({ openapi, writeDescription: written });
    expect(said).toMatch(/Derived:\n {2}brand: "Acme"/);
    const missing = expect.arrayContaining(['orders.import']) as string[];
    expect(serviceDescriptionIn(written)).toMatchObject({ brand: 'Acme', missing });
    expect(await checked({ openapi, description: written })).toEqual([true, expect.stringContaining(': 0 violations')]);
    const again = checked({ openapi, writeDescription: written });
    await expect(again).rejects.toThrow('remove it, or give it as --description');
    const { [order]: _, ...paths } = document['paths'] as Record<string, unknown>;
    const changed = await fileWith(JSON.stringify({ ...document, paths }));
    const found = [false, expect.stringContaining('orders.get')];
    expect(await checked({ openapi: changed, description: written })).toEqual(found);
  });
});
