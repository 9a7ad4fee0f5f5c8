import type { LabService } from '../service/lab-service.js';
import type { reporterOf } from '../service/reads.js';
import type { CallOptions } from './call-options.js';
import { ServiceNotConfigured } from './errors.js';
import type { CallKind, TemporalCalls } from './workflow-calls.js';

/*
 * Calls of the lab service with no workflow in between. They need no worker and no history that Temporal still retains, and
 * nothing of their answers enters Temporal. They reject with the service's own errors.
 */

export interface ServiceAccess {
  calls: TemporalCalls;
  service?: LabService | undefined;
  /** Reports a read that the service does not answer, if somebody records reads. */
  report?: ReturnType<typeof reporterOf> | undefined;
}

/** @throws ServiceNotConfigured */
export function requireService({ service }: Pick<ServiceAccess, 'service'>): LabService {
  if (service) return service;
  throw new ServiceNotConfigured('The address of the lab service is missing: give `service` to LabOperations');
}

/** One call. */
export async function askService<T>(
  access: ServiceAccess,
  kind: CallKind,
  options: CallOptions,
  question: (service: LabService, abort: { signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const service = requireService(access);
  return access.calls.call(kind, options, (call) => call.service((abort) => question(service, abort)));
}

/** Ends the request of the page that is being read. */
interface PageAbort {
  signal?: AbortSignal;
}

/**
 * A list that is read page by page as it is consumed; the deadline holds for each page.
 * @param begin the list; it has to read `abort` for every page
 * @param isMeant what is yielded. Default: everything
 */
export function listFromService<T>(
  access: ServiceAccess,
  kind: CallKind,
  options: CallOptions,
  begin: (service: LabService, abort: PageAbort) => AsyncIterable<T>,
  isMeant: (item: T) => boolean = () => true,
): AsyncGenerator<T, void, undefined> {
  const service = requireService(access);
  const abort: PageAbort = {};
  const items = access.calls.iterate(
    kind,
    options,
    () => begin(service, abort),
    (call, next) =>
      call.service(({ signal }) => {
        abort.signal = signal;
        return next();
      }),
  );
  return filtered(items, isMeant);
}

async function* filtered<T>(items: AsyncIterable<T>, isMeant: (item: T) => boolean) {
  for await (const item of items) if (isMeant(item)) yield item;
}
