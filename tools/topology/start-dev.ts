import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startServer } from '../../sandbox/temporal/programs.js';
import { loopback, requireListening } from '../../sandbox/temporal/ports.js';
import { serverVersion } from './programs.js';
import { startTemporalServer } from './temporal-server.js';

/*
 * Takes the arguments of `temporal server start-dev`, and starts Temporal's server on PostgreSQL instead. With TEMPORAL_CLI on the
 * script `temporal` beside it, the demo and the tests run on that server (tools/topology/main.ts). Its database is in the environment.
 */

const { values } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    version: { type: 'boolean' },
    port: { type: 'string' },
    'ui-port': { type: 'string' },
    'ui-codec-endpoint': { type: 'string' },
    namespace: { type: 'string', default: 'default' },
    'dynamic-config-value': { type: 'string', multiple: true, default: [] },
    'search-attribute': { type: 'string', multiple: true, default: [] },
  },
});

function pairs(option: 'dynamic-config-value' | 'search-attribute'): Record<string, string> {
  const given = values[option] as string[];
  return Object.fromEntries(given.map((text) => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]));
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: this program is started by \`npm run topology\`.`);
  return value;
}

async function startWebUi(folder: string, port: number, temporalPort: number): Promise<void> {
  const endpoint = values['ui-codec-endpoint'];
  const origins = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const configuration = {
    ...{ temporalGrpcAddress: `${loopback}:${temporalPort}`, host: loopback, port, enableUi: true },
    cors: { allowOrigins: origins },
    ...(typeof endpoint === 'string' && { codec: { endpoint } }),
  };
  await writeFile(join(folder, 'development.yaml'), JSON.stringify(configuration));
  await startServer({
    name: "Temporal's Web UI",
    program: required('TOPOLOGY_WEB_UI'),
    args: ['--root', folder, '--config', '.', '--env', 'development', 'start'],
    ready: () => requireListening(port),
    orderlyEnd: false,
  });
}

async function main(): Promise<void> {
  if (values.version === true) {
    process.stdout.write(`temporal version 0.0.0-TOPOLOGY (Server ${serverVersion}, on PostgreSQL)\n`);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'lab-operations-temporal-'));
  const port = Number(values.port);
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  try {
    const server = await startTemporalServer({
      ...{ programs: { server: required('TOPOLOGY_SERVER') }, database: required('TOPOLOGY_DATABASE'), folder, port },
      ...{ namespace: values.namespace as string, searchAttributes: pairs('search-attribute') },
      settings: { ...pairs('dynamic-config-value'), 'system.forceSearchAttributesCacheRefreshOnRead': 'true' },
      log: (text) => process.stderr.write(text),
    });
    const ui = values['ui-port'];
    if (typeof ui === 'string') await startWebUi(folder, Number(ui), port);
    const failure = await Promise.race([stopped, server.ended]);
    if (failure) throw failure;
    await server.stop();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
process.exit(0);
