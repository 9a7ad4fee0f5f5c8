import type { FastifyError, FastifyInstance } from 'fastify';
// In your backend: '@lab-operations/client'.
import {
  AppointmentNotFound,
  LinkNotFound,
  MatchReviewNotFound,
  NotFound,
  OrderNotFound,
  ReportNotFound,
  ServiceError,
  WebhookNotFound,
} from '../../client/index.js';
import { html, show } from './html.js';
import { problemOf } from './problems.js';
import { SignedOut } from './session.js';

const absences = [
  ...[OrderNotFound, AppointmentNotFound, LinkNotFound, ReportNotFound, MatchReviewNotFound, WebhookNotFound],
  NotFound,
];

/** What no form has answered: who is not signed in is asked to; the rest is a page that says what went wrong. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof SignedOut) return reply.redirect(error.signInPage, 303);
    const problem = problemOf(error);
    const status = statusOf(error, problem !== undefined);
    // A refusal's message names the call and the fields, never a person.
    if (status >= 500) process.stderr.write(`${request.method} ${request.routeOptions.url}: ${error.stack}\n`);
    const content = problem
      ? html`<p class="fault">${problem.sentence}</p>
          <ul>
            ${problem.faults.map(({ field, message }) => html`<li>${field} ${message}</li>`)}
          </ul>`
      : html`<p>${status === 404 ? 'There is no such page for you.' : 'Please try again in a moment.'}</p>`;
    return show(reply, status === 404 ? 'Not found' : 'This did not work', content, { audience: 'nobody', status });
  });
}

function statusOf(error: FastifyError, isProblem: boolean): number {
  if (absences.some((absence) => error instanceof absence)) return 404;
  if (isProblem) return 422;
  return error.statusCode ?? (error instanceof ServiceError ? 502 : 500);
}
