import { Client, type ClientOptions } from '@temporalio/client';

/** A client with the same connection and settings, but for the changes. */
export function derivedClient(
  { connection, options }: Client,
  changes: Pick<ClientOptions, 'interceptors' | 'dataConverter'>,
): Client {
  const { namespace, identity, interceptors, workflow, loadedDataConverter } = options;
  return new Client({
    connection,
    namespace,
    identity,
    interceptors,
    workflow,
    dataConverter: loadedDataConverter,
    ...changes,
  });
}
