import type { FastifyInstance, FastifyReply } from 'fastify';
// In your backend: '@lab-operations/client'.
import { errors, type DeletionState, type LabOperations } from '../../client/index.js';
import { form } from './forms.js';
import { html, moment, phaseLine, show } from './html.js';
import { carryOut, type Problem } from './problems.js';
import { userOf } from './session.js';

/** Deleting the account, and taking that back while the grace lasts. */
export function accountRoutes(app: FastifyInstance, lab: LabOperations): void {
  app.get('/account', (request, reply) => accountPage(lab, reply, userOf(request)));

  app.post('/account/deletion', (request, reply) => {
    const userId = userOf(request);
    const act = async () => {
      await lab.as(userId).users.requestDeletion({ userId, policy: { onRunningWork: 'cancel' } });
      return '/account';
    };
    return carryOut(reply, act, (problem) => accountPage(lab, reply, userId, problem));
  });

  app.post('/account/deletion/undo', (request, reply) => {
    const userId = userOf(request);
    const act = async () => {
      await lab.as(userId).users.restore({ userId });
      return '/account';
    };
    return carryOut(reply, act, (problem) => accountPage(lab, reply, userId, problem));
  });
}

async function accountPage(lab: LabOperations, reply: FastifyReply, userId: string, problem?: Problem) {
  const state = await deletionOf(lab, userId);
  const isUnderWay = state !== undefined && state.outcome === undefined;
  const content = isUnderWay
    ? html`${phaseLine(state.phase)}
        <p>Your devices are disconnected, and what was under way is cancelled.</p>
        ${state.graceUntil !== undefined && html`<p>You can change your mind until ${moment(state.graceUntil)}.</p>`}
        ${form('/account/deletion/undo', 'Keep my data', { problem })}`
    : html`${phaseLine(state?.phase ?? 'active')}
        <p>Deleting your data ends your connections and cancels your orders at once. It becomes final after a week.</p>
        ${form('/account/deletion', 'Delete my data', { problem })}`;
  return show(reply, 'Your account', content, { status: problem ? 422 : 200 });
}

async function deletionOf(lab: LabOperations, userId: string): Promise<DeletionState | undefined> {
  try {
    return await (await lab.users.getDeletionHandle({ userId })).state();
  } catch (error) {
    if (error instanceof errors.DeletionNotFound) return undefined;
    throw error;
  }
}
