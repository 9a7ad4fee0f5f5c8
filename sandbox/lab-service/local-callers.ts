import type { FastifyInstance } from 'fastify';
import { isControl } from './http-fault-hooks.js';
import { refusal } from './problems.js';

/**
 * The control interface has no key, so no web page may reach it: neither one of another origin, nor one whose host name was
 * made to lead here. Programs send no origin; they call this machine, an address, or a name of the containers' network.
 */
export function refuseWebPages(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (!isControl(request)) return;
    const { host = '', origin } = request.headers;
    if (!isNear(host)) throw refusal(403, 'The control interface answers only under a name of this machine or network');
    if (origin !== undefined && !isSameHost(origin, host)) {
      throw refusal(403, 'The control interface does not answer pages of another origin');
    }
  });
}

function isNear(host: string): boolean {
  if (!URL.canParse(`http://${host}`)) return false;
  const { hostname } = new URL(`http://${host}`);
  return hostname.endsWith('.localhost') || /^([a-z0-9_-]+|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/.test(hostname);
}

function isSameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}
