import { z } from 'zod';
import type { Transport } from '../http/http.js';
import type { CallOptions, ServiceCall } from '../http/calls.js';
import * as fields from '../fields.js';
import { isObject } from '../json-object.js';
import { plainSentence } from '../word.js';
import { checkedRequest, exactTextSchema, requiredTextSchema } from '../validation.js';

/** The error types of the specification, in its order. Its list is open: an unknown type is kept as it was sent. */
export const linkErrorTypes = [
  'invalid_token',
  'token_expired',
  'token_not_validated',
  'token_consumed',
  'provider_credential_error',
  'provider_password_expired',
  'provider_api_error',
  'unsupported_region',
  'duplicate_connection',
  'required_scopes_not_granted',
  'incorrect_mfa_code',
  'user_cancelled',
] as const;

/** A user's login. Both values are credentials: they must not be logged. */
const linkTokenSchema = z.looseObject({
  /** Valid for 10 minutes or 60, sources disagree (docs/internals/lab-service.md). A success consumes it. */
  link_token: z.string().min(1),
  /** The hosted page where the user connects a provider with this token. */
  link_web_url: z.string().min(1),
});

type LinkToken = z.output<typeof linkTokenSchema>;

/** How the provider asks the person for a code, if the state is `pending_provider_mfa`. */
const providerMfaSchema = z.looseObject({
  /** `sms`, `email`, or one not known yet. */
  method: fields.text,
  /** The address that the code went to, shortened by the provider, for the person to read. */
  hint: fields.text,
});

/**
 * The result of a step of a link. Only `state` is certain: the specification describes the other fields but not their
 * names, so the names of deployments are read. A field of the wrong type counts as absent; unknown states and error types are kept
 * as they were sent. Do not conclude from one field that another is set: an `error_type` has been seen beside `success`.
 */
const linkResultSchema = z.looseObject({
  state: z.string().min(1),
  /** As it was given when the token was created. */
  redirect_url: fields.text,
  /** See `linkErrorTypes`. */
  error_type: fields.text,
  /**
   * Text for developers, without any guarantee: no decision may depend on it. Truncated to 300 characters, without
   * the sent values and without e-mail addresses and telephone numbers.
   */
  error: fields.text,
  provider_mfa: providerMfaSchema.nullish().catch(undefined),
  provider: fields.text,
  connected: z.boolean().nullish().catch(undefined),
  provider_id: fields.text,
});

export type LinkResult = z.output<typeof linkResultSchema>;

/** `POST /v2/link/token` (docs/internals/lab-service.md; the specification only says that it takes a redirect URL). */
const linkTokenRequestSchema = z.strictObject({
  user_id: requiredTextSchema,
  /** Binds the token to one provider. */
  provider: requiredTextSchema.nullish(),
  /** The address that the hosted page sends the user to at its end; an app's own scheme is possible. */
  redirect_url: z
    .string()
    .refine((url) => URL.canParse(url), 'must be an absolute URL')
    .nullish(),
  filter_on_providers: z.array(requiredTextSchema).nullish(),
  on_error: z.literal('redirect', { error: "must be 'redirect'" }).nullish(),
  on_close: z.literal('redirect', { error: "must be 'redirect'" }).nullish(),
});

export type LinkTokenRequest = z.output<typeof linkTokenRequestSchema>;

const passwordSchema = z.strictObject({
  username: requiredTextSchema,
  password: exactTextSchema,
  /** A country's code in lower case, or `eu`, where a provider keeps regions apart. */
  region: requiredTextSchema.nullish(),
});

const mfaSchema = z.strictObject({ mfa_code: requiredTextSchema });

type PasswordCredentials = z.output<typeof passwordSchema>;

/**
 * Milliseconds for a step of the login. The service waits for the provider, up to 60 s (docs/internals/lab-service.md): giving up
 * earlier would leave unknown if a code was sent, or used, and a code works once.
 */
const providerTimeoutMs = 65_000;

/**
 * Links between a user and a provider of health data.
 *
 * An error within a link is a `LinkResult` with the state `error`. A call rejects with a `ServiceError` if the service
 * did not get that far; no error repeats a token, a user name, a password or a code. After `ServiceUnreachable` nothing
 * was sent, so a code cannot have been used; after `AnswerLost`, `ServiceUnavailable` and `AnswerUnreadable` it is
 * unknown.
 */
export interface Links {
  /** Creates the token that the steps of one link carry. `ServiceRefused` for a user that does not exist. */
  createToken(request: LinkTokenRequest, options?: CallOptions): Promise<LinkToken>;
  /**
   * Submits a person's credentials to the provider. The person's browser does this, with the link token instead of the
   * API key: the method is for tools that stand in for a browser. The workflows never call it, because a password must
   * not enter a backend.
   */
  submitPassword(
    provider: string,
    linkToken: string,
    credentials: PasswordCredentials,
    options?: CallOptions,
  ): Promise<LinkResult>;
  /**
   * Hands on the code that the provider sent to the person; with the same link token as the step that asked for it.
   * The call waits 65 s at least unless it names a `timeoutMs` of its own, since the provider may take 60.
   */
  completeMfa(provider: string, linkToken: string, mfaCode: string, options?: CallOptions): Promise<LinkResult>;
}

export function createLinks(transport: Transport): Links {
  return {
    createToken: async (request, options) => {
      const call = { method: 'POST', path: '/v2/link/token' } as const;
      const body = checkedRequest(call, linkTokenRequestSchema, request);
      return transport.request({ ...call, body, options, answer: linkTokenSchema });
    },
    submitPassword: async (provider, linkToken, credentials, options) => {
      const call = { method: 'POST', path: '/v2/link/provider/password/{provider}' } as const;
      const body = checkedRequest(call, passwordSchema, credentials);
      const secrets = [body.username, body.password];
      return step(transport, { ...call, body, secrets, options }, provider, linkToken);
    },
    completeMfa: async (provider, linkToken, mfaCode, options) => {
      const call = { method: 'POST', path: '/v2/link/provider/password/{provider}/complete_mfa' } as const;
      const body = checkedRequest(call, mfaSchema, { mfa_code: mfaCode });
      return step(transport, { ...call, body, secrets: [body.mfa_code], options }, provider, linkToken);
    },
  };
}

type Step = ServiceCall & { secrets: readonly string[] };

/** A call that carries the link token instead of the API key. */
async function step(transport: Transport, call: Step, provider: string, linkToken: string): Promise<LinkResult> {
  const answer = linkResultSchema.transform((result) =>
    result.error == null ? result : { ...result, error: plainSentence(result.error, [linkToken, ...call.secrets]) },
  );
  return transport.request({
    ...{ ...call, slowestMs: providerTimeoutMs, params: { provider }, auth: { linkToken }, answer },
    recover: (_status, body) => answer.safeParse(failedStepIn(body)).data,
  });
}

/**
 * A step that failed is a result, whatever its status, also in `detail`, which may be a text, a list or an object: the specification
 * names no status, and sources differ. What has neither the state `error` nor an error type of a link is a refusal of the call.
 */
function failedStepIn(body: unknown): object | undefined {
  const parts = [body, isObject(body) ? body['detail'] : undefined].flat();
  const steps = parts.map((part) => (isObject(part) ? part : { error_type: part }));
  const typeIn = ({ error_type, type, msg }: Record<string, unknown>) =>
    linkErrorTypes.find((known) => [error_type, type, msg].includes(known));
  const failed = steps.find((step) => step['state'] === 'error' || typeIn(step) !== undefined);
  return failed && { ...failed, error_type: typeIn(failed) ?? failed['error_type'], state: 'error' };
}
