import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
// In your backend: '@lab-operations/client'.
import type { LabOperations } from '../../client/index.js';
import { html, show, table } from './html.js';
import { NotYours, referenceOf } from './session.js';

/** The values of an order, and its documents. */
export function resultRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/orders/:reference/results', async (request, reply) => {
    const reference = referenceOf(request);
    const { metadata, results } = await (await lab.orders.getHandle({ reference })).results();
    const rows = (Array.isArray(results) ? results : []).map((value) => [
      value.name,
      html`${value.result} ${value.unit}`,
      value.reference_range ?? html`${value.min_range_value} – ${value.max_range_value}`,
      value.interpretation,
    ]);
    const content = html`<p>${metadata?.laboratory}: ${metadata?.status ?? 'final'}</p>
      ${table(['Marker', 'Value', 'Range', 'Meaning'], rows, 'The laboratory has reported no values.')}
      <p><a href="/orders/${reference}/results.pdf">The laboratory's report (PDF)</a></p>
      <p><a href="/orders/${reference}">Order</a></p>`;
    return show(reply, 'Your results', content);
  });

  /** The latest kit's, because a lost one was replaced. */
  const orderIdOf = async (reference: string) => {
    const { orderId } = await (await lab.orders.getHandle({ reference })).state();
    if (orderId === undefined) throw new NotYours('The order is still being placed');
    return orderId;
  };

  app.get('/orders/:reference/results.pdf', async (request, reply) => {
    const orderId = await orderIdOf(referenceOf(request));
    return download(reply, 'results.pdf', await lab.documents.streams.results({ orderId }));
  });

  app.get('/orders/:reference/requisition.pdf', async (request, reply) => {
    const orderId = await orderIdOf(referenceOf(request));
    return download(reply, 'requisition.pdf', await lab.documents.streams.requisition(orderId));
  });

  app.get('/orders/:reference/instructions.pdf', async (request, reply) => {
    const orderId = await orderIdOf(referenceOf(request));
    return download(reply, 'instructions.pdf', await lab.documents.streams.collectionInstructions({ orderId }));
  });
}

function download(reply: FastifyReply, name: string, pdf: Readable): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('content-disposition', `attachment; filename="${name}"`)
    .type('application/pdf')
    .send(pdf);
}
