import { errors } from '../../../client/index.js';
import { deleteUserId } from '../../../protocol/ids.js';
import { labUserIdKey } from '../../../protocol/search-attributes.js';
import { kitFor } from '../../rig/cast.js';
import { untilListed, type Story } from './story.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

export const deletions: readonly Story[] = [
  /** With running work that is cancelled, a reminder, and the end of the grace. */
  async function userDeleted(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    await stage.sandbox.connect(userId, { provider: 'invented_watch', webhook: false });
    const kit = await stage.labs.orders.place(kitFor(userId, `recorded-${userId}`));
    await kit.orderId();
    await untilListed(stage, `${labUserIdKey.name} = '${userId}' AND WorkflowType = 'kitOrder'`);
    const policy = { ...resolvePolicy('deletion', { onRunningWork: 'cancel' }), reminderBefore: 1_000, grace: 3_000 };
    const handle = await stage.labs.users.requestDeletion({ userId, policy });
    await handle.result();
    return { 'user-deleted': deleteUserId(userId) };
  },

  async function deletionUndone(stage) {
    const { user } = await stage.sandbox.createUser();
    const handle = await stage.labs.users.requestDeletion({ userId: user.user_id });
    await handle.undo();
    await handle.result();
    return { 'deletion-undone': deleteUserId(user.user_id) };
  },

  /** Its first attempts find the service down, and the caller goes away. */
  async function deletionDelayed(stage) {
    const { user } = await stage.sandbox.createUser();
    const down = { kind: 'answer', status: 503, headers: { 'retry-after': '60' } } as const;
    await stage.sandbox.addFault({ path: `/v2/user/${user.user_id}`, times: 1, action: down });
    const handle = await stage.labs.users.requestDeletion({
      userId: user.user_id,
      policy: { ...resolvePolicy('deletion'), grace: 1_000 },
    });
    await handle.result();
    return { 'deletion-delayed': deleteUserId(user.user_id) };
  },

  /** Its answer is lost, and the caller withdraws it. */
  async function deletionWithdrawn(stage) {
    const { user } = await stage.sandbox.createUser();
    const path = `/v2/user/${user.user_id}`;
    await stage.sandbox.addFault({ method: 'DELETE', path, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.labs.users.requestDeletion({ userId: user.user_id });
    await handle.undo();
    await handle.result();
    return { 'deletion-withdrawn': deleteUserId(user.user_id) };
  },

  /** Requested again after its final end. */
  async function deletionFinal(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    await (
      await stage.labs.users.requestDeletion({ userId, policy: { ...resolvePolicy('deletion'), grace: 1_000 } })
    ).result();
    await untilListed(stage, `WorkflowId = '${deleteUserId(userId)}' AND ExecutionStatus = 'Completed'`);
    await stage.labs.users.requestDeletion({ userId }).catch((error: unknown) => {
      if (!(error instanceof errors.UserUnknown)) throw error;
    });
    await (await stage.labs.users.getDeletionHandle({ userId })).result();
    return { 'deletion-final': deleteUserId(userId) };
  },
];
