import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { argumentsOf } from './control-command.js';

/** Real milliseconds, at most an hour: nothing can call the stand-in back. */
const offlineSchema = z.tuple([z.number().positive().max(3_600_000)]);

/** A port that another program took meanwhile is tried again after this. */
const retryAfterMs = 100;

/**
 * Lets the stand-in be out of reach for a while, as a service is whose connections are refused: no fault of a request
 * can play this, because a caller that has a connection may have sent something. The control interface is away as well,
 * so the stand-in comes back by itself.
 *
 * @param closing ends the wait, so the stand-in can stop
 */
export function offlineRoutes(app: FastifyInstance, host: string, closing: AbortSignal): void {
  app.post('/_sandbox/goOffline', (request, reply) => {
    const [forMs] = argumentsOf(offlineSchema, request.body);
    const address = app.server.address();
    if (address === null || typeof address === 'string') throw new Error('the stand-in has no port to come back to');
    // From here on connections are refused; the answer still goes out, and then every connection that stands is cut.
    app.server.close();
    reply.raw.once('close', () => app.server.closeAllConnections());
    after(forMs, () => comeBack(address.port));
    void reply.header('connection', 'close');
    return {};
  });

  function comeBack(port: number): void {
    const tryAgain = (): void => after(retryAfterMs, () => comeBack(port));
    app.server.once('error', tryAgain);
    app.server.listen(port, host, () => app.server.off('error', tryAgain));
  }

  function after(milliseconds: number, run: () => void): void {
    const timer = setTimeout(() => {
      closing.removeEventListener('abort', cancel);
      run();
    }, milliseconds);
    const cancel = (): void => clearTimeout(timer);
    closing.addEventListener('abort', cancel, { once: true });
  }
}
