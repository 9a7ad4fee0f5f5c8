import { describe, expect, test } from 'vitest';
import { createLog, temporalLogger } from '../../workers/log.js';

function written() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('trace', 'test', {
    write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  return { lines, log };
}

describe('the log', () => {
  test.each([
    ['headers', { 'x-acme-api-key': 'hidden' }],
    ['authorization', 'hidden'],
    ['apiKey', 'hidden'],
    ['secret', 'hidden'],
    ['link_token', 'hidden'],
    ['mfa_code', 'hidden'],
    ['patient_details', { first_name: 'hidden' }],
    ['shipping_details', { city: 'hidden' }],
    ['client_user_id', 'hidden'],
    ['first_name', 'hidden'],
    ['email', 'hidden'],
    ['dob', 'hidden'],
    ['body', 'hidden'],
  ])('does not write what stands under %s, at any depth', (name, value) => {
    const { lines, log } = written();
    log.info({ [name]: value }, 'at the top');
    log.info({ request: { [name]: value } }, 'one level down');
    log.info({ call: { requests: [{ [name]: value }] } }, 'in a list');
    log.error({ err: Object.assign(new Error('refused'), { call: { [name]: value } }) }, 'on an error');
    expect(lines).toHaveLength(4);
    expect(JSON.stringify(lines)).not.toContain('hidden');
    expect(JSON.stringify(lines)).toContain('[redacted]');
  });

  test('takes a value that contains itself, and one that is deeper than anything that is logged on purpose', () => {
    const { lines, log } = written();
    const cyclic: Record<string, unknown> = { id: 1 };
    cyclic['self'] = cyclic;
    log.info({ cyclic }, 'cyclic');
    expect(lines).toMatchObject([{ cyclic: { id: 1, self: { id: 1 } }, msg: 'cyclic' }]);
    expect(JSON.stringify(lines)).toContain('[too deep]');
  });

  test('writes dates as they are', () => {
    const { lines, log } = written();
    log.info({ at: new Date(0) }, 'then');
    expect(lines).toMatchObject([{ at: '1970-01-01T00:00:00.000Z' }]);
  });

  test('writes ids, types and durations', () => {
    const { lines, log } = written();
    log.info({ orderId: 'o-1', eventType: 'labtest.order.updated', ms: 1.5 }, 'delivered');
    expect(lines).toMatchObject([{ orderId: 'o-1', eventType: 'labtest.order.updated', ms: 1.5, msg: 'delivered' }]);
  });

  test('takes what the Temporal SDK writes, at its level and with its errors', () => {
    const { lines, log } = written();
    const logger = temporalLogger(log);
    logger.warn('careful', { workflowId: 'kit-order/1', error: new Error('broken') });
    logger.log('ERROR', 'bad');
    logger.trace('detail', { token: 'hidden' });
    expect(lines).toMatchObject([
      { level: 40, workflowId: 'kit-order/1', err: { message: 'broken' }, msg: 'careful' },
      { level: 50, msg: 'bad' },
      { level: 10, token: '[redacted]', msg: 'detail' },
    ]);
  });
});
