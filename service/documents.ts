import type { Readable } from 'node:stream';
import { z } from 'zod';
import { countSchema } from './validation.js';
import type { Transport } from './http/http.js';
import type { CallOptions, ServiceCall } from './http/calls.js';

/**
 * PDFs of orders (docs/internals/lab-service.md), each as a whole. Every call rejects with a `ServiceError`; assumed: with `NotFound` until
 * there is such a document.
 */
export interface Documents extends DocumentCalls<Buffer> {
  /**
   * The same PDFs as streams, which come with their first bytes: the options hold until then. Read each to its end or destroy
   * it, because it holds a connection, for ten minutes at most. One that breaks off is destroyed with a `ServiceError`.
   */
  readonly streams: DocumentCalls<Readable, StreamOptions>;
}

export const streamLimitSchema = z.strictObject({ maxBytes: countSchema.optional() });

interface StreamOptions extends CallOptions {
  /** Bytes of the document at most. Default `ServiceConfig.maxResponseBytes`. */
  maxBytes?: number;
}

/** One call for each kind of document. */
export interface DocumentCalls<Pdf, Options extends CallOptions = CallOptions> {
  /** The laboratory's report. */
  results(orderId: string, options?: Options): Promise<Pdf>;
  /** The reports of a transaction's orders in one. */
  transactionResults(transactionId: string, options?: Options): Promise<Pdf>;
  requisition(orderId: string, options?: Options): Promise<Pdf>;
  /** How the sample is taken. */
  collectionInstructions(orderId: string, options?: Options): Promise<Pdf>;
  labTestCollectionInstructions(labTestId: string, options?: Options): Promise<Pdf>;
  /** Advance beneficiary notice. */
  beneficiaryNotice(orderId: string, options?: Options): Promise<Pdf>;
  /** Labels for the specimens. */
  specimenLabels(orderId: string, labels: SpecimenLabels, options?: Options): Promise<Pdf>;
}

export const collectionSchema = z.strictObject({ collectionDate: z.date('must be a valid Date') });

interface SpecimenLabels {
  /** ISO 8601, with time. */
  collectionDate: string;
  /** Default: the service's, 3. */
  count?: number;
}

export function createDocuments(transport: Transport): Documents {
  const streamed = (call: ServiceCall, { maxBytes, ...options }: StreamOptions = {}) =>
    transport.downloadStream({ ...call, options }, maxBytes);
  return {
    ...documentCalls<Buffer, CallOptions>((call, options) => transport.download({ ...call, options })),
    streams: documentCalls<Readable, StreamOptions>(streamed),
  };
}

function documentCalls<Pdf, Options extends CallOptions>(
  download: (call: ServiceCall, options?: Options) => Promise<Pdf>,
): DocumentCalls<Pdf, Options> {
  const document = (path: string, params: Record<string, string>, options?: Options) =>
    download({ method: 'GET', path, params }, options);
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
      download(
        {
          method: 'GET',
          path: '/v3/order/{order_id}/labels/pdf',
          params: { order_id: orderId },
          query: { collection_date: collectionDate, number_of_labels: count },
        },
        options,
      ),
  };
}
