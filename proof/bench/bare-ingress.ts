import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import { bareIngressConfig } from './config.js';

/** The least that takes a webhook: verifies its signature, parses it, and signals an order's workflow with its status. */
const { address, secret } = bareIngressConfig();
const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
const temporal = new Client({ connection: await Connection.connect({ address }) });

interface Event {
  event_type: string;
  data: { id: string; status: string };
}

function isSigned(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const hmac = createHmac('sha256', key);
  hmac.update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
  const given = Buffer.from(String(headers['webhook-signature']));
  return expected.length === given.length && timingSafeEqual(expected, given);
}

const server = createServer((request, response) => {
  const take = async (): Promise<number> => {
    const body = await buffer(request);
    if (!isSigned(request.headers, body)) return 401;
    const { event_type: type, data } = JSON.parse(body.toString()) as Event;
    if (!type.startsWith('labtest.order.')) return 204;
    await temporal.workflow.getHandle(`kit-order/${data.id}`).signal('event', { status: data.status });
    return 204;
  };
  take()
    .catch(() => 503)
    .then((status) => response.writeHead(status).end())
    .catch(() => request.destroy());
}).listen(0, '127.0.0.1', () => {
  process.stdout.write(`bare ingress "url":"http://127.0.0.1:${(server.address() as AddressInfo).port}"\n`);
});
