import { ApplicationFailure, log } from '@temporalio/activity';
import { ServiceError } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import type { Marker } from '../../service/lab-tests.js';
import { answerFaults } from '../../service/order/answers.js';
import type { KitRequest } from '../../protocol/order/placing-messages.js';
import type { Attempt } from '../attempt.js';

/** The longest that one read of a lab test may take: the service refuses a wrong answer without it, too. */
const longestCourtesyMs = 10_000;

/**
 * Refuses wrong answers before the call that creates the order. Only an order with answers costs reads, one for each lab test
 * that it names; if one cannot be read, or if single markers are ordered, the service decides.
 */
export async function requireAnswers(
  service: LabService,
  order: Extract<KitRequest, { kind: 'with_patient' }>['order'],
  attempt: Attempt,
): Promise<void> {
  const { aoe_answers: answers, lab_test_id: labTestId, order_set: set } = order;
  if (answers == null || answers.length === 0) return;
  const labTestIds = new Set([labTestId, ...(set?.lab_test_ids ?? [])].filter((id) => id != null));
  const markers: Marker[] = [];
  for (const id of labTestIds) markers.push(...(await markersIfShown(service, id, attempt)));
  const fields = answerFaults(markers, answers);
  if (fields.length === 0) return;
  const faults = fields.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw ApplicationFailure.nonRetryable(`The answers are not valid: ${faults}`, 'OrderRefused', { fields });
}

async function markersIfShown(service: LabService, labTestId: string, attempt: Attempt): Promise<Marker[]> {
  const options = attempt.call();
  const timeoutMs = Math.min(longestCourtesyMs, options.timeoutMs ?? longestCourtesyMs);
  try {
    return (await service.labTests.get(labTestId, { ...options, timeoutMs })).markers ?? [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { name, status } = error;
    log.warn('a lab test cannot be read: the service decides if the answers fit', { error: name, status });
    return [];
  }
}
