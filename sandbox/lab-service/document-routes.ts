import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { samplePdf } from '../sample-report.js';
import type { Lab } from './lab.js';
import { requireOrder, requireTransaction } from './order-routes.js';
import { requireResults } from './results.js';
import { labTests, inventedLab } from './seed.js';
import { refusal, datetime, pathUuid, queryInteger, readQuery } from './validation.js';

const labelsQuery = z.object({
  collection_date: datetime,
  number_of_labels: queryInteger(1, 100).default(3),
});

/** PDFs of one page. The answer while there is none is not documented: assumed to be a 404. */
export function documentRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/v3/order/:order_id/result/pdf', (request, reply) => {
    const order = requireOrder(lab, request, 'Order not found');
    requireResults(order);
    return pdf(reply, ['Results', `Order ${order.id}`]);
  });
  app.get('/v3/order_transaction/:transaction_id/result/pdf', (request, reply) => {
    const { id, orders } = requireTransaction(lab, request);
    if (orders.every((order) => order.resultsAt === null)) throw refusal(404, 'Results are not available');
    return pdf(reply, ['Results', `Transaction ${id}`]);
  });
  app.get('/v3/order/:order_id/requisition/pdf', (request, reply) => {
    const order = requireOrder(lab, request, 'Order not found');
    if (!order.hasRequisition) throw refusal(404, 'Requisition not found');
    return pdf(reply, ['Requisition', `Order ${order.id}`]);
  });
  app.get('/v3/order/:order_id/collection_instruction_pdf', (request, reply) =>
    pdf(reply, instructions(requireOrder(lab, request, 'Order not found').labTest.id)),
  );
  app.get('/v3/lab_test/:lab_test_id/collection_instruction_pdf', (request, reply) =>
    pdf(reply, instructions(pathUuid(request, 'lab_test_id'))),
  );
  app.get('/v3/order/:order_id/abn_pdf', (request) => {
    requireOrder(lab, request, 'Order not found');
    // No order here has one.
    throw refusal(404, 'ABN not found');
  });
  app.get('/v3/order/:order_id/labels/pdf', (request, reply) => {
    const order = requireOrder(lab, request, 'Order not found');
    const { number_of_labels: count } = readQuery(labelsQuery, request.query);
    return pdf(
      reply,
      Array.from({ length: count }, (_, index) => `Label ${index + 1} of ${count}, order ${order.id}`),
    );
  });
}

/** Every kit has some. */
function instructions(labTestId: string): string[] {
  const test = labTests.find(({ id, method }) => id === labTestId && method === 'testkit');
  if (!test) throw refusal(404, 'Collection instructions not found');
  return ['Collection instructions', test.name];
}

function pdf(reply: FastifyReply, lines: readonly string[]): FastifyReply {
  return reply.type('application/pdf').send(samplePdf([inventedLab.name, 'Invented throughout', ...lines]));
}
