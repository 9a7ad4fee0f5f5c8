import type { Lab } from './lab.js';
import { refusal, unacceptable } from './problems.js';
import type { User } from './state.js';
import { requireUser } from './users.js';
import { Fields, uuid } from './validation.js';

/** Specification, "User deletion"; compressed like every delay. */
const GRACE = '7d';

const UNKNOWN_TO_CHANGE = 'The user does not or no longer exists in this team';
const SCHEDULED_TO_CHANGE = 'The user has been scheduled for deletion as per your previous request';

/** The user that is to be changed or deleted; the service says in a sentence of its own why there is none. */
export function requireChangeable(lab: Lab, id: string): User {
  return requireUser(lab, id, { unknown: UNKNOWN_TO_CHANGE, scheduled: SCHEDULED_TO_CHANGE });
}

/**
 * `DELETE /v2/user/{id}`: the connections are gone at once, the user's data after the grace. Whether the service erases
 * orders is not documented; they stay here.
 */
export function deleteUser(lab: Lab, id: string): void {
  const user = requireChangeable(lab, id);
  user.connections = [];
  const stopErasing = lab.clock.schedule(GRACE, () => lab.state.eraseUser(user));
  lab.state.setAside(user, { since: lab.clock.now(), stopErasing });
}

/**
 * `POST /v2/user/undo_delete`. None of its refusals is documented: assumed are 422 for a query that names no user or
 * two, 409 as for a PATCH when a new user has taken the client_user_id, and `lateUndoStatus` for a user who is not
 * (or no longer) scheduled.
 */
export function undoDeletion(lab: Lab, query: unknown): void {
  const fields = Fields.ofQuery(query);
  const id = fields.optionalString('user_id', uuid);
  const clientUserId = fields.optionalString('client_user_id');
  fields.finish();
  if ((id === null) === (clientUserId === null)) {
    throw unacceptable(['query'], 'give either user_id or client_user_id', query);
  }
  const deleted = lab.state.deletedUser((user) =>
    id === null ? user.clientUserId === clientUserId : user.id === id.toLowerCase(),
  );
  if (deleted === undefined) throw refusal(lab.settings.current.lateUndoStatus, UNKNOWN_TO_CHANGE);
  if (lab.state.usersByClientId.has(deleted.user.clientUserId)) throw refusal(409, 'Client user id already exists');
  deleted.stopErasing();
  lab.state.restore(deleted.user);
}
