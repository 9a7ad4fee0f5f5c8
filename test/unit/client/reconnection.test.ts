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
