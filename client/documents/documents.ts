import type { CallOptions } from '../call-options.js';
import { checkRead, namedThing } from '../input-faults.js';
import { askService, type ServiceAccess } from '../service-calls.js';
import { isAsking } from '../workflow-calls.js';

export interface SpecimenLabels {
  collectionDate: Date;
  /** How many. Default: the service's, 3. */
  count?: number;
}

/**
 * The service's PDFs of orders, each read as a whole, 32 MiB by default: an error comes before you send the first byte on. Needs
 * `service` in `LabOperations`. Every method rejects with ReadInvalid, ServiceNotConfigured, TimedOut and the service's own errors;
 * as far as is known, with `NotFound` until there is such a document. Deadline: 30 seconds. The service has no shipping labels.
 */
export class DocumentOperations {
  private readonly access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.access = access;
  }

  /** The laboratory's report: of an order, or of a transaction with all its orders. */
  async results(which: { orderId: string } | { transactionId: string }, options: CallOptions = {}): Promise<Buffer> {
    const { orderId, transactionId = '' } = namedThing(which, [['orderId'], ['transactionId']] as const);
    return askService(this.access, isAsking, options, ({ documents }, ends) =>
      orderId === undefined ? documents.transactionResults(transactionId, ends) : documents.results(orderId, ends),
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
    const { orderId, labTestId = '' } = namedThing(which, [['orderId'], ['labTestId']] as const);
    return askService(this.access, isAsking, options, ({ documents }, ends) =>
      orderId === undefined
        ? documents.labTestCollectionInstructions(labTestId, ends)
        : documents.collectionInstructions(orderId, ends),
    );
  }

  /** Labels for the specimens of an order. */
  async specimenLabels(orderId: string, labels: SpecimenLabels, options: CallOptions = {}): Promise<Buffer> {
    const { collectionDate, ...rest } = labels;
    checkRead('The input for labels', { collectionDate }, { collectionDate: 'a valid Date' });
    const asked = { collectionDate: collectionDate.toISOString(), ...rest };
    return askService(this.access, isAsking, options, ({ documents }, ends) =>
      documents.specimenLabels(orderId, asked, ends),
    );
  }

  /** The notice of what an insurance may not pay, for an order that has `has_abn`. */
  async beneficiaryNotice(orderId: string, options: CallOptions = {}): Promise<Buffer> {
    return askService(this.access, isAsking, options, ({ documents }, ends) =>
      documents.beneficiaryNotice(orderId, ends),
    );
  }
}
