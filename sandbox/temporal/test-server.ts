import type { Client } from '@temporalio/client';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { type SearchAttribute, askServer } from './dev-server.js';
import { findTestServer } from './find.js';
import { freePort, PortInUse } from './ports.js';
import { startProgram, type Program } from './programs.js';

export interface TestServerOptions {
  /** The test server's program; `findTestServer` when not given. */
  program?: string;
  /** Registered before the environment is returned: a workflow that sets an unregistered one is retried forever. */
  searchAttributes?: readonly SearchAttribute[];
  /** Options of the environment's client, such as a data converter. */
  client?: ClientOptions;
}

export interface TestServer {
  environment: TestWorkflowEnvironment;
  stop: () => Promise<void>;
  /** Ends the server alone: for one that no longer answers, on which the environment would wait. */
  kill: () => Promise<void>;
}

const { IndexedValueType } = proto.temporal.api.enums.v1;

type CreateOptions = NonNullable<Parameters<typeof TestWorkflowEnvironment.createTimeSkipping>[0]>;
type ClientOptions = NonNullable<CreateOptions['client']>;

/** The only namespace that the test server has. The environment itself names none. */
const testServerNamespace = 'default';

/** Another program may take a free port before the server does. */
const attempts = 3;

/** The SDK starts this in the server's place: see `startTestServer`. */
const placeholder = fileURLToPath(new URL('placeholder.sh', import.meta.url));

/**
 * Starts a time-skipping test server, which does not outlive this process.
 * It can neither list nor count workflows, nor does it know schedules: that is tested on the dev server.
 *
 * The SDK would start the server itself, but gives up after five seconds, in which it does not always start on a busy
 * machine. So the server is started here, and the SDK gets a program that does nothing and the port of the server.
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { server, port } = await startOnFreePort(options.program ?? (await findTestServer()));
  try {
    return await connect(port, server, options);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A client for activities on that server, which would refuse a search: here every search finds nothing. */
export function withoutSearch(client: Client): Client {
  const list = { async *value() {} };
  const workflow = Object.create(client.workflow, { list }) as Client['workflow'];
  return Object.create(client, { workflow: { value: workflow } }) as Client;
}

async function startOnFreePort(program: string): Promise<{ server: Program; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      return { server: await startOn(port, program), port };
    } catch (error) {
      if (!(error instanceof PortInUse) || attempt === attempts) throw error;
    }
  }
}

/** Throws `PortInUse` if the server says so: it does not end then. */
async function startOn(port: number, program: string): Promise<Program> {
  let refuse: (error: PortInUse) => void = () => undefined;
  const taken = new Promise<never>((_, reject) => (refuse = reject));
  const server = startProgram({
    name: 'The time-skipping test server',
    program,
    args: [String(port)],
    // On a busy machine the first answer takes longer than the SDK waits.
    ready: () => askServer(port, '5 seconds'),
    orderlyEnd: false,
    log: (text) => {
      if (/address already in use/i.test(text)) refuse(new PortInUse(port, 'the time-skipping test server'));
    },
  });
  try {
    await Promise.race([server.ready, taken]);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function connect(port: number, server: Program, options: TestServerOptions): Promise<TestServer> {
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: placeholder }, port },
    ...(options.client && { client: options.client }),
  });
  const stop = async (): Promise<void> => {
    await environment.teardown();
    await server.stop();
  };
  try {
    await environment.connection.operatorService.addSearchAttributes({
      namespace: testServerNamespace,
      searchAttributes: Object.fromEntries(
        (options.searchAttributes ?? []).map(({ name, type }) => [
          name,
          IndexedValueType[`INDEXED_VALUE_TYPE_${type}`],
        ]),
      ),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { environment, stop, kill: () => server.stop() };
}
