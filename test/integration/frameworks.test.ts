import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signWebhook } from '../../client/testing.js';
import { projectFolder, startProcess } from '../rig/processes.js';

/* docs/backend.md shows how to mount the handlers in a framework, and docs/metrics.md how to count their answers. Each recipe is compiled, started and sent requests here. */

const secret = 'whsec_aW52ZW50ZWQtc2VjcmV0LWZvci10ZXN0cw==';

/** The rest of a backend with this framework. */
const frameworks: Record<string, (recipe: string) => string> = {
  Express: (recipe) => `
    import express from 'express';
    const app = express();
    ${recipe}
    app.use(express.json());
    const server = app.listen(0, '127.0.0.1');
    server.once('listening', () => listening(server.address()));`,
  NestJS: (recipe) => `
    import 'reflect-metadata';
    import { Module } from '@nestjs/common';
    import { NestFactory } from '@nestjs/core';
    class Backend {}
    Module({})(Backend);
    const app = await NestFactory.create(Backend, { logger: false });
    ${recipe}
    await app.listen(0, '127.0.0.1');
    listening(app.getHttpServer().address());`,
  Fastify: (recipe) => `
    import { fastify } from 'fastify';
    const app = fastify();
    ${recipe}
    await app.listen({ port: 0, host: '127.0.0.1' });
    listening(app.server.address());`,
  // Next.js calls the route's function with the web's request, as this server does.
  'Next.js': (recipe) => `
    import { serve } from '@hono/node-server';
    const LabOperations = { connect: async () => ({}) };
    const handlerOf = (_lab: object) => webhooks;
    ${recipe}
    serve({ fetch: (request) => POST(request), port: 0, hostname: '127.0.0.1' }, listening);`,
  Hono: (recipe) => `
    import { serve } from '@hono/node-server';
    import { Hono } from 'hono';
    const app = new Hono();
    ${recipe}
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, listening);`,
};

let folder = '';
const fileOf = (framework: string) => `${framework.toLowerCase().replace('.', '')}.ts`;

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
  for (const [framework, program] of Object.entries(frameworks))
    await writeFile(join(folder, fileOf(framework)), `${handlers}${program(recipes.get(framework) ?? '')}`);
  const [metrics = ''] = (await recipesIn('docs/metrics.md', 'The ingress')).values();
  await writeFile(join(folder, 'metrics.ts'), counted(metrics));
});
afterAll(() => rm(folder, { recursive: true }));

/** What a backend has made before it mounts its handlers. A recipe mounts webhooks; notifications are mounted in the same way. */
const handlers = `
  import type { AddressInfo } from 'node:net';
  import { createNotificationHandler } from '${projectFolder}/client/notifications/index.js';
  const webhooks = createNotificationHandler({ secrets: ['${secret}'], on: {}, maxBytes: 200_000, logger: false });
  const listening = (address: AddressInfo | string | null) => console.log('port ' + (address as AddressInfo).port);
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
  server.once('listening', () => console.log('port ' + (server.address() as { port: number }).port));`;

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

describe.each(Object.keys(frameworks))('behind %s', (framework) => {
  test('a signed request is taken, and one that was changed, is too large or has no signature is refused with its reason', async () => {
    const started = await startProcess(process.execPath, ['--import', 'tsx', join(folder, fileOf(framework))]);
    const [, port = ''] = await started.waitFor(/port (\d+)/);
    const event = (filler: string) => {
      const about = { specversion: '1.0', type: 'labops.unknown', source: 'kit-order/invented', subject: 'invented' };
      return { ...about, id: 'invented/1', time: '2026-03-10T12:00:00.000Z', data: { filler } };
    };
    const signed = (filler = '') => signWebhook({ body: event(filler), secret, id: 'invented/1' });
    expect(await post(port, signed())).toEqual({ status: 204 });
    const { headers, body } = signed();
    expect(
      await post(port, { headers, body: Buffer.from(body.toString().replace('invented', 'tampered')) }),
    ).toMatchObject({
      status: 401,
      refusal: 'signature_mismatch',
    });
    expect(await post(port, { headers: { 'content-type': 'application/json' }, body })).toMatchObject({
      status: 401,
      refusal: 'headers_missing',
    });
    expect(await post(port, signed('x'.repeat(150_000)))).toEqual({ status: 204 });
    expect(await post(port, signed('x'.repeat(250_000)))).toMatchObject({ status: 413 });
    // Without a length in its headers.
    expect(await post(port, signed('x'.repeat(250_000)), { 'transfer-encoding': 'chunked' })).toMatchObject({
      status: 413,
      refusal: 'body_too_large',
    });
    await started.stop();
  });
});

test('prom-client shows what the handler answered, in the words of the ingress', async () => {
  const started = await startProcess(process.execPath, ['--import', 'tsx', join(folder, 'metrics.ts')]);
  const [, port = ''] = await started.waitFor(/port (\d+)/);
  await post(port, { headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') });
  const shown = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(shown).toMatch(
    /^labops_webhooks_total\{answer="headers_missing",result="refused",task_queue="lab-operations"\} 1$/m,
  );
  await started.stop();
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
