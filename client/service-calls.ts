import type { LabService } from '../service/lab-service.js';
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
}

/** @throws ServiceNotConfigured */
export function requireService({ service }: Pick<ServiceAccess, 'service'>): LabService {
  if (service) return service;
  throw new ServiceNotConfigured('This calls the lab service itself: give `service` to LabOperations');
}

/** One call. */
export async function askService<T>(
  access: ServiceAccess,
  kind: CallKind,
  options: CallOptions,
  question: (service: LabService, ends: { signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const service = requireService(access);
  return access.calls.call(kind, options, (call) => call.service((ends) => question(service, ends)));
}

/** A list that is read page by page as it is consumed; the deadline holds for each page. */
export function listFromService<T>(
  access: ServiceAccess,
  kind: CallKind,
  options: CallOptions,
  begin: (service: LabService) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const service = requireService(access);
  return access.calls.iterate(
    kind,
    options,
    () => begin(service),
    (call, next) => call.service(next),
  );
}
