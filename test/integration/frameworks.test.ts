import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signWebhook } from '../../client/testing.js';
import { projectFolder, startProcess, type StartedProcess } from '../rig/processes.js';

/* docs/backend.md shows how to mount the handlers in a framework, and docs/metrics.md how to count their answers. Each recipe is compiled, started and sent requests here. */

const secret = 'whsec_aW52ZW50ZWQtc2VjcmV0LWZvci10ZXN0cw==';

/** The rest of a backend with this framework: what it imports, and a function's body that mounts `webhooks` by the recipe and gives the server's address. */
const frameworks: Record<string, { imports: string; mount: (recipe: string) => string }> = {
  Express: {
    imports: `
      import { once } from 'node:events';
      import express from 'express';`,
    mount: (recipe) => `
      const app = express();
      ${recipe}
      app.use(express.json());
      const server = app.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server.address();`,
  },
  NestJS: {
    imports: `
      import 'reflect-metadata';
      import { Module } from '@nestjs/common';
      import { NestFactory } from '@nestjs/core';`,
    mount: (recipe) => `
      class Backend {}
      Module({})(Backend);
      const app = await NestFactory.create(Backend, { logger: false });
      ${recipe}
      await app.listen(0, '127.0.0.1');
      return app.getHttpServer().address();`,
  },
  Fastify: {
    imports: `import { fastify } from 'fastify';`,
    mount: (recipe) => `
      const app = fastify();
      ${recipe}
      await app.listen({ port: 0, host: '127.0.0.1' });
      return app.server.address();`,
  },
  // Next.js calls the route's function with the web's request, as this server does.
  'Next.js': {
    imports: `import { serve } from '@hono/node-server';`,
    mount: (recipe) => `
      const LabOperations = { connect: async () => ({}) };
      const handlerOf = (_lab: object) => webhooks;
      ${recipe.replace('export const POST', 'const POST')}
      return new Promise((resolve) => serve({ fetch: (request) => POST(request), port: 0, hostname: '127.0.0.1' }, resolve));`,
  },
  Hono: {
    imports: `
      import { serve } from '@hono/node-server';
      import { Hono } from 'hono';`,
    mount: (recipe) => `
      const app = new Hono();
      ${recipe}
      return new Promise((resolve) => serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, resolve));`,
  },
};

let folder = '';
/** All of them in one process: most of what it costs is to load the client. */
let backends: StartedProcess;
const fileOf = (framework: string) => framework.toLowerCase().replace('.', '');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'frameworks-'));
  await symlink(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const compilerOptions = {
    // The recipes are JavaScript: their parameters have no types.
    noImplicitAny: false,
    noUnusedParameters: false,
    types: ['node'],
    typeRoots: [join(projectFolder, 'node_modules/@types')],
  };
  const tsconfig = { extends: join(projectFolder, 'tsconfig.json'), compilerOptions, include: ['*.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  const recipes = await recipesIn('docs/backend.md', 'Mounting the handlers in a framework');
  expect([...recipes.keys()].toSorted()).toEqual(Object.keys(frameworks).toSorted());
  for (const [framework, { imports, mount }] of Object.entries(frameworks))
    await writeFile(
      join(folder, `${fileOf(framework)}.ts`),
      backend(framework, imports, mount(recipes.get(framework) ?? '')),
    );
  const [metrics = ''] = (await recipesIn('docs/metrics.md', 'The ingress')).values();
  await writeFile(join(folder, 'metrics.ts'), counted(metrics));
  const files = [...Object.keys(frameworks).map(fileOf), 'metrics'];
  await writeFile(join(folder, 'all.ts'), files.map((file) => `import './${file}.js';\n`).join(''));
  backends = await startProcess(process.execPath, ['--import', 'tsx', join(folder, 'all.ts')], {
    ready: /metrics port \d+/,
  });
});
afterAll(() => rm(folder, { recursive: true }));

/** A backend that mounts the handler of webhooks and that of notifications, each at a port of its own. */
const backend = (framework: string, imports: string, mount: string) => `
  import type { AddressInfo } from 'node:net';
  import { Client, Connection } from '@temporalio/client';
  import { createNotificationHandler } from '${projectFolder}/client/notifications/index.js';
  import { createWebhookHandler, type WebhookHandler } from '${projectFolder}/client/webhooks/index.js';
  ${imports}
  const options = { secrets: ['${secret}'], maxBytes: 200_000, logger: false } as const;
  type Handler = Pick<WebhookHandler, 'node' | 'fetch'>;
  const mounted = async (webhooks: Handler): Promise<AddressInfo | string | null> => {
    ${mount}
  };
  const handlers: Handler[] = [
    createWebhookHandler({ ...options, temporal: new Client({ connection: Connection.lazy() }) }),
    createNotificationHandler({ ...options, on: {} }),
  ];
  const ports = (await Promise.all(handlers.map(mounted))).map((address) => (address as AddressInfo).port);
  console.log('${framework} ports ' + ports.join(' '));
`;

/** A backend that counts the answers of its handler. */
const counted = (recipe: string) => `
  import express from 'express';
  import { Client, Connection } from '@temporalio/client';
  import { Counter, register } from 'prom-client';
  import { createWebhookHandler } from '${projectFolder}/client/webhooks/index.js';
  const app = express();
  ${recipe}
  const temporal = new Client({ connection: Connection.lazy() });
  const webhooks = createWebhookHandler({ temporal, secrets: ['${secret}'], logger: false, observe });
  app.post('/webhooks', webhooks.node);
  const server = app.listen(0, '127.0.0.1');
  server.once('listening', () => console.log('metrics port ' + (server.address() as { port: number }).port));`;

/** By the comment's first words that each begins with: `// Express: before …`. */
async function recipesIn(page: string, section: string): Promise<Map<string, string>> {
  const text = await readFile(join(projectFolder, page), 'utf8');
  const [, code = ''] = new RegExp(`## ${section}\n.*?\`\`\`js\n(.*?)\`\`\``, 's').exec(text) ?? [];
  return new Map(code.split(/^(?=\/\/ )/m).map((recipe) => [/^\/\/ ([\w.]+)/.exec(recipe)?.[1] ?? '', recipe]));
}

test('every recipe compiles with strict types', async () => {
  const tsc = join(projectFolder, 'node_modules/typescript/bin/tsc');
  const found = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(found).toBe('');
});

test.each(Object.keys(frameworks))(
  'behind %s, both handlers take a signed request, and refuse one that was changed, is too large or has no signature with its reason',
  async (framework) => {
    const [, webhooks = '', notifications = ''] = await backends.waitFor(
      new RegExp(`${framework} ports (\\d+) (\\d+)`),
    );
    const about = { specversion: '1.0', type: 'labops.unknown', source: 'kit-order/invented', subject: 'invented' };
    const notification = { ...about, id: 'invented-1', time: '2026-03-10T12:00:00.000Z' };
    for (const [port, event] of [
      [webhooks, { event_type: 'invented.unknown' }],
      [notifications, notification],
    ] as const) {
      const signed = (filler = '') => signWebhook({ body: { ...event, data: { filler } }, secret, id: 'invented-1' });
      expect(await post(port, signed())).toEqual({ status: 204 });
      const { headers, body } = signed();
      const tampered = Buffer.from(body.toString().replace('unknown', 'changed'));
      expect(await post(port, { headers, body: tampered })).toEqual({ status: 401, refusal: 'signature_mismatch' });
      const unsigned = { 'content-type': 'application/json' };
      expect(await post(port, { headers: unsigned, body })).toEqual({ status: 401, refusal: 'headers_missing' });
      expect(await post(port, signed('x'.repeat(150_000)))).toEqual({ status: 204 });
      expect(await post(port, signed('x'.repeat(250_000)))).toMatchObject({ status: 413 });
      const withoutLength = { 'transfer-encoding': 'chunked' };
      expect(await post(port, signed('x'.repeat(250_000)), withoutLength)).toEqual({
        status: 413,
        refusal: 'body_too_large',
      });
    }
  },
);

test('prom-client shows what the handler answered, in the words of the ingress', async () => {
  const [, port = ''] = await backends.waitFor(/metrics port (\d+)/);
  await post(port, { headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') });
  const shown = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(shown).toMatch(
    /^labops_webhooks_total\{answer="headers_missing",result="refused",task_queue="lab-operations"\} 1$/m,
  );
});

/** Reads the answer even if the server no longer takes the body. */
function post(
  port: string,
  { headers, body }: { headers: Record<string, string>; body: Uint8Array },
  more: Record<string, string> = {},
): Promise<{ status?: number | undefined; refusal?: unknown }> {
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      path: '/webhooks',
      method: 'POST',
      headers: { ...headers, ...more },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let answer = '';
      response.setEncoding('utf8').on('data', (text: string) => (answer += text));
      response.on('error', reject).on('end', () => resolve(answerOf(response.statusCode, answer)));
    });
    sent.end(body);
  });
}

function answerOf(status: number | undefined, text: string): { status: number | undefined; refusal?: unknown } {
  return text === '' ? { status } : { status, refusal: (JSON.parse(text) as { error: unknown }).error };
}
