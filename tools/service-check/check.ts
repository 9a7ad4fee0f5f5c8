import type { ServiceConfig } from '../../service/http/http.js';
import { RequestInvalid } from '../../service/errors.js';
import { sampleCalls, type SampleCall } from './calls.js';
import type { Description, Operation } from './description.js';
import { type Example, examplesOf, isPdf } from './examples.js';
import { type Answer, type Exchanges, type SentRequest, startExchanges } from './exchanges.js';
import { bringsMark, markedIn, readingFaults } from './reading.js';
import { isObject } from '../../service/json-object.js';
import { ids } from './ids.js';
import { operationFor, requestFaults } from './request-faults.js';
import { type Schemas, schemasOf } from './schemas.js';
import { type UnknownWords, unknownWords } from './vocabulary.js';

/** What a description and the client disagree about. */
export interface Findings {
  /** Requests that are not valid, and examples that are not read: each a sentence that begins with the call. */
  violations: string[];
  /** Fields of answers that the client passes on as data, by operation: `GET /v3/order/{order_id}: order.new_field`. */
  unknownFields: string[];
  unknown: UnknownWords;
  /** How much was checked. */
  counts: { calls: number; requests: number; examples: number };
}

export interface CheckOptions {
  /** How the client is set up for this deployment. */
  config?: Partial<ServiceConfig>;
  /** Groups of calls, or calls, that the deployment does not have: `management`, `orders.import`. */
  without?: readonly string[];
}

/** Compares everything that the client sends and reads with a description. */
export async function checkDescription(
  description: Description,
  { config = {}, without = [] }: CheckOptions = {},
): Promise<Findings> {
  const findings: Findings = {
    violations: [],
    unknownFields: [],
    unknown: unknownWords(description),
    counts: { calls: 0, requests: 0, examples: 0 },
  };
  const schemas = {
    parameters: schemasOf(description, { coerces: true }),
    bodies: schemasOf(description, { coerces: false }),
  };
  const exchanges = await startExchanges(config);
  try {
    for (const call of sampleCalls.filter(({ name }) => !without.some((given) => isOf(name, given)))) {
      await checkCall(call, { description, schemas, exchanges, findings });
    }
  } finally {
    await exchanges.close();
  }
  findings.unknownFields = [...new Set(findings.unknownFields)];
  return findings;
}

function isOf(name: string, given: string): boolean {
  return name === given || name.startsWith(`${given}.`) || name.startsWith(`${given}:`);
}

interface Checking {
  description: Description;
  schemas: { parameters: Schemas; bodies: Schemas };
  exchanges: Exchanges;
  findings: Findings;
}

async function checkCall(call: SampleCall, checking: Checking): Promise<void> {
  const { description, schemas, exchanges, findings } = checking;
  findings.counts.calls += 1;
  const { requests, outcome } = await exchanges.make(call, (request) => usualAnswer(description, request));
  if ('error' in outcome && outcome.error instanceof RequestInvalid) {
    findings.violations.push(`${call.name}: the client itself refuses its sample request: ${outcome.error.message}`);
  }
  findings.counts.requests += requests.length;
  for (const request of requests) {
    const operation = operationFor(description, request);
    const faults = operation ? requestFaults(request, operation, schemas) : ['is not described'];
    const of = `${call.name}: ${request.method} ${operation?.path ?? request.path}`;
    findings.violations.push(...faults.map((fault) => `${of} ${fault}`));
  }
  const [first] = requests;
  const operation = first && operationFor(description, first);
  if (operation && !isPdf(operation)) await checkReading(call, operation, checking);
}

async function checkReading(call: SampleCall, operation: Operation, checking: Checking): Promise<void> {
  const { description, exchanges, findings } = checking;
  for (const given of examplesOf(description, operation)) {
    const example = { ...given, value: aboutSample(given.value, operation.path) };
    findings.counts.examples += 1;
    const { outcome } = await exchanges.make(call, () => ({ json: example.value }));
    // What is made of a schema has words of no meaning, so its values are not compared.
    const faults = example.name === 'schema' && 'result' in outcome ? [] : readingFaults(example.value, outcome);
    const of = `${call.name}: the ${example.name} of ${operation.method} ${operation.path}`;
    findings.violations.push(...faults.map((fault) => `${of} ${fault}`));
    if ('result' in outcome && !call.name.includes(':')) await findUnknown(call, operation, example, checking);
  }
}

/** An example is about an object of its own, and the client reads no answer about another object than it asked for. */
function aboutSample(example: unknown, path: string): unknown {
  const name = /\{(\w+)\}[^{]*$/.exec(path)?.[1] ?? '';
  const id = askedFor[name];
  if (id === undefined || !isObject(example)) return example;
  if (isObject(example['order'])) return { ...example, order: { ...example['order'], id } };
  const field = [name, 'id'].find((key) => key in example);
  return field === undefined ? example : { ...example, [field]: id };
}

const askedFor: Readonly<Record<string, string>> = {
  user_id: ids.userId,
  order_id: ids.orderId,
  transaction_id: ids.transactionId,
  job_id: ids.jobId,
  raw_result_id: ids.rawResultId,
};

async function findUnknown(
  call: SampleCall,
  operation: Operation,
  example: Example,
  checking: Checking,
): Promise<void> {
  const { exchanges, findings } = checking;
  const unknown: string[] = [];
  for (const { path, value } of markedIn(example.value)) {
    // What is in an unknown field is unknown, too.
    if (unknown.some((above) => path.startsWith(`${above}.`))) continue;
    const { outcome } = await exchanges.make(call, () => ({ json: value }));
    if (bringsMark(outcome)) unknown.push(path);
  }
  const of = `${operation.method} ${operation.path}`;
  findings.unknownFields.push(...unknown.map((path) => `${of}: ${path.replaceAll(/\.\d+/g, '')}`));
}

function usualAnswer(description: Description, request: SentRequest): Answer {
  const operation = operationFor(description, request);
  if (operation && isPdf(operation)) return { pdf: true };
  return { json: operation ? aboutSample(examplesOf(description, operation)[0]?.value, operation.path) : {} };
}
