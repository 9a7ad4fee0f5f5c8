import type { SpecimenLabels } from '../../service/documents.js';
import type { CallOptions } from '../call-options.js';
import { askService, type ServiceAccess } from '../service-calls.js';
import { isAsking } from '../workflow-calls.js';

/**
 * PDFs that the service has of orders. Each is read as a whole, 32 MiB at most, so that you know of an error before you send
 * the first byte on. Needs `service` in `LabOperations`. Every method rejects with ServiceNotConfigured, TimedOut and the
 * service's own errors, `NotFound` until there is such a document; its deadline is 30 seconds. The service has no shipping labels.
 */
export class DocumentOperations {
  private readonly access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.access = access;
  }

  /** The laboratory's report: of an order, or of a transaction with all its orders. */
  async results(which: { orderId: string } | { transactionId: string }, options: CallOptions = {}): Promise<Buffer> {
    return askService(this.access, isAsking, options, ({ documents }, ends) =>
      'orderId' in which
        ? documents.results(which.orderId, ends)
        : documents.transactionResults(which.transactionId, ends),
    );
  }

  /** There is one once the order has the status `requisition_created`. */
  async requisition(orderId: string, options: CallOptions = {}): Promise<Buffer> {
    return askService(this.access, isAsking, options, ({ documents }, ends) => documents.requisition(orderId, ends));
  }

  /** How the sample is taken: for an order, or for a lab test that has `has_collection_instructions`. */
  async collectionInstructions(
    which: { orderId: string } | { labTestId: string },
    options: CallOptions = {},
  ): Promise<Buffer> {
    return askService(this.access, isAsking, options, ({ documents }, ends) =>
      'orderId' in which
        ? documents.collectionInstructions(which.orderId, ends)
        : documents.labTestCollectionInstructions(which.labTestId, ends),
    );
  }

  /** Labels for the specimens of an order. */
  async specimenLabels(orderId: string, labels: SpecimenLabels, options: CallOptions = {}): Promise<Buffer> {
    return askService(this.access, isAsking, options, ({ documents }, ends) =>
      documents.specimenLabels(orderId, labels, ends),
    );
  }
}
