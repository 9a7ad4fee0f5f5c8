import { z } from 'zod';
import type { CallOptions, Transport } from './http.js';
import { countedSchema } from './order.js';

/** A portal link is a credential: anyone who has it is logged in. It belongs in no log and in no workflow's history. */
const portalUrlSchema = z.looseObject({
  url: z.string(),
  /** Seconds; the unit is not documented and assumed here. The service calls it required: without it a warning is given. */
  expires_in: countedSchema,
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

/**
 * @param warn is called once if links come without their lifetime; they are returned all the same, because they open
 * the portal
 */
export function createPortal(transport: Transport, warn: (warning: string) => void): Portal {
  let isWarned = false;
  return {
    async createUrl(userId, { context, orderId }, options) {
      const link = await transport.request({
        method: 'POST',
        path: '/v2/user/{user_id}/create_portal_url',
        params: { user_id: userId },
        body: { context, order_id: orderId },
        options,
        answer: portalUrlSchema,
      });
      if (link.expires_in == null && !isWarned) {
        isWarned = true;
        warn(withoutLife);
      }
      return link;
    },
  };
}

const withoutLife =
  'portal links come without expires_in, which the service calls required: how long they live is unknown';
