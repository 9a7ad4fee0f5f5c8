import { z } from 'zod';
import { interpretationOf } from '../interpretation.js';
import * as fields from '../fields.js';
import { utcInstant } from '../timestamps.js';
import { lowerWordOf } from '../word.js';
import { omitNullish } from '../json-object.js';

/**
 * The content of a `labtest.result.critical` webhook: an order has a result that somebody must act on. It names the
 * order and carries no values, so it may enter a workflow's history.
 *
 * The event type is the alarm, whatever the `interpretation`: the service's own example has `normal`.
 */
export interface CriticalResultReport {
  orderId: string;
  userId?: string;
  sampleId?: string;
  /** `final`, `partial` (critical values are released before the rest), or one not known yet. */
  status?: string;
  interpretation?: string;
  /** When the service first fetched the result from the lab, ISO 8601 in UTC. */
  createdAt?: string;
  /** When the service last fetched it; of two reports of one result the later counts. */
  updatedAt?: string;
}

/** Only the order's id has to be there. A field of the wrong type counts as absent: an alarm must not fail for it. */
export const criticalResultSchema = z
  .looseObject({
    order_id: fields.referredId,
    id: fields.referredId,
    sample_id: fields.filledText,
    status: fields.text,
    interpretation: fields.text,
    team_id: fields.text,
    user_id: fields.referredId,
    created_at: fields.timestamp,
    updated_at: fields.timestamp,
  })
  .refine(({ order_id, id }) => order_id != null || id != null, { path: ['order_id'], message: 'is missing' });

type CriticalResult = z.output<typeof criticalResultSchema>;

/** The report without the team and unknown fields. Pure; never throws on a value that the schema accepts. */
export function criticalResultReportOf(result: CriticalResult): CriticalResultReport {
  const { order_id, id, user_id, sample_id, status, interpretation, created_at, updated_at } = result;
  return omitNullish({
    orderId: order_id ?? id ?? '',
    userId: user_id,
    sampleId: sample_id,
    // It stands in ids of notifications.
    status: status ? lowerWordOf(status) : undefined,
    interpretation: interpretationOf(interpretation),
    createdAt: utcInstant(created_at),
    updatedAt: utcInstant(updated_at),
  });
}
