import type { FastifyError, FastifyInstance } from 'fastify';
// In your backend: '@lab-operations/client'.
import { errors } from '../../client/index.js';
import { html, show } from './html.js';
import { SignedOut } from './session.js';

const statuses: Readonly<Record<errors.ErrorKind, number>> = {
  invalid: 422,
  not_found: 404,
  refused: 409,
  unavailable: 503,
  misconfigured: 500,
};

/** What no form has answered: who is not signed in is asked to; the rest is a page that says what went wrong. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError | errors.LabOperationsError, request, reply) => {
    if (error instanceof SignedOut) return reply.redirect(error.signInPage, 303);
    const isOfLab = error instanceof errors.LabOperationsError;
    const status = isOfLab ? statuses[error.kind] : (error.statusCode ?? 500);
    // A message names the call and the fields, never a person; the sentence may quote one.
    if (status >= 500) process.stderr.write(`${request.method} ${request.routeOptions.url}: ${error.stack}\n`);
    const apology = status === 404 ? 'There is no such page for you.' : 'Please try again in a moment.';
    const isForPerson = isOfLab && [409, 422].includes(status);
    const content = html`<p class="${isForPerson && 'fault'}">${isForPerson ? error.sentence : apology}</p>`;
    return show(reply, status === 404 ? 'Not found' : 'This did not work', content, { audience: 'nobody', status });
  });
}
