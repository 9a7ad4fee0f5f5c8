import { describe, expect, test } from 'vitest';
import { failureOf } from '../../activities/failures.js';
import { ServiceRefused } from '../../service/errors.js';
import { createLog, temporalLogger } from '../../workers/log.js';

function written(logFormat: 'names' | 'numbers' = 'names') {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, log: createLog({ logLevel: 'trace', logFormat }, 'test', { write }) };
}

describe('the log', () => {
  test("has the level's name and the time in ISO 8601, or both as numbers", () => {
    const [named, numbered] = [written(), written('numbers')];
    for (const { log } of [named, numbered]) log.warn('a line');
    expect(named.lines).toMatchObject([{ level: 'warn', name: 'test', msg: 'a line' }]);
    const { time } = named.lines[0] as { time: string };
    expect(new Date(time).toISOString()).toBe(time);
    expect(numbered.lines).toMatchObject([{ level: 40, time: expect.any(Number) as number, msg: 'a line' }]);
  });

  const texts = ['authorization', 'apiKey', 'secret', 'link_token', 'mfa_code', 'client_user_id', 'first_name'];
  test.each<[string, unknown]>([
    ['headers', { 'x-acme-api-key': 'hidden' }],
    ['patient_details', { first_name: 'hidden' }],
    ['shipping_details', { city: 'hidden' }],
    ...[...texts, 'email', 'dob', 'body'].map((name): [string, string] => [name, 'hidden']),
  ])('leaves out what stands under %s, at any depth', (name, value) => {
    const { lines, log } = written();
    log.info({ [name]: value }, 'at the top');
    log.info({ request: { [name]: value } }, 'one level down');
    log.info({ call: { requests: [{ [name]: value }] } }, 'in a list');
    log.error({ err: Object.assign(new Error('refused'), { call: { [name]: value } }) }, 'on an error');
    expect(lines).toHaveLength(4);
    expect(JSON.stringify(lines)).not.toContain('hidden');
    expect(JSON.stringify(lines)).toContain('[redacted]');
  });

  test.each(['task', 'taskEncoded'])('leaves out a whole task, which the SDK puts under %s', (name) => {
    const { lines, log } = written();
    temporalLogger(log).error('Error while processing ActivityTask.start', { [name]: 'hidden' });
    expect(lines).toMatchObject([{ [name]: '[redacted]' }]);
  });

  test('has no warning that a side queue has no workflows, which is intended, and every other of the SDK', () => {
    const { lines, log } = written();
    temporalLogger(log).warn('No workflows registered, not polling for workflow tasks');
    temporalLogger(log).warn('No activities registered, not polling for activity tasks');
    expect(lines.map(({ level }) => level)).toEqual(['debug', 'warn']);
  });

  test('describes an error and its causes, without what the service said in details and fields', () => {
    const { lines, log } = written();
    const call = { method: 'POST', path: '/v3/order', status: 422 };
    const said = { sentence: 'hidden', fields: [{ field: 'dob', message: 'hidden' }] };
    const refused = new ServiceRefused({ ...call, knownFields: new Set(['dob']) }, said);
    const failure = failureOf(refused, 'OrderRefused');
    temporalLogger(log).warn('Activity failed', { error: failure });
    log.error({ err: refused }, 'refused');
    log.error(refused, 'refused');
    log.warn({ orderId: 'o-1', why: failure, all: [new AggregateError([failure], 'several')] }, 'elsewhere');
    expect(JSON.stringify(lines)).not.toContain('hidden');
    const message = 'POST /v3/order was refused with status 422 (dob)';
    const cause = { type: 'ServiceRefused', message, status: 422, stack: expect.any(String) as string };
    expect(lines).toMatchObject([
      { err: { type: 'ApplicationFailure', failureType: 'OrderRefused', message, status: 422, cause } },
      { err: cause },
      { err: cause },
      { why: { failureType: 'OrderRefused' }, all: [{ message: 'several', errors: [{ message }] }] },
    ]);
  });

  test('has the code of an error, and no sentence in its place', () => {
    const { lines, log } = written();
    log.error({ err: Object.assign(new Error('broken'), { code: 'ECONNREFUSED' }) }, 'a code');
    log.error({ err: Object.assign(new Error('broken'), { code: 'hidden, a sentence' }) }, 'none');
    expect(lines).toMatchObject([{ err: { code: 'ECONNREFUSED' } }, { err: { message: 'broken' } }]);
    expect(JSON.stringify(lines)).not.toContain('hidden');
  });

  test('accepts a value that contains itself, and one that is deeper than anything that is logged on purpose', () => {
    const { lines, log } = written();
    const cyclic: Record<string, unknown> = { id: 1 };
    cyclic['self'] = cyclic;
    log.info({ cyclic }, 'cyclic');
    expect(lines).toMatchObject([{ cyclic: { id: 1, self: { id: 1 } }, msg: 'cyclic' }]);
    expect(JSON.stringify(lines)).toContain('[too deep]');
  });

  test('has ids, types, durations and dates as they are', () => {
    const { lines, log } = written();
    const facts = { orderId: 'o-1', eventType: 'labtest.order.updated', ms: 1.5 };
    log.info({ ...facts, at: new Date(0) }, 'delivered');
    expect(lines).toMatchObject([{ ...facts, at: '1970-01-01T00:00:00.000Z', msg: 'delivered' }]);
  });

  test('accepts what the Temporal SDK writes, at its level and with its errors', () => {
    const { lines, log } = written();
    const logger = temporalLogger(log);
    logger.warn('careful', { workflowId: 'kit-order/1', error: new Error('broken') });
    logger.log('ERROR', 'bad');
    logger.trace('detail', { token: 'hidden' });
    expect(lines).toMatchObject([
      { level: 'warn', workflowId: 'kit-order/1', err: { message: 'broken' }, msg: 'careful' },
      { level: 'error', msg: 'bad' },
      { level: 'trace', token: '[redacted]', msg: 'detail' },
    ]);
  });
});
