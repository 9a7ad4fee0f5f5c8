import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Document, parseDocument, type YAMLSeq } from 'yaml';
import { createLabService } from '../../../service/lab-service.js';
import { sampleCalls } from '../../../tools/service-check/calls.js';
import { checkDescription, type CheckOptions, type Findings } from '../../../tools/service-check/check.js';
import { DescriptionInvalid, readDescription } from '../../../tools/service-check/description.js';
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
function only(...names: string[]): CheckOptions {
  return {
    without: sampleCalls.map(({ name }) => name).filter((name) => !names.some((each) => name.startsWith(each))),
  };
}

type Change = (document: Document) => void;

async function findingsWith(change: Change, options: CheckOptions): Promise<Findings> {
  const document = parseDocument(await readFile(example, 'utf8'));
  change(document);
  return checkDescription(await readDescription(await fileWith(document.toString())), options);
}

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
    const { violations, counts } = await checkDescription(
      await readDescription(file),
      only('orders.', 'users.', 'links.'),
    );
    expect(violations).toEqual([]);
    expect(counts.examples).toBeGreaterThan(20);
  }
});

const order = '/v3/order/{order_id}';
const kitSchema = ['paths', '/v3/order/testkit', 'post', 'requestBody', 'content', 'application/json', 'schema'];
const answerOfOrder = ['paths', order, 'get', 'responses', '200', 'content'];
const ordersParameters = ['paths', '/orders', 'get', 'parameters'];

/** Describes the parameters of the order list without one, or with another one of its name. */
function withParameter(document: Document, name: string, schema?: object): void {
  const parameters = (document.getIn(ordersParameters) as YAMLSeq).toJSON() as { name: string }[];
  const others = parameters.filter((each) => each.name !== name);
  document.setIn(ordersParameters, schema === undefined ? others : [...others, { name, in: 'query', schema }]);
}

describe('a violation is found', () => {
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
      'a path that is not described',
      ['orders.get'],
      (document) => document.deleteIn(['paths', order]),
      /orders\.get: GET \/v3\/order\/\S+ is not described/,
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
      (document) =>
        document.addIn(['paths', order, 'get', 'parameters'], {
          name: 'X-Invented',
          in: 'header',
          required: true,
          schema: { type: 'string' },
        }),
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
      (document) => document.setIn(answerOfOrder, { 'application/json': { example: { status: 'received' } } }),
      /the example of GET \/v3\/order\/\{order_id\} is not read: .*id/,
    ],
    [
      'an example with a value that is lost',
      ['orders.get'],
      (document) =>
        document.setIn(answerOfOrder, { 'application/json': { example: { id: 'order-1', has_abn: 'surely' } } }),
      /loses has_abn/,
    ],
  ])('%s', async (_what, names, change, expected) => {
    const { violations } = await findingsWith(change, only(...names));
    expect(violations).toEqual(expect.arrayContaining([expect.stringMatching(expected)]));
  });
});

test('unknown fields, statuses and events are listed, and do not count as violations', async () => {
  const { violations, unknownFields, unknown } = await findingsWith((document) => {
    const events = [{ id: 1, invented_detail: 'a text' }];
    const answer = { id: 'order-1', status: 'received', invented_field: 'invented', events };
    document.setIn(answerOfOrder, { 'application/json': { example: answer } });
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

describe('a file that cannot be used is refused in words', () => {
  test.each([
    ['{ "openapi": "3.0', /is neither JSON nor YAML/],
    ['just a text', /its content is not an object/],
    ['swagger: "2.0"\ninfo: { title: a, version: "1" }\npaths: {}', /is not OpenAPI 3\.0 or 3\.1/],
    [
      'openapi: 3.0.3\ninfo: { title: a }\npaths: {}',
      /is not valid OpenAPI 3\.0: correct it first\.\n {2}\/info must have required property 'version'/,
    ],
  ])('%j', async (text, expected) => {
    const file = await fileWith(text);
    await expect(readDescription(file)).rejects.toBeInstanceOf(DescriptionInvalid);
    await expect(readDescription(file)).rejects.toThrow(expected);
  });

  test('the command exits with 1 on a violation, and with 2 on a file that is missing or an option that it does not know', async () => {
    const command = ['--import', 'tsx', 'tools/service-check/main.ts', '--openapi'];
    const run = (file: string, ...more: string[]) =>
      promisify(execFile)(process.execPath, [...command, file, ...more], { cwd: projectFolder });
    await expect(run('/nowhere/invented.yaml')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be read') as string,
    });
    await expect(run(example, '--invented')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/unknown option '--invented'\n\nUsage: npm run service-check -- /) as string,
    });
    const groups = new Set(sampleCalls.map(({ name }) => name.split('.')[0] ?? ''));
    const without = [...groups].filter((name) => name !== 'timeseries');
    const all = without.flatMap((name) => ['--without', name]);
    const empty = await fileWith('openapi: 3.0.3\ninfo: { title: a, version: "1" }\npaths: {}');
    await expect(run(empty, ...all)).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringContaining('timeseries.workoutStream') as string,
    });
    expect((await run(example, ...all)).stdout).toContain('0 violations');
  });
});
