import type { CallOptions, Transport } from './http.js';

/**
 * PDFs of orders (docs/lab-service.md). Every call rejects with a `ServiceError`; assumed: with `NotFound` until there is such a
 * document.
 */
export interface Documents {
  /** The laboratory's report. */
  results(orderId: string, options?: CallOptions): Promise<Buffer>;
  /** The reports of a transaction's orders in one. */
  transactionResults(transactionId: string, options?: CallOptions): Promise<Buffer>;
  requisition(orderId: string, options?: CallOptions): Promise<Buffer>;
  /** How the sample is taken. */
  collectionInstructions(orderId: string, options?: CallOptions): Promise<Buffer>;
  labTestCollectionInstructions(labTestId: string, options?: CallOptions): Promise<Buffer>;
  /** Advance beneficiary notice. */
  beneficiaryNotice(orderId: string, options?: CallOptions): Promise<Buffer>;
  /** Labels for the specimens. */
  specimenLabels(orderId: string, labels: SpecimenLabels, options?: CallOptions): Promise<Buffer>;
}

interface SpecimenLabels {
  /** ISO 8601, with time. */
  collectionDate: string;
  /** Default: the service's, 3. */
  count?: number;
}

export function createDocuments(transport: Transport): Documents {
  const document = (path: string, params: Record<string, string>, options?: CallOptions) =>
    transport.download({ method: 'GET', path, params, options });
  return {
    results: (orderId, options) => document('/v3/order/{order_id}/result/pdf', { order_id: orderId }, options),
    transactionResults: (transactionId, options) =>
      document('/v3/order_transaction/{transaction_id}/result/pdf', { transaction_id: transactionId }, options),
    requisition: (orderId, options) => document('/v3/order/{order_id}/requisition/pdf', { order_id: orderId }, options),
    collectionInstructions: (orderId, options) =>
      document('/v3/order/{order_id}/collection_instruction_pdf', { order_id: orderId }, options),
    labTestCollectionInstructions: (labTestId, options) =>
      document('/v3/lab_test/{lab_test_id}/collection_instruction_pdf', { lab_test_id: labTestId }, options),
    beneficiaryNotice: (orderId, options) => document('/v3/order/{order_id}/abn_pdf', { order_id: orderId }, options),
    specimenLabels: (orderId, { collectionDate, count }, options) =>
      transport.download({
        method: 'GET',
        path: '/v3/order/{order_id}/labels/pdf',
        params: { order_id: orderId },
        query: { collection_date: collectionDate, number_of_labels: count },
        options,
      }),
  };
}
