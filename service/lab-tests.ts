import { z } from 'zod';
import type { CallOptions, Transport } from './http.js';
import { textSchema } from './order.js';

export const labAccountSchema = z.looseObject({
  id: z.string().min(1),
  lab: textSchema,
  org_id: textSchema,
  /** `active`, `pending`, `suspended`, `ready_to_launch`, or one not known yet. */
  status: textSchema,
  /** `order_delegated`, `result_delegated`, `fully_delegated`, `not_delegated`, or one not known yet. */
  delegated_flow: textSchema,
  provider_account_id: textSchema,
  account_name: textSchema,
  /** Put with an order's own comment on the requisition. */
  default_clinical_notes: textSchema,
});

export type LabAccount = z.output<typeof labAccountSchema>;

export interface LabAccountFilter {
  labAccountId?: string;
  /** `active`, `pending`, `suspended`, `ready_to_launch`; the list grows. */
  status?: string;
}

export interface LabTests {
  listLabAccounts(filter?: LabAccountFilter, options?: CallOptions): Promise<LabAccount[]>;
}

export function createLabTests(transport: Transport): LabTests {
  return {
    listLabAccounts: (filter = {}, options) =>
      transport.request({
        method: 'GET',
        path: '/v3/lab_test/lab_account',
        query: { lab_account_id: filter.labAccountId, status: filter.status },
        options,
        answer: z
          .looseObject({ data: z.array(labAccountSchema).nullish() })
          .transform((answer): LabAccount[] => answer.data ?? []),
      }),
  };
}

/** Whether orders of this account must bring a physician (specification, "Lab account"); an unknown flow does not say so. */
export function needsPhysician(account: Pick<LabAccount, 'delegated_flow'>): boolean {
  return account.delegated_flow === 'order_delegated' || account.delegated_flow === 'fully_delegated';
}
