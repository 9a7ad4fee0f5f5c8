import { TypedSearchAttributes } from '@temporalio/common';
import type { CriticalResultReport } from '../service/order/critical-result.js';
import type { OrderSnapshot } from '../service/order/snapshot.js';
import {
  labOrderIdKey,
  labPhaseKey,
  labReferenceKey,
  ofAttention,
  ofTransaction,
  ofUser,
} from './search-attributes.js';
import { kitOrderId, bookAppointmentId, matchReviewId, parsingJobId } from './ids.js';
import { readPassthrough, rootOf } from './order/root-order.js';
import { phaseOf } from './order/lifecycle.js';
import { kitOrderName, type KitOrderInput } from './order/messages.js';
import type { ResolvedOrderPolicy } from './order/policy.js';
import type { WorkflowStart } from './signal-or-start.js';
import { resolvePolicy } from './policy/policies.js';
import { omitNullish } from '../service/json-object.js';
import type { AppointmentSnapshot } from '../service/appointment/snapshot.js';
import { canonicalId } from '../service/canonical-id.js';
import { visitPhaseOf } from './appointment/lifecycle.js';
import { bookAppointmentName, type BookAppointmentInput } from './appointment/messages.js';
import type { ResolvedAppointmentPolicy } from './appointment/policy.js';
import { openPhaseOf, outcomeOf } from './match-review/lifecycle.js';
import { matchReviewName, type MatchReviewInput, type MatchReviewReported } from './match-review/messages.js';
import type { ResolvedMatchReviewPolicy } from './match-review/policy.js';
import type { ReportSnapshot } from '../service/report/snapshot.js';
import { phaseOf as reportPhaseOf } from './report/lifecycle.js';
import { parsingJobName, type ParsingJobInput } from './report/messages.js';
import type { ResolvedReportPolicy } from './report/policy.js';

/* How a webhook, or whatever else reports something, starts the workflow that is not there yet: start options for signal-with-start. */

/** Resolved once: every webhook needs it, in case it starts a run. */
const resolvedDefaults = resolvePolicy('order');

/**
 * The start options for the workflow that follows the order's chain, for `signalOrStart`. Search
 * attributes set at the start cost nothing; the running workflow changes them later.
 *
 * @param policy by default today's defaults, which become data of the history
 */
export function kitOrderStart(
  snapshot: OrderSnapshot,
  rootOrderId = rootOf(snapshot),
  reference = readPassthrough(snapshot.passthrough)?.reference,
  policy: ResolvedOrderPolicy = resolvedDefaults,
): WorkflowStart<KitOrderInput> {
  // An order that names its root in our passthrough may be another user's: the run adds the order's id once it has taken the order in.
  const namedByUs = readPassthrough(snapshot.passthrough)?.root !== undefined;
  return {
    name: kitOrderName,
    workflowId: kitOrderId(rootOrderId),
    args: [{ rootOrderId, policy }],
    // Worked out when a run is started: most webhooks come to one that runs.
    get typedSearchAttributes() {
      return new TypedSearchAttributes([
        { key: labOrderIdKey, value: namedByUs ? [rootOrderId] : [...new Set([rootOrderId, snapshot.orderId])] },
        { key: labPhaseKey, value: phaseOf(snapshot.events, snapshot.status) },
        ...(reference === undefined || reference === rootOrderId ? [] : [{ key: labReferenceKey, value: reference }]),
        ...ofUser(snapshot.userId),
        ...ofTransaction(snapshot.transaction?.id),
      ]);
    },
    staticSummary: `Lab order ${reference ?? rootOrderId}`,
    staticDetails: 'Follows one lab order, its redraws and its replacements from placement to results.',
  };
}

/**
 * The same for a report of a critical result, which may be the first news of its order. The alarm is found from the first
 * moment, also while the service cannot be asked whose order it is.
 */
export function criticalResultStart(
  { orderId, userId }: Pick<CriticalResultReport, 'orderId' | 'userId'>,
  rootOrderId = orderId,
  at = new Date(),
): WorkflowStart<KitOrderInput> {
  const start = kitOrderStart(omitNullish({ orderId, events: [], userId }), rootOrderId);
  const alarm = ofAttention(['critical_result'], [at.toISOString()]);
  return { ...start, typedSearchAttributes: start.typedSearchAttributes.updateCopy(alarm) };
}

/**
 * The start options for the workflow of an order's appointment, to be used with signal-with-start.
 *
 * @param policy by default today's defaults, which become data of the history
 */
export function bookAppointmentStart(
  givenOrderId: string,
  snapshot?: AppointmentSnapshot,
  policy: ResolvedAppointmentPolicy = resolvePolicy('appointment'),
): WorkflowStart<BookAppointmentInput> {
  const orderId = canonicalId(givenOrderId);
  const visit = snapshot && visitPhaseOf(snapshot);
  const phase = visit === undefined || visit === 'cancelled' ? 'awaiting_choice' : visit;
  return {
    name: bookAppointmentName,
    workflowId: bookAppointmentId(orderId),
    args: [{ orderId, policy }],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: labOrderIdKey, value: [orderId] },
      { key: labPhaseKey, value: phase },
      ...ofUser(snapshot?.userId),
    ]),
    staticSummary: `Appointment of order ${orderId}`,
    staticDetails:
      'Carries the appointment for a blood draw, at home or at a service centre, from the choice of a slot to the visit.',
  };
}

/**
 * The start options for the workflow of an unmatched result, to be used with signal-with-start.
 *
 * @param policy by default today's defaults, which become data of the history
 */
export function matchReviewStart(
  report: MatchReviewReported,
  policy: ResolvedMatchReviewPolicy = resolvePolicy('match review'),
): WorkflowStart<MatchReviewInput> {
  const { status, userId } = report;
  const rawResultId = canonicalId(report.rawResultId);
  return {
    name: matchReviewName,
    workflowId: matchReviewId(rawResultId),
    args: [{ rawResultId, policy }],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: labPhaseKey, value: outcomeOf(report) ?? openPhaseOf(status) },
      ...ofUser(userId),
    ]),
    staticSummary: `Review of unmatched result ${rawResultId}`,
    staticDetails: 'Follows a result that the service could not match with an order, until somebody has decided.',
  };
}

/**
 * The start options for the workflow that follows a parsing job, to be used with signal-with-start.
 *
 * @param policy by default today's defaults, which become data of the history
 */
export function parsingJobStart(
  { jobId, status, userId }: ReportSnapshot,
  reference?: string,
  policy: ResolvedReportPolicy = resolvePolicy('report'),
): WorkflowStart<ParsingJobInput> {
  return {
    name: parsingJobName,
    workflowId: parsingJobId(jobId),
    args: [{ jobId, policy }],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: labPhaseKey, value: reportPhaseOf(status) },
      ...(reference === undefined ? [] : [{ key: labReferenceKey, value: reference }]),
      ...ofUser(userId),
    ]),
    staticSummary: `Lab report ${reference ?? jobId}`,
    staticDetails: 'Follows one lab report from its upload until its biomarkers were read.',
  };
}
