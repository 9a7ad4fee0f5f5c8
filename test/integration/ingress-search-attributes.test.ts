import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWebhookHandler } from '../../client/webhooks/handler.js';
import { ensureSearchAttributes, SearchAttributesMissing } from '../../workers/search-attributes.js';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { devServer } from '../rig/environments.js';
import { orderEvent, secret, signed } from '../unit/webhooks/sending.js';

const rig = devServer();
let connection: Connection;

beforeAll(async () => {
  connection = await Connection.connect({ address: rig.address });
});
afterAll(() => connection.close());

/** A namespace that knows none of our search attributes, usable at once. */
async function bareNamespace(): Promise<string> {
  const namespace = `bare-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await expect
    .poll(() =>
      connection.operatorService.listSearchAttributes({ namespace }).then(
        () => 'known',
        () => 'unknown',
      ),
    )
    .toBe('known');
  return namespace;
}

const names = searchAttributeKeys.map(({ name }) => name);

describe('search attributes at the start of a worker', () => {
  test('are registered if they are missing, and nothing is done the second time', async () => {
    const namespace = await bareNamespace();
    expect(await ensureSearchAttributes(connection, namespace)).toEqual(names);
    expect(await ensureSearchAttributes(connection, namespace)).toEqual([]);
  });

  test('are registered before webhooks can be delivered: until then they are answered 503, then 204', async () => {
    const namespace = await bareNamespace();
    const temporal = new Client({ connection, namespace });
    const handler = createWebhookHandler({ temporal, secrets: [secret], deadlineMs: 60_000 });
    const event = signed(orderEvent(randomUUID()));
    expect((await handler.handle(event)).status).toBe(503);
    expect(handler.counts().answers.temporal_refused).toBe(1);
    await ensureSearchAttributes(connection, namespace);
    expect((await handler.handle(event)).status).toBe(204);
  });

  test('two workers that start at once both find them registered', async () => {
    const namespace = await bareNamespace();
    await Promise.all([ensureSearchAttributes(connection, namespace), ensureSearchAttributes(connection, namespace)]);
    expect(await ensureSearchAttributes(connection, namespace)).toEqual([]);
  });

  test('search attributes of another type under our name end the worker’s start with the commands to run', async () => {
    const namespace = await bareNamespace();
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { LabPhase: 3 } });
    const ensured = ensureSearchAttributes(connection, namespace);
    await expect(ensured).rejects.toThrow(SearchAttributesMissing);
    await expect(ensured).rejects.toThrow(/remove --yes .*--name LabPhase && .*--name LabPhase --type Keyword$/);
  });
});
