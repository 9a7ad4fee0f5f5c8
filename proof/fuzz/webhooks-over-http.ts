import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signWebhook } from '../../client/webhooks/sign.js';
import { readSeeds, spoiltBytes } from './bodies.js';
import type { Random } from './random.js';
import { exchanged, framedBy, type Framing } from './raw-http.js';
import type { Tally } from './tally.js';
import { catchingHandler, secret } from './webhooks.js';

const atOnce = 16;

/** A body that ends early cannot be known to be complete: the sender has to try again, so 503 is right. */
const brokenOff: ReadonlySet<Framing> = new Set(['too long']);

/** Sends mutated webhooks over HTTP on loopback, in good and in broken frames, to the handler in a server of Node. */
export async function fuzzWebhooksOverHttp(random: Random, count: number, tally: Tally): Promise<void> {
  const { handler, caught, logged } = catchingHandler(true);
  const server = createServer((request, response) => void handler.node(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let sent = 0; sent < count; sent += atOnce) {
    await sendSome(random, { port, count: Math.min(atOnce, count - sent) }, tally);
    caught();
    logged();
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Sends some webhooks at once to a port of this machine. */
export async function sendSome(random: Random, to: { port: number; count: number }, tally: Tally): Promise<void> {
  const seeds = readSeeds<object>('webhooks.json');
  const requests = Array.from({ length: to.count }, () => {
    const body = spoiltBytes(random, random.pick(seeds));
    return framedBy(random, signWebhook({ body, secret }));
  });
  await Promise.all(
    requests.map(async ({ framing, bytes }) => {
      const status = await exchanged(to.port, framing, bytes);
      tally.count(`${status} (${framing})`);
      const isExpected = /^[24]/.test(status) || (brokenOff.has(framing) && (status === '503' || status === 'none'));
      if (!isExpected) tally.found(`answered ${status} to a request framed ${framing}`, bytes.toString('latin1'));
    }),
  );
}
