import type { FastifyInstance } from 'fastify';

/** A form of another site. Browsers name the origin of every form that they send; programs have no session to abuse. */
export class ForeignForm extends Error {
  readonly statusCode = 403;
}

/** Refuses forms of other sites, and lets no browser guess another type than an answer has. */
export function protect(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ method, headers: { origin, host } }) => {
    if (method === 'GET' || method === 'HEAD' || origin === undefined) return;
    if (origin !== `http://${host}` && origin !== `https://${host}`) throw new ForeignForm('A form of another site');
  });
  app.addHook('onSend', async (_request, reply) => {
    void reply.header('x-content-type-options', 'nosniff');
  });
}
