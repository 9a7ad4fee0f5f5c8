import { z } from 'zod';
import { answerAbout } from './http/answers.js';
import { isStatedAbsence, NotFound, RequestInvalid, sentencesOf, ServiceRefused } from './errors.js';
import type { Transport } from './http/http.js';
import type { CallOptions, ServiceCall } from './http/calls.js';
import * as fields from './fields.js';
import { noneIfPastTheEnd } from './http/paging.js';
import { medicalProxySchema } from './order/requests.js';
import {
  checkedRequest,
  birthDateSchema,
  countSchema,
  emailSchema,
  exactTextSchema,
  requiredTextSchema,
} from './validation.js';

/** `{name, slug, logo}` (specification), `{provider, type}` (newer events) or the slug alone; open, so another form is kept too. */
const sourceSchema = z.looseObject({
  name: fields.text,
  slug: fields.text,
  logo: fields.text,
  provider: fields.text,
  type: fields.text,
});

/** A value that is not a source counts as absent: one untidy connection must not hide the others. */
const sourceOrNone = z
  .preprocess((sent) => (typeof sent === 'string' ? { slug: sent } : sent), sourceSchema.nullish())
  .catch(undefined);

/** The specification names the provider `source`; deployments also send `provider`. Both are filled from either. */
const connectedSourceSchema = z
  .looseObject({ created_on: fields.timestamp, source: sourceOrNone, provider: sourceOrNone })
  .transform((connected) => {
    const [source, provider] = [connected.source, connected.provider];
    const both = source || provider ? { ...source, ...provider, ...withoutGaps(source) } : undefined;
    return { ...connected, source: both, provider: both };
  });

function withoutGaps(source: z.output<typeof sourceSchema> | null | undefined): z.output<typeof sourceSchema> {
  return Object.fromEntries(Object.entries(source ?? {}).filter(([, value]) => value != null));
}

const userSchema = z.looseObject({
  user_id: fields.id,
  team_id: fields.text,
  /** The customer's own reference: free text, never a UUID to rely on. */
  client_user_id: fields.text,
  created_on: fields.timestamp,
  connected_sources: fields.list(connectedSourceSchema),
  fallback_birth_date: fields.part(
    z.looseObject({ source_slug: fields.text, updated_at: fields.timestamp, value: fields.text }),
  ),
  /** `id` is an IANA zone name. */
  fallback_time_zone: fields.part(
    z.looseObject({ id: fields.text, source_slug: fields.text, updated_at: fields.timestamp }),
  ),
});

export type User = z.output<typeof userSchema>;

const userPageSchema = z.looseObject({
  users: fields.answeredList(userSchema),
  total: fields.number,
});

/** `POST /v2/user` (docs/internals/lab-service.md; the specification gives no body). Dates are YYYY-MM-DD. */
const createUserRequestSchema = z.strictObject({
  client_user_id: exactTextSchema,
  /** IANA zone name. */
  fallback_time_zone: z.string().nullish(),
  fallback_birth_date: birthDateSchema.nullish(),
  ingestion_start: z.string().nullish(),
  ingestion_end: z.string().nullish(),
});

export type CreateUserRequest = z.output<typeof createUserRequestSchema>;

/**
 * `PATCH /v2/user/{user_id}`: absent fields stay; an empty request is refused with 400. Every field may be null, which is sent; its meaning
 * is not documented.
 */
const updateUserRequestSchema = createUserRequestSchema.partial().extend({ client_user_id: exactTextSchema.nullish() });

export type UpdateUserRequest = z.output<typeof updateUserRequestSchema>;

/** Identifies the deleted user by exactly one of the two (docs/internals/lab-service.md, "User deletion"). */
export type DeletedUser = { userId: string } | { clientUserId: string };

const demographicsSchema = z.looseObject({
  first_name: fields.text,
  last_name: fields.text,
  email: fields.text,
  phone_number: fields.text,
  gender: fields.text,
  dob: fields.text,
  address: fields.part(
    z.looseObject({
      first_line: fields.text,
      second_line: fields.text,
      city: fields.text,
      state: fields.text,
      zip: fields.text,
      country: fields.text,
      access_notes: fields.text,
    }),
  ),
});

export type Demographics = z.output<typeof demographicsSchema>;

/** `PATCH /v2/user/{user_id}/info`. No rules are documented but the e-mail's and the dates' form, so only those hold. */
const demographicsRequestSchema = z.strictObject({
  first_name: requiredTextSchema,
  last_name: requiredTextSchema,
  email: emailSchema,
  phone_number: requiredTextSchema,
  gender: requiredTextSchema,
  dob: birthDateSchema,
  address: z.strictObject({
    first_line: requiredTextSchema,
    second_line: z.string().nullish(),
    city: requiredTextSchema,
    state: requiredTextSchema,
    zip: requiredTextSchema,
    country: requiredTextSchema,
    access_notes: z.string().nullish(),
  }),
  medical_proxy: medicalProxySchema.nullish(),
  race: z.string().nullish(),
  ethnicity: z.string().nullish(),
  sexual_orientation: z.string().nullish(),
  gender_identity: z.string().nullish(),
});

export type DemographicsRequest = z.output<typeof demographicsRequestSchema>;

export const userListSchema = z.strictObject({
  // The service answers a larger one with a failure of its own, which looks like an outage.
  pageSize: countSchema.max(500, 'must be at most 500').exactOptional(),
});

export interface UserListOptions extends CallOptions {
  /** Users per page, 1 to 500; default 100, the documented default. */
  pageSize?: number;
}

/** Users of the team. Every call rejects with a `ServiceError`. */
export interface Users {
  /** All users, page by page as they are consumed; the options hold for each page's call. */
  list(options?: UserListOptions): AsyncGenerator<User, void, undefined>;
  /** `NotFound` also for a user that is scheduled for deletion, see `isScheduledForDeletion`. */
  get(userId: string, options?: CallOptions): Promise<User>;
  /**
   * Idempotent on `client_user_id`: if it is taken, the service refuses and names the user who has it; that user is
   * read (a second call) and returned with `created: false`. A `ServiceRefused` is any other refusal.
   */
  create(request: CreateUserRequest, options?: CallOptions): Promise<{ user: User; created: boolean }>;
  /** The user with this customer's own reference, or `NotFound`. */
  resolve(clientUserId: string, options?: CallOptions): Promise<User>;
  /** The latest demographics; `NotFound` if none were set. */
  getDemographics(userId: string, options?: CallOptions): Promise<Demographics>;
  /** Sets the demographics, which a portal link requires. */
  upsertDemographics(userId: string, request: DemographicsRequest, options?: CallOptions): Promise<Demographics>;
  /**
   * Changes a user. `ServiceRefused` with status 409 if the `client_user_id` is another user's, `NotFound` for one
   * that is unknown or scheduled for deletion.
   */
  update(userId: string, request: UpdateUserRequest, options?: CallOptions): Promise<void>;
  /**
   * Schedules the user for deletion: connections are deregistered at once, the data is erased after 7 days. `NotFound`
   * for an unknown user, and for one that is scheduled already, see `isScheduledForDeletion`.
   */
  delete(userId: string, options?: CallOptions): Promise<void>;
  /**
   * Restores a user whose deletion is scheduled, but not the connections. Impossible once a new user has taken the same
   * `client_user_id`; the service's answer in that case, and after the 7 days, is not documented.
   */
  undoDelete(user: DeletedUser, options?: CallOptions): Promise<void>;
}

/**
 * True if a 404 means that the user is scheduled for deletion. The status alone does not distinguish it from an unknown
 * user, so the service's sentence decides ("You have scheduled this user for deletion.", "The user has been scheduled
 * for deletion as per your previous request"); other sentences with the same two stems count too.
 */
export function isScheduledForDeletion(error: unknown): boolean {
  if (!(error instanceof NotFound)) return false;
  const text = sentencesOf(error);
  return /schedul/i.test(text) && /delet/i.test(text);
}

/**
 * True if the service itself answers that there is no such user: "The user does not or no longer exists in this team".
 */
export function isStatedUnknown(error: unknown): boolean {
  return isStatedAbsence(error, ['user']);
}

/** An empty answer says the same by its status. One that shows an error instead of success does not: nothing is known then, as after a lost answer. */
const successSchema = z
  .looseObject({ success: fields.flag })
  .refine(
    ({ success, detail, error }) => success != null || (detail == null && error == null),
    'is an error, although the status says success',
  )
  .nullish();

/** An answer of `success: false`, whose meaning is not documented, counts as a refusal. */
async function requestSuccess(transport: Transport, call: ServiceCall): Promise<void> {
  const answer = await transport.request({ ...call, answer: successSchema });
  if (answer?.success !== false) return;
  throw new ServiceRefused({ method: call.method, path: call.path, status: 200 }, { fields: [] });
}

export function createUsers(transport: Transport): Users {
  const get = (userId: string, options?: CallOptions): Promise<User> =>
    transport.get(
      '/v2/user/{user_id}',
      { user_id: userId },
      answerAbout(userId, userSchema, (user) => user.user_id),
      options,
    );

  return {
    list: (options) => listUsers(transport, options),
    get,
    create: async (request, options) => {
      const answer = await createOrFind(transport, request, options);
      if ('user' in answer) return { user: answer.user, created: true };
      return { user: await get(answer.existing, options), created: false };
    },
    resolve: (clientUserId, options) =>
      transport.get('/v2/user/resolve/{client_user_id}', { client_user_id: clientUserId }, userSchema, options),
    getDemographics: (userId, options) =>
      transport.get('/v2/user/{user_id}/info/latest', { user_id: userId }, demographicsSchema, options),
    upsertDemographics: async (userId, request, options) => {
      const call = { method: 'PATCH', path: '/v2/user/{user_id}/info' } as const;
      const body = checkedRequest(call, demographicsRequestSchema, request);
      return transport.request({ ...call, params: { user_id: userId }, body, options, answer: demographicsSchema });
    },
    update: async (userId, request, options) => {
      const call = { method: 'PATCH', path: '/v2/user/{user_id}' } as const;
      const body = checkedRequest(call, updateUserRequestSchema, request);
      await transport.send({ ...call, params: { user_id: userId }, body, options });
    },
    delete: async (userId, options) => {
      const call = { method: 'DELETE', path: '/v2/user/{user_id}' } as const;
      await requestSuccess(transport, { ...call, params: { user_id: userId }, options });
    },
    undoDelete: (user, options) => undoDelete(transport, user, options),
  };
}

async function undoDelete(transport: Transport, user: DeletedUser, options?: CallOptions): Promise<void> {
  const call = { method: 'POST', path: '/v2/user/undo_delete' } as const;
  // A caller in plain JavaScript may give both, and the service would have to guess.
  const { userId, clientUserId } = user as { userId?: string; clientUserId?: string };
  if ((userId == null) === (clientUserId == null)) {
    throw new RequestInvalid(call, [{ field: 'user', message: 'must be named by either userId or clientUserId' }]);
  }
  const query = { user_id: userId, client_user_id: clientUserId };
  await requestSuccess(transport, { ...call, query, options });
}

async function* listUsers(transport: Transport, options: UserListOptions = {}): AsyncGenerator<User, void, undefined> {
  const limit = options.pageSize ?? 100;
  let before = new Set<string>();
  let isCounted = false;
  for (let offset = 0; ;) {
    const query = { offset, limit };
    const read = transport.get(transport.paths.users, {}, userPageSchema, options, { query });
    const page = await read.catch(noneIfPastTheEnd(() => offset > 0 && !isCounted));
    if (!page) return;
    const { users, total } = page;
    isCounted = total != null;
    const fresh = users.items.filter(({ user_id: id }) => !before.has(id));
    yield* fresh;
    // A deployment may cap the limit: the received number counts, not the requested one.
    offset += users.sent;
    // A service that ignores the offset and returns no count would be read forever.
    if (fresh.length === 0 || offset >= (total ?? Infinity)) return;
    before = new Set(users.items.map(({ user_id: id }) => id));
  }
}

type CreateAnswer = { user: User } | { existing: string };

/** The conflict's body names the existing user under `detail` (docs/internals/lab-service.md) or at the top (specification). */
const conflictSchema = z.object({ user_id: z.string().min(1) });

function createOrFind(transport: Transport, request: CreateUserRequest, options?: CallOptions): Promise<CreateAnswer> {
  const call = { method: 'POST', path: '/v2/user' } as const;
  return transport.request<CreateAnswer>({
    ...call,
    body: checkedRequest(call, createUserRequestSchema, request),
    options,
    answer: userSchema.transform((user) => ({ user })),
    recover: (status, body) => {
      if (status !== 400) return undefined;
      const detail = z.object({ detail: conflictSchema }).safeParse(body);
      const conflict = detail.success ? detail.data.detail : conflictSchema.safeParse(body).data;
      return conflict === undefined ? undefined : { existing: conflict.user_id };
    },
  });
}

/** A portal link is a credential: anyone who has it is logged in. It belongs in no log and in no workflow's history. */
const portalUrlSchema = z.looseObject({
  url: z.string(),
  /** Seconds; the unit is not documented and assumed here. */
  expires_in: fields.number.pipe(z.number()),
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
