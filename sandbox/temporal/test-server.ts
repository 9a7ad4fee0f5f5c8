import { fileURLToPath } from 'node:url';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { findTestServer } from './find.js';
import { requireFree } from './ports.js';
import { asRequest, type SearchAttribute } from './search-attribute.js';

export interface TestServerOptions {
  /** The test server's program; `findTestServer` when not given. */
  program?: string;
  /** Default: a free one. */
  port?: number;
  /** Registered before the environment is returned: a workflow that sets an unregistered one is retried for ever. */
  searchAttributes?: readonly SearchAttribute[];
  /** What the environment's client is to have beside its connection, such as a data converter. */
  client?: ClientOptions;
}

type CreateOptions = NonNullable<Parameters<typeof TestWorkflowEnvironment.createTimeSkipping>[0]>;
type ClientOptions = NonNullable<CreateOptions['client']>;

/** The only namespace that the test server has. The environment itself names none. */
const testServerNamespace = 'default';

const startScript = fileURLToPath(new URL('test-server.sh', import.meta.url));

/** The SDK waits five seconds for the port, which Java does not always make on a busy machine. */
const attempts = 3;

/**
 * Starts a time-skipping test server, which does not outlive this process. End it with the environment's `teardown`.
 * It can neither list nor count workflows, nor does it know schedules: that is tested on the dev server.
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestWorkflowEnvironment> {
  const program = options.program ?? (await findTestServer());
  if (options.port !== undefined) await requireFree(options.port, 'the time-skipping test server');
  const environment = await create({
    server: {
      executable: { type: 'existing-path', path: startScript },
      extraArgs: [program],
      ...(options.port !== undefined && { port: options.port }),
    },
    ...(options.client && { client: options.client }),
  });
  await environment.connection.operatorService.addSearchAttributes({
    namespace: testServerNamespace,
    searchAttributes: asRequest(options.searchAttributes ?? []),
  });
  return environment;
}

async function create(options: CreateOptions): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping(options);
    } catch (error) {
      if (attempt === attempts) {
        throw new Error(`The time-skipping test server did not start in ${attempts} attempts.`, { cause: error });
      }
    }
  }
}
