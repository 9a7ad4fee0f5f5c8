import { expect, test } from 'vitest';
import { temporalHealth } from '../../workers/monitoring/temporal-health.js';

test('a header that cannot be sent makes Temporal unusable, and neither answer nor log shows it', async () => {
  // gRPC's own sentence about such a header.
  const refuse = () =>
    Promise.reject(new Error('Metadata string value "Bearer invented-key" contains illegal characters'));
  const connection = {
    withDeadline: async (_deadline: number, call: () => Promise<unknown>) => call(),
    workflowService: { describeNamespace: refuse },
  };
  const logged: unknown[] = [];
  const log = { warn: (...line: unknown[]) => logged.push(line) };
  const health = temporalHealth(connection as never, {
    ...{ process: 'ingress', address: 'temporal:7233', namespace: 'default' },
    log: log as never,
  });
  expect(await health.ready()).toBe(false);
  expect(JSON.stringify(logged)).toContain('the ingress is not ready');
  expect(JSON.stringify(logged)).not.toContain('invented-key');
});
