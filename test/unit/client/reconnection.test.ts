import { Connection } from '@temporalio/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LabOperations, reconnection } from '../../../client/index.js';

test('a client that connects by itself bounds the pauses of gRPC between attempts to reconnect', async () => {
  const connection = Connection.lazy();
  const connect = vi.spyOn(Connection, 'connect').mockResolvedValue(connection);
  onTestFinished(() => connect.mockRestore());
  const lab = await LabOperations.connect();
  await lab.close();
  const channelArgs = expect.objectContaining(reconnection.channelArgs) as object;
  expect(connect).toHaveBeenCalledWith(expect.objectContaining({ channelArgs }));
  const bound = Connection.lazy(reconnection).options.channelArgs['grpc.max_reconnect_backoff_ms'];
  expect(bound).toBeLessThanOrEqual(10_000);
});

test.each([
  [undefined, 10_000],
  ['none', 10_000],
  ['2s', 2_000],
  ['5m', 10_000],
] as const)(
  'a client that connects with the deadline %s waits %i ms for Temporal',
  async (deadline, connectTimeout) => {
    const connect = vi.spyOn(Connection, 'connect').mockResolvedValue(Connection.lazy());
    onTestFinished(() => connect.mockRestore());
    await (await LabOperations.connect(deadline && { deadline })).close();
    expect(connect).toHaveBeenCalledWith(expect.objectContaining({ connectTimeout }));
  },
);
