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
  ])('does not write what stands under %s, up to two levels deep', (name, value) => {
    const { lines, log } = written();
    log.info({ [name]: value }, 'at the top');
    log.info({ request: { [name]: value } }, 'one level down');
    log.info({ call: { request: { [name]: value } } }, 'two levels down');
    expect(lines).toHaveLength(3);
    expect(JSON.stringify(lines)).not.toContain('hidden');
    expect(JSON.stringify(lines)).toContain('[redacted]');
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
