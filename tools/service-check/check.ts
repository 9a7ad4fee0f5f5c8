import type { ServiceDescription } from '../../service/description.js';
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
  /** The client's calls that are not described; a whole group if none of its calls is: `orders.import`, `management`. */
  missing: string[];
  /** What is not read as it should, of examples, and answers made of a schema, that break their own schema. */
  doubtful: string[];
  /** Fields of answers that the client passes on as data, by operation: `GET /v3/order/{order_id}: order.new_field`. */
  unknownFields: string[];
  unknown: UnknownWords;
  /** How much was checked. */
  counts: { calls: number; requests: number; examples: number; made: number };
}

export interface CheckOptions {
  /** How the client is set up for this deployment. What it says is `missing` is not checked. */
  service?: ServiceDescription;
  /** Only the calls whose names begin so. Default: all. */
  only?: readonly string[];
}

/** Compares everything that the client sends and reads with a description. */
export async function checkDescription(
  description: Description,
  { service = {}, only = [''] }: CheckOptions = {},
): Promise<Findings> {
  const findings: Findings = {
    violations: [],
    missing: [],
    doubtful: [],
    unknownFields: [],
    unknown: unknownWords(description),
    counts: { calls: 0, requests: 0, examples: 0, made: 0 },
  };
  const schemas = {
    parameters: schemasOf(description, { coerces: true }),
    bodies: schemasOf(description, { coerces: false }),
  };
  const calls = sampleCalls
    .filter(({ name }) => only.some((beginning) => name.startsWith(beginning)))
    .filter(({ name }) => !(service.missing ?? []).some((given) => isOf(name, given)));
  const known = new Map<Operation, Example[]>();
  const examples = (operation: Operation) => {
    const found = known.get(operation) ?? examplesOf(description, operation, schemas.bodies);
    known.set(operation, found);
    return found;
  };
  const missing = new Set<string>();
  const exchanges = await startExchanges(service);
  try {
    for (const call of calls) await checkCall(call, { description, schemas, examples, exchanges, findings, missing });
  } finally {
    await exchanges.close();
  }
  findings.unknownFields = [...new Set(findings.unknownFields)];
  const isGone = (group: string) => calls.every(({ name }) => !isOf(name, group) || missing.has(baseOf(name)));
  const groups = [...missing].map((name) => {
    const [group = ''] = name.split('.');
    return isGone(group) ? group : name;
  });
  findings.missing = [...new Set(groups)];
  return findings;
}

/** The method of the client, without what is special about a call. */
function baseOf(name: string): string {
  return name.split(':')[0] ?? name;
}

function isOf(name: string, given: string): boolean {
  return name === given || name.startsWith(`${given}.`) || name.startsWith(`${given}:`);
}

interface Checking {
  description: Description;
  schemas: { parameters: Schemas; bodies: Schemas };
  examples: (operation: Operation) => Example[];
  /** The calls of which a request is not described. */
  missing: Set<string>;
  exchanges: Exchanges;
  findings: Findings;
}

async function checkCall(call: SampleCall, checking: Checking): Promise<void> {
  const { description, schemas, exchanges, findings, missing } = checking;
  findings.counts.calls += 1;
  const { requests, outcome } = await exchanges.make(call, (request) => usualAnswer(checking, request));
  if ('error' in outcome && outcome.error instanceof RequestInvalid) {
    findings.violations.push(`${call.name}: the client itself refuses its sample request: ${outcome.error.message}`);
  }
  findings.counts.requests += requests.length;
  for (const request of requests) {
    const operation = operationFor(description, request);
    if (!operation) missing.add(baseOf(call.name));
    const faults = operation ? requestFaults(request, operation, schemas) : [];
    const of = `${call.name}: ${request.method} ${operation?.path}`;
    findings.violations.push(...faults.map((fault) => `${of} ${fault}`));
  }
  const [first] = requests;
  const operation = first && operationFor(description, first);
  if (operation && !isPdf(operation)) await checkReading(call, operation, checking);
}

async function checkReading(call: SampleCall, operation: Operation, checking: Checking): Promise<void> {
  const { examples, exchanges, findings } = checking;
  for (const given of examples(operation)) {
    const example = { ...given, value: aboutSample(given.value, operation.path) };
    findings.counts[given.isMade ? 'made' : 'examples'] += 1;
    const { outcome } = await exchanges.make(call, () => ({ json: example.value }));
    // What is made of a schema has words of no meaning, so its values are not compared.
    const faults = example.isMade && 'result' in outcome ? [] : readingFaults(example.value, outcome);
    const of = `${call.name}: the ${example.name} of ${operation.method} ${operation.path}`;
    (example.isValid ? findings.violations : findings.doubtful).push(...faults.map((fault) => `${of} ${fault}`));
    if ('result' in outcome && !call.name.includes(':')) await findUnknown(call, operation, example, checking);
  }
}

/** An example is about an object of its own, and the client reads no answer about another object, or user, than it asked for. */
function aboutSample(example: unknown, path: string): unknown {
  if (!isObject(example)) return example;
  if (isObject(example['order'])) return { ...example, order: aboutSample(example['order'], path) };
  const name = /\{(\w+)\}[^{]*$/.exec(path)?.[1] ?? '';
  const id = askedFor[name];
  const field = id && [name, 'id'].find((key) => key in example);
  return { ...example, ...('user_id' in example && { user_id: ids.userId }), ...(field && { [field]: id }) };
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

function usualAnswer({ description, examples }: Checking, request: SentRequest): Answer {
  const operation = operationFor(description, request);
  if (operation && isPdf(operation)) return { pdf: true };
  return { json: operation ? aboutSample(examples(operation)[0]?.value, operation.path) : {} };
}
