import { z } from 'zod';
import type { CallOptions, Transport } from './http/http.js';

/** A portal link is a credential: anyone who has it is logged in. It belongs in no log and in no workflow's history. */
const portalUrlSchema = z.looseObject({
  url: z.string(),
  /** Seconds; the unit is not documented and assumed here. */
  expires_in: z.number(),
});

export type PortalUrl = z.output<typeof portalUrlSchema>;

/** Open: the specification marks the list non-exhaustive. */
type PortalContext = 'launch' | 'communications' | (string & {});

export interface PortalUrlRequest {
  /**
   * `launch` lives for minutes and sends an authenticated user straight in; `communications` lives for weeks, is
   * shortened for e-mail and SMS, and may ask the person who opens it to verify who they are.
   */
  context: PortalContext;
  /** Opens the portal at this order; null is sent as such, and names none. */
  orderId?: string | null;
}

export interface Portal {
  /**
   * Creates a link to the hosted portal for a user. The user needs demographics first: `ServiceRefused` with status
   * 422 without them. The feature is enabled per customer: `FeatureNotEnabled` otherwise.
   */
  createUrl(userId: string, request: PortalUrlRequest, options?: CallOptions): Promise<PortalUrl>;
}

export function createPortal(transport: Transport): Portal {
  return {
    createUrl: (userId, { context, orderId }, options) =>
      transport.request({
        method: 'POST',
        path: '/v2/user/{user_id}/create_portal_url',
        params: { user_id: userId },
        body: { context, order_id: orderId },
        options,
        answer: portalUrlSchema,
      }),
  };
}
