import { Client, Connection } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { LabOperations, OrderInvalid } from '../../../client/index.js';

/** Nothing listens there: whatever is refused here is refused before anything is sent. */
const temporal = new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) });
const { orders } = new LabOperations(temporal);

describe('a range is refused before anything is started', () => {
  test.each([
    [undefined, ['from', 'to']],
    [null, ['from', 'to']],
    [{}, ['from', 'to']],
    [{ from: '2026-01-01' }, ['to']],
    [{ from: '2026-01-01', to: 7 }, ['to']],
    [{ from: 'yesterday', to: '2026-01-01' }, ['from']],
    [{ from: '2026-01-01T10:00:00', to: '2026-01-02' }, ['from']],
    [{ from: '2026-01-01', to: '2026-13-01' }, ['to']],
    [{ from: '2026-01-02', to: '2026-01-01' }, ['from']],
  ])('%j', async (range, fields) => {
    const refusal: unknown = await orders
      .reconcile(range as { from: string; to: string })
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OrderInvalid);
    expect((refusal as OrderInvalid).fields.map(({ field }) => field)).toEqual(fields);
  });
});
