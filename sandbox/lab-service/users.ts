import { connectedSource } from './connections.js';
import type { Lab } from './lab.js';
import { ServiceProblem, refusal, unacceptable } from './problems.js';
import { TEAM_ID } from './seed.js';
import type { Settings } from './settings.js';
import { newId, type PortalLink, type User, type UserInfo } from './state.js';
import type { Json } from './order-body.js';
import { timestamp } from './timestamps.js';
import { Fields, birthDate, date, email, oneOf, uuid, type StringRule } from './validation.js';

const LARGEST_PAGE = 500;
const DEFAULT_PAGE = 100;
/** Lives of portal links. The specification says minutes and weeks; the numbers are assumed. */
const LAUNCH_SECONDS = 15 * 60;
const COMMUNICATIONS_SECONDS = 4 * 7 * 86_400;

export function userBody(user: User, settings: Settings): Json {
  const at = (time: number): string => timestamp(time, settings.naiveTimestamps);
  const fallback = { source_slug: 'manual', updated_at: at(user.createdAt) };
  return {
    user_id: user.id,
    team_id: TEAM_ID,
    client_user_id: user.clientUserId,
    created_on: at(user.createdAt),
    connected_sources: user.connections.map((connection) => connectedSource(connection, settings)),
    fallback_time_zone: user.fallbackTimeZone === null ? null : { id: user.fallbackTimeZone, ...fallback },
    fallback_birth_date: user.fallbackBirthDate === null ? null : { value: user.fallbackBirthDate, ...fallback },
    ingestion_start: user.ingestionStart,
    ingestion_end: user.ingestionEnd,
  };
}

/** `GET /v2/user/`. A limit or offset out of bounds makes the service fail with plain text. */
export function listUsers(lab: Lab, query: { limit?: unknown; offset?: unknown }): Json {
  const limit = pageNumber(query.limit, DEFAULT_PAGE, 1, LARGEST_PAGE);
  const offset = pageNumber(query.offset, 0, 0, Number.MAX_SAFE_INTEGER);
  const all = [...lab.state.users.values()];
  const users = all.slice(offset, offset + limit).map((user) => userBody(user, lab.settings.current));
  return { users, total: all.length, offset, limit };
}

function pageNumber(raw: unknown, otherwise: number, min: number, max: number): number {
  if (raw === undefined) return otherwise;
  const value = typeof raw === 'string' && raw !== '' ? Number(raw) : Number.NaN;
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new ServiceProblem(500, 'Internal Server Error');
}

const timeZone: StringRule = (value) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions();
    return undefined;
  } catch {
    return { type: 'value_error', msg: 'Value error, unknown IANA time zone', ctx: { error: {} } };
  }
};

/** `POST /v2/user`. A client_user_id that is taken answers 400 with the existing user's id. */
export function createUser(lab: Lab, body: unknown): User {
  const fields = Fields.ofBody(body);
  const user: User = {
    id: newId(),
    clientUserId: fields.string('client_user_id'),
    createdAt: lab.clock.now(),
    fallbackTimeZone: fields.optionalString('fallback_time_zone', timeZone),
    fallbackBirthDate: fields.optionalString('fallback_birth_date', date),
    ingestionStart: fields.optionalString('ingestion_start', date),
    ingestionEnd: fields.optionalString('ingestion_end', date),
    info: null,
    connections: [],
  };
  fields.finish();
  const taken = lab.state.usersByClientId.get(user.clientUserId);
  if (taken !== undefined) throw conflict(taken, lab.settings.current);
  const { maxUsers } = lab.settings.current;
  if (maxUsers !== null && lab.state.users.size >= maxUsers) {
    throw invalidRequest({ error_message: `You have reached the maximum of ${maxUsers} Sandbox users` });
  }
  lab.state.addUser(user);
  return user;
}

function conflict(existing: User, settings: Settings): ServiceProblem {
  return invalidRequest({
    error_message: 'Client user id already exists.',
    user_id: existing.id,
    created_on: timestamp(existing.createdAt, settings.naiveTimestamps),
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

const NO_USER_TO_READ: NoUser = { unknown: 'Not found', scheduled: 'You have scheduled this user for deletion.' };

export function requireUser(lab: Lab, id: string, { unknown, scheduled } = NO_USER_TO_READ): User {
  const user = lab.state.users.get(id);
  if (user !== undefined) return user;
  throw refusal(404, lab.state.deletedUsers.has(id) ? scheduled : unknown);
}

/** `PATCH /v2/user/{id}`: fields that are left out stay. */
export function patchUser(lab: Lab, user: User, body: unknown): void {
  const fields = Fields.ofBody(body);
  const names = ['client_user_id', 'fallback_time_zone', 'fallback_birth_date', 'ingestion_start', 'ingestion_end'];
  if (!names.some((name) => fields.has(name))) throw refusal(400, 'Nothing to patch');
  const clientUserId = fields.optionalString('client_user_id') ?? user.clientUserId;
  const patch = {
    fallbackTimeZone: fields.optionalString('fallback_time_zone', timeZone) ?? user.fallbackTimeZone,
    fallbackBirthDate: fields.optionalString('fallback_birth_date', date) ?? user.fallbackBirthDate,
    ingestionStart: fields.optionalString('ingestion_start', date) ?? user.ingestionStart,
    ingestionEnd: fields.optionalString('ingestion_end', date) ?? user.ingestionEnd,
  };
  fields.finish();
  const owner = lab.state.usersByClientId.get(clientUserId);
  if (owner !== undefined && owner !== user) throw refusal(409, 'Client user id already exists');
  lab.state.renameUser(user, clientUserId);
  Object.assign(user, patch);
}

/** `PATCH /v2/user/{id}/info`: replaces the demographics as a whole. */
export function userInfoRequest(body: unknown, now: number): UserInfo {
  const fields = Fields.ofBody(body);
  const address = fields.object('address');
  const info = {
    first_name: fields.string('first_name'),
    last_name: fields.string('last_name'),
    email: fields.string('email', email),
    phone_number: fields.string('phone_number'),
    gender: fields.string('gender'),
    dob: fields.string('dob', birthDate(now)).slice(0, 10),
    address: {
      first_line: address.string('first_line'),
      second_line: address.optionalString('second_line'),
      country: address.string('country'),
      zip: address.string('zip'),
      city: address.string('city'),
      state: address.string('state'),
      access_notes: address.optionalString('access_notes'),
    },
  };
  fields.finish();
  return info;
}

/** `POST /v2/user/{id}/create_portal_url`. The wording of the refusals is not documented. */
export function createPortalLink(lab: Lab, user: User, body: unknown): PortalLink {
  const fields = Fields.ofBody(body);
  const context = fields.string('context', oneOf('launch', 'communications'));
  const orderId = fields.optionalString('order_id', uuid);
  fields.finish();
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
    createdAt: lab.clock.now(),
    expiresInSeconds: context === 'launch' ? LAUNCH_SECONDS : COMMUNICATIONS_SECONDS,
  };
  lab.state.portalLinks.push(link);
  return link;
}
