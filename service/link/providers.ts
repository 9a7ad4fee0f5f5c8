import { z } from 'zod';
import { isStatedAbsence } from '../errors.js';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import { isScheduledForDeletion } from '../users.js';
import { conditionSchema } from '../validation.js';
import * as fields from '../fields.js';

/* Makers of devices and apps, and a user's connections with them. Shapes come from docs/internals/lab-service.md. */

const providerSchema = z.looseObject({
  name: fields.text,
  /** The name in links, in connections and in webhooks. */
  slug: z.string().min(1),
  description: fields.text,
  logo: fields.text,
  /** `oauth`, `team_oauth`, `sdk`, `password`, `email`, `app`, an empty text, or one not known yet. */
  auth_type: fields.text,
  /** The health data that it has, for instance `sleep`. */
  supported_resources: fields.list(z.string()),
});

export type Provider = z.output<typeof providerSchema>;

const providerConnectionSchema = z.looseObject({
  name: fields.text,
  slug: z.string().min(1),
  logo: fields.text,
  created_on: fields.timestamp,
  /** `connected`, `error`, or one not known yet. With `error` nothing is fetched until the user connects again. */
  status: fields.text,
  /** The provider's own name of the user's account; perhaps personal. */
  external_user_id: fields.text,
  /** Why the connection broke. */
  error_details: fields.part(
    z.looseObject({
      /**
       * `token_refresh_failed`, `webhook_registration_failed`, `user_not_found`, `deregistered_per_provider`,
       * `required_scopes_not_granted`, `provider_credential_error`, `provider_password_expired`, `unknown`; the list grows.
       */
      error_type: fields.text,
      /** Text for developers, which may quote a person. */
      error_message: fields.text,
      errored_at: fields.timestamp,
    }),
  ),
});

export type ProviderConnection = z.output<typeof providerConnectionSchema>;

export const providerFilterSchema = z.strictObject({
  /** One of the service's types of sources, of which there is no documented list. */
  sourceType: conditionSchema,
});

export type ProviderFilter = z.input<typeof providerFilterSchema>;

/** Every call rejects with a `ServiceError`. */
export interface Providers {
  /** Every provider that the service knows, whether the team uses it or not. */
  list(filter?: ProviderFilter, options?: CallOptions): Promise<Provider[]>;
  /** A user's connections, those that broke included. */
  connectionsOf(userId: string, options?: CallOptions): Promise<ProviderConnection[]>;
  /**
   * Ends a user's connection. False if the service knows no such connection, or no such user, or says that it ended none: it may
   * have been ended before, so it is safe to repeat.
   */
  deregister(userId: string, provider: string, options?: CallOptions): Promise<boolean>;
}

const readableProviders = fields.answeredList(providerSchema).transform(({ items }) => items);

const connectionsSchema = z
  .looseObject({ providers: fields.answeredList(providerConnectionSchema) })
  .transform(({ providers }) => providers.items);

/** The things that the service's own 404 names. A gateway, which knows none of them, writes `Not Found` or `no Route matched`. */
const named = ['user', 'provider', 'source', 'connection'];

/** Without a body, the status alone says that the connection has ended. */
const deregisteredSchema = z
  .looseObject({ success: fields.flag })
  .nullish()
  .transform((answer) => answer?.success !== false);

export function createProviders(transport: Transport): Providers {
  return {
    list: ({ sourceType } = {}, options) =>
      transport.get('/v2/providers', {}, readableProviders, options, { query: { source_type: sourceType } }),
    connectionsOf: (userId, options) =>
      transport.get('/v2/user/providers/{user_id}', { user_id: userId }, connectionsSchema, options),
    deregister: async (userId, provider, options) => {
      const call = { method: 'DELETE', path: '/v2/user/{user_id}/{provider}' } as const;
      try {
        const params = { user_id: userId, provider };
        return await transport.request({ ...call, params, options, answer: deregisteredSchema });
      } catch (error) {
        if (isStatedAbsence(error, named) || isScheduledForDeletion(error)) return false;
        throw error;
      }
    },
  };
}
