import type { Readable } from 'node:stream';
import { collectionSchema, type DocumentCalls, streamLimitSchema } from '../service/documents.js';
import type { CallOptions } from './call-options.js';
import { checkRead, namedThing } from './input-faults.js';
import { askService, type ServiceAccess } from './service-calls.js';
import { asking } from './workflow-calls.js';

export interface SpecimenLabels {
  collectionDate: Date;
  /** How many. Default: the service's, 3. */
  count?: number;
}

/** `deadline` holds until the stream is there; `signal` also ends the stream. */
export interface DocumentStreamOptions extends CallOptions {
  /** Bytes of the document at most. Default: 32 MiB. */
  maxBytes?: number;
}

interface ServiceOptions {
  signal: AbortSignal;
  maxBytes?: number;
}

/** Asks the lab service for one document. */
type Download<Pdf, Options> = (
  ask: (documents: DocumentCalls<Pdf, ServiceOptions>, abort: ServiceOptions) => Promise<Pdf>,
  options: Options | undefined,
) => Promise<Pdf>;

/**
 * The service's PDFs of orders. Every method rejects with ReadInvalid, ServiceNotConfigured, TimedOut and the service's own errors; as
 * far as is known, with `NotFound` until there is such a document. Deadline: 30 seconds. The service has no shipping labels.
 */
export class DocumentReads<Pdf, Options extends CallOptions = CallOptions> {
  private readonly download: Download<Pdf, Options>;

  constructor(download: Download<Pdf, Options>) {
    this.download = download;
  }

  /** The laboratory's report: of an order, or of a transaction with all its orders. */
  async results(which: { orderId: string } | { transactionId: string }, options?: Options): Promise<Pdf> {
    const { orderId, transactionId = '' } = namedThing(which, [['orderId'], ['transactionId']] as const);
    return this.download(
      (documents, abort) =>
        orderId === undefined ? documents.transactionResults(transactionId, abort) : documents.results(orderId, abort),
      options,
    );
  }

  /** There is one once the order has the status `requisition_created`. */
  async requisition(orderId: string, options?: Options): Promise<Pdf> {
    return this.download((documents, abort) => documents.requisition(orderId, abort), options);
  }

  /** How the sample is taken: for an order, or for a lab test that has `has_collection_instructions`. */
  async collectionInstructions(which: { orderId: string } | { labTestId: string }, options?: Options): Promise<Pdf> {
    const { orderId, labTestId = '' } = namedThing(which, [['orderId'], ['labTestId']] as const);
    return this.download(
      (documents, abort) =>
        orderId === undefined
          ? documents.labTestCollectionInstructions(labTestId, abort)
          : documents.collectionInstructions(orderId, abort),
      options,
    );
  }

  /** Labels for the specimens of an order. */
  async specimenLabels(orderId: string, labels: SpecimenLabels, options?: Options): Promise<Pdf> {
    const { collectionDate, ...rest } = labels;
    checkRead('The input for labels', { collectionDate }, collectionSchema);
    const asked = { collectionDate: collectionDate.toISOString(), ...rest };
    return this.download((documents, abort) => documents.specimenLabels(orderId, asked, abort), options);
  }

  /** The notice of what an insurance may not pay, for an order that has `has_abn`. */
  async beneficiaryNotice(orderId: string, options?: Options): Promise<Pdf> {
    return this.download((documents, abort) => documents.beneficiaryNotice(orderId, abort), options);
  }
}

/**
 * PDFs, each read as a whole, 32 MiB by default: an error comes before you send the first byte on. Needs `service` in
 * `LabOperations`.
 */
export class DocumentOperations extends DocumentReads<Buffer> {
  /**
   * The same PDFs as streams, to be piped to a response without being held. A stream comes when its first bytes show that it is a
   * PDF, so the same errors come before you send the first byte on. One that breaks off, is larger than `maxBytes` or takes more
   * than ten minutes is destroyed with an error of the service's. Use `pipeline` of `node:stream/promises`, which ends the
   * response then; a stream that is not read to its end must be destroyed, because it holds a connection.
   */
  readonly streams: DocumentReads<Readable, DocumentStreamOptions>;

  constructor(access: ServiceAccess) {
    super(async (ask, options = {}) =>
      askService(access, asking, options, ({ documents }, abort) => ask(documents, abort)),
    );
    this.streams = new DocumentReads(streamOf(access));
  }
}

function streamOf(access: ServiceAccess): Download<Readable, DocumentStreamOptions> {
  return async (ask, { maxBytes, ...options } = {}) => {
    checkRead('The limit of a stream', { maxBytes }, streamLimitSchema);
    const limits = maxBytes === undefined ? {} : { maxBytes };
    const stream = await askService(access, asking, options, ({ documents }, abort) =>
      ask(documents.streams, { ...abort, ...limits }),
    );
    endedBy(options.signal, stream);
    return stream;
  };
}

/** The stream's error is the signal's reason, as the rejection of a call is. */
function endedBy(signal: AbortSignal | undefined, stream: Readable): void {
  if (signal === undefined) return;
  const end = (): void => void stream.destroy(signal.reason as Error);
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  stream.once('close', () => signal.removeEventListener('abort', end));
}
