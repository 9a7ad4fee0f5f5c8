import { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import {
  connectedSource,
  disconnect,
  emailProviders,
  passwordProviders,
  providerBody,
  providerConnection,
} from './connections.js';
import type { Lab } from './lab.js';
import { inventedTeamId } from './seed.js';
import { newId, type PortalLink, type User } from './state.js';
import type { Json } from './order-body.js';
import { timestamp } from './clock.js';
import {
  ServiceProblem,
  refusal,
  unacceptable,
  valueError,
  birthDate,
  date,
  email,
  optional,
  readBody,
  readQuery,
  uuid,
  withRule,
  pathText,
  pathUuid,
} from './validation.js';

const largestPage = 500;
const defaultPage = 100;
/** Lives of portal links. The specification says minutes and weeks; the numbers are assumed. */
const launchSeconds = 15 * 60;
const communicationsSeconds = 4 * 7 * 86_400;

export function userBody(user: User) {
  const { client_user_id, fallback_time_zone: timeZoneId, fallback_birth_date: birth } = user;
  const fallback = { source_slug: 'manual', updated_at: timestamp(user.createdAt) };
  return {
    user_id: user.id,
    team_id: inventedTeamId,
    client_user_id,
    created_on: timestamp(user.createdAt),
    connected_sources: user.connections.map((connection) => connectedSource(connection)),
    fallback_time_zone: timeZoneId === null ? null : { id: timeZoneId, ...fallback },
    fallback_birth_date: birth === null ? null : { value: birth, ...fallback },
    ingestion_start: user.ingestion_start,
    ingestion_end: user.ingestion_end,
  };
}

/** `GET /v2/user/`. A limit or offset out of bounds makes the service fail with plain text. */
function listUsers(lab: Lab, query: { limit?: unknown; offset?: unknown }): Json {
  const limit = pageNumber(query.limit, defaultPage, 1, largestPage);
  const offset = pageNumber(query.offset, 0, 0, Number.MAX_SAFE_INTEGER);
  const all = [...lab.state.users.values()];
  const users = all.slice(offset, offset + limit).map((user) => userBody(user));
  return { users, total: all.length, offset, limit };
}

function pageNumber(raw: unknown, otherwise: number, min: number, max: number): number {
  if (raw === undefined) return otherwise;
  const value = typeof raw === 'string' && raw !== '' ? Number(raw) : Number.NaN;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new ServiceProblem(500, 'Internal Server Error');
}

const timeZone = withRule(z.string(), (value) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions();
    return undefined;
  } catch {
    return valueError('unknown IANA time zone');
  }
});

const userRequest = z.object({
  client_user_id: z.string(),
  fallback_time_zone: optional(timeZone),
  fallback_birth_date: optional(date),
  ingestion_start: optional(date),
  ingestion_end: optional(date),
});

/** `POST /v2/user`. A client_user_id that is taken answers 400 with the existing user's id. */
function createUser(lab: Lab, body: unknown): User {
  const request = readBody(userRequest, body);
  const taken = lab.state.usersByClientId.get(request.client_user_id);
  if (taken !== undefined) throw conflict(taken);
  const user: User = { ...request, id: newId(), createdAt: lab.clock.now(), info: null, connections: [] };
  lab.state.addUser(user);
  return user;
}

function conflict(existing: User): ServiceProblem {
  return invalidRequest({
    error_message: 'Client user id already exists.',
    user_id: existing.id,
    created_on: timestamp(existing.createdAt),
  });
}

function invalidRequest(detail: Json): ServiceProblem {
  return new ServiceProblem(400, { detail: { error_type: 'INVALID_REQUEST', ...detail } });
}

/** The words of the 404 for an unknown user, and for one whose deletion is scheduled. */
interface NoUser {
  unknown: string;
  scheduled: string;
}

const noUserToRead: NoUser = { unknown: 'Not found', scheduled: 'You have scheduled this user for deletion.' };

export function requireUser(lab: Lab, id: string, { unknown, scheduled } = noUserToRead): User {
  const user = lab.state.users.get(id);
  if (user !== undefined) return user;
  throw refusal(404, lab.state.deletedUsers.has(id) ? scheduled : unknown);
}

const userChange = userRequest.extend({ client_user_id: optional(z.string()) });

/** `PATCH /v2/user/{id}`: fields that are left out stay. */
function patchUser(lab: Lab, user: User, body: unknown): void {
  const change = Object.entries(readBody(userChange, body)).filter(([, value]) => value !== null);
  if (change.length === 0) throw refusal(400, 'Nothing to patch');
  const { client_user_id: clientUserId, ...patch } = {
    client_user_id: user.client_user_id,
    ...Object.fromEntries(change),
  };
  const owner = lab.state.usersByClientId.get(clientUserId);
  if (owner !== undefined && owner !== user) throw refusal(409, 'Client user id already exists');
  lab.state.renameUser(user, clientUserId);
  Object.assign(user, patch);
}

/** `PATCH /v2/user/{id}/info`: replaces the demographics as a whole. */
const userInfo = z.object({
  first_name: z.string(),
  last_name: z.string(),
  email,
  phone_number: z.string(),
  gender: z.string(),
  dob: birthDate,
  address: z.object({
    first_line: z.string(),
    second_line: optional(z.string()),
    country: z.string(),
    zip: z.string(),
    city: z.string(),
    state: z.string(),
    access_notes: optional(z.string()),
  }),
});

export type UserInfo = z.output<typeof userInfo>;

const portalRequest = z.object({ context: z.enum(['launch', 'communications']), order_id: optional(uuid) });

/** `POST /v2/user/{id}/create_portal_url`. The wording of the refusals is not documented. */
function createPortalLink(lab: Lab, user: User, body: unknown): PortalLink {
  const { context, order_id: orderId } = readBody(portalRequest, body);
  if (user.info === null) {
    throw unacceptable(['path', 'user_id'], 'the user has no demographics', user.id);
  }
  if (orderId !== null && lab.state.orders.get(orderId)?.userId !== user.id) {
    throw refusal(404, "This order doesn't exist");
  }
  const token = newId().replaceAll('-', '');
  const deep = orderId === null ? '' : `/orders/${orderId}`;
  const link = {
    // The long-lived one is shortened: what it leads to does not show in it.
    url:
      context === 'launch'
        ? `https://portal.example.com/launch/${token}${deep}`
        : `https://p.example.com/${token.slice(0, 12)}`,
    context,
    userId: user.id,
    orderId,
    expiresInSeconds: context === 'launch' ? launchSeconds : communicationsSeconds,
  };
  lab.state.portalLinks = [...lab.state.portalLinks, link];
  return link;
}

const restorationQuery = z.object({ user_id: optional(uuid), client_user_id: optional(z.string()) });

/** Specification, "User deletion"; compressed like every delay. */
const gracePeriod = '7d';

const unknownToChange = 'The user does not or no longer exists in this team';
const scheduledToChange = 'The user has been scheduled for deletion as per your previous request';

/** The user to change or delete; the service says in a sentence of its own why there is none. */
export function requireChangeable(lab: Lab, id: string): User {
  return requireUser(lab, id, { unknown: unknownToChange, scheduled: scheduledToChange });
}

/**
 * `DELETE /v2/user/{id}`: the connections are gone at once, the user's data after the grace. Whether the service erases
 * orders is not documented; they stay here.
 */
export function deleteUser(lab: Lab, id: string): void {
  const user = requireChangeable(lab, id);
  user.connections = [];
  const stopErasing = lab.clock.schedule(gracePeriod, () => lab.state.eraseUser(user));
  lab.state.setAside(user, stopErasing);
}

/**
 * `POST /v2/user/undo_delete`. None of its refusals is documented: assumed are 422 for a query that names no user or
 * two, 409 as for a PATCH when a new user has taken the client_user_id, and 404 for a user who is not
 * (or no longer) scheduled.
 */
export function undoDeletion(lab: Lab, query: unknown): void {
  const { user_id: id, client_user_id: clientUserId } = readQuery(restorationQuery, query);
  if ((id === null) === (clientUserId === null)) {
    throw unacceptable(['query'], 'give either user_id or client_user_id', query);
  }
  const deleted = lab.state.deletedUser((user) =>
    id === null ? user.client_user_id === clientUserId : user.id === id,
  );
  if (deleted === undefined) throw refusal(404, unknownToChange);
  if (lab.state.usersByClientId.has(deleted.user.client_user_id)) throw refusal(409, 'Client user id already exists');
  deleted.stopErasing();
  lab.state.restore(deleted.user);
}

/** Invented persons: nobody of that name, number or address exists. */

export const inventedPatient = {
  first_name: 'Testperson',
  last_name: 'Invented',
  dob: '1990-01-01',
  gender: 'female',
  phone_number: '+12025550123',
  email: 'testperson@example.com',
} as const;

export const inventedAddress = {
  receiver_name: 'Testperson Invented',
  first_line: '1 Invented Street',
  second_line: null,
  city: 'Springfield',
  state: 'IL',
  zip: '62701',
  country: 'United States',
  phone_number: '+12025550123',
} as const;

const { first_line, second_line, city, state, zip } = inventedAddress;
const inventedInfo: UserInfo = {
  ...inventedPatient,
  address: { first_line, second_line, country: 'US', zip, city, state, access_notes: null },
};

/** A user, with demographics or without, in one go. Throws the service's 400 when the client id is taken. */
export function createInventedUser(lab: Lab, demographics: boolean, clientUserId = `invented-${newId()}`): User {
  const user = createUser(lab, { client_user_id: clientUserId });
  user.info = demographics ? inventedInfo : null;
  return user;
}

/** Users, their deletion, demographics and portal links. */
export function userRoutes(app: FastifyInstance, lab: Lab, listPaths: readonly string[]): void {
  for (const path of listPaths) {
    app.get(path, (request) => listUsers(lab, request.query as { limit?: unknown; offset?: unknown }));
  }

  // It would be the path of a user without an id.
  if (!listPaths.includes('/v2/user/')) {
    app.get('/v2/user/', () => {
      throw refusal(404, 'Not Found');
    });
  }

  app.post('/v2/user', (request) => userBody(createUser(lab, request.body)));

  app.get('/v2/user/:user_id', (request) => userBody(requireUser(lab, pathUuid(request, 'user_id'))));

  app.patch('/v2/user/:user_id', (request, reply) => {
    patchUser(lab, requireChangeable(lab, pathUuid(request, 'user_id')), request.body);
    // The schema names no answer.
    return reply.code(204).send();
  });

  app.delete('/v2/user/:user_id', (request) => {
    deleteUser(lab, pathUuid(request, 'user_id'));
    return { success: true };
  });

  app.post('/v2/user/undo_delete', (request) => {
    undoDeletion(lab, request.query);
    return { success: true };
  });

  app.get('/v2/user/resolve/:client_user_id', (request) => {
    const user = lab.state.usersByClientId.get(pathText(request, 'client_user_id'));
    if (user === undefined) throw refusal(404, 'Not found');
    return userBody(user);
  });

  app.get('/v2/user/:user_id/info/latest', (request) => {
    const { info } = requireUser(lab, pathUuid(request, 'user_id'));
    // Not documented for a user without demographics; assumed.
    if (info === null) throw refusal(404, 'Not found');
    return info;
  });

  app.patch('/v2/user/:user_id/info', (request) => {
    const user = requireChangeable(lab, pathUuid(request, 'user_id'));
    user.info = readBody(userInfo, request.body);
    return user.info;
  });

  app.post('/v2/user/:user_id/create_portal_url', (request) => {
    const user = requireUser(lab, pathUuid(request, 'user_id'));
    const { url, expiresInSeconds } = createPortalLink(lab, user, request.body);
    return { url, expires_in: expiresInSeconds };
  });
}

const providerQuery = z.object({ source_type: optional(z.string()) });

/** The invented providers, and users' connections with them. */
export function providerRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/v2/providers', (request) => {
    readQuery(providerQuery, request.query);
    return [
      ...passwordProviders.map((provider) => providerBody(provider, 'password')),
      ...emailProviders.map((provider) => providerBody(provider, 'email')),
    ];
  });

  app.get('/v2/user/providers/:user_id', (request) => {
    const { connections } = requireUser(lab, pathUuid(request, 'user_id'));
    return { providers: connections.map((connection) => providerConnection(connection)) };
  });

  // The answer where there is no connection is not documented; assumed.
  app.delete('/v2/user/:user_id/:provider', (request) => {
    const user = requireChangeable(lab, pathUuid(request, 'user_id'));
    if (!disconnect(user, pathText(request, 'provider')))
      throw refusal(404, 'The user is not connected to this provider');
    return { success: true };
  });
}
