import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSeeds, spoiltBytes } from './bodies.js';
import type { Random } from './random.js';

interface Seed {
  call: string;
  status: number;
  body: unknown;
}

/** The call whose answer fits a path; others get the answer of any call. */
const callOf: readonly (readonly [path: RegExp, call: string])[] = [
  [/^GET \/v3\/order\/[^/]+$/, 'orders.get'],
  [/^GET \/v3\/order_transaction\/[^/]+$/, 'orders.transaction'],
  [/^GET \/orders/, 'orders.list'],
  [/^POST \/v3\/order\/testkit$/, 'orders.createTestkit'],
  [/^POST \/v3\/order/, 'orders.create'],
  [/^GET \/v2\/user\/[^/]+$/, 'users.get'],
  [/^DELETE \/v2\/user\//, 'users.delete'],
  [/^POST \/v2\/link\/token/, 'links.createToken'],
  [/complete_mfa$/, 'links.completeMfa'],
  [/^GET \/lab_report/, 'reports.getJob'],
  [/appointment\/availability/, 'appointments.availability'],
  [/^(?:GET|PATCH) .*appointment/, 'appointments.get'],
  [/^GET \/v3\/unmatched_result\//, 'matchReviews.get'],
];

/** A lab service on loopback: half of its answers are good and about what was asked, the others are mutated. */
export async function hostileService(random: Random): Promise<{ url: string; close(): Promise<void> }> {
  const seeds = readSeeds<Seed>('answers.json');
  const good = seeds.filter(({ status }) => status < 300);
  const server = createServer((request, response) => {
    const asked = `${request.method} ${request.url?.split('?')[0]}`;
    const call = callOf.find(([path]) => path.test(asked))?.[1];
    const { status, body } = random.pick(call === undefined || random.oneIn(10) ? seeds : good.filter(named(call)));
    const about = aboutAsked(body, asked);
    const bytes = random.oneIn(2) ? spoiltBytes(random, about) : Buffer.from(JSON.stringify(about));
    request.resume();
    request.on('end', () => response.writeHead(status, { 'content-type': 'application/json' }).end(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function named(call: string): (seed: Seed) => boolean {
  return (seed) => seed.call === call;
}

/** The body under the id of the path. */
function aboutAsked(body: unknown, asked: string): unknown {
  const id = /\/(?:order|user|job|unmatched_result)\/([^/]+)/.exec(asked)?.[1];
  if (id === undefined || typeof body !== 'object' || body === null || !('id' in body)) return body;
  return { ...body, id: decodeURIComponent(id) };
}
