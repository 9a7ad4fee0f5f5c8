import { randomUUID } from 'node:crypto';
import { deleteUserId, rejectedEventsId, workoutStreamId } from '../../../protocol/ids.js';
import { operatorCallName, type OperatorCallName } from '../../../protocol/operators/operator-calls.js';
import type { RejectedEventsPage } from '../../../protocol/operators/rejected-events.js';
import type { Story } from './story.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

export const healthData: readonly Story[] = [
  /** Its stream is not there at first, and another notice comes meanwhile. */
  async function workoutStream(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    const workoutId = randomUUID();
    const path = `/v2/timeseries/workouts/${workoutId}/stream`;
    await stage.sandbox.addFault({
      path,
      times: 1,
      action: { kind: 'answer', status: 404, body: { detail: 'Not found' } },
    });
    for (const _ of [1, 2]) {
      await stage.sandbox.sendHealthData(userId, { kind: 'workout_stream', workout_id: workoutId });
    }
    await stage.sandbox.settleWebhooks();
    const workflowId = workoutStreamId(workoutId);
    await stage.temporal.workflow.getHandle(workflowId).result();
    return { 'workout-stream': workflowId };
  },

  async function workoutStreamRefused(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    const workoutId = randomUUID();
    const path = `/v2/timeseries/workouts/${workoutId}/stream`;
    await stage.sandbox.addFault({ path, times: 1, action: { kind: 'answer', status: 422, body: { detail: 'No' } } });
    await stage.sandbox.sendHealthData(userId, { kind: 'workout_stream', workout_id: workoutId });
    await stage.sandbox.settleWebhooks();
    const workflowId = workoutStreamId(workoutId);
    await stage.temporal.workflow.getHandle(workflowId).result();
    return { 'workout-stream-refused': workflowId };
  },

  async function deletionErasesHealthData(stage) {
    const { user_id: userId } = (await stage.sandbox.createUser()).user;
    await stage.sandbox.sendHealthData(userId, { kind: 'summary' });
    await stage.sandbox.settleWebhooks();
    await (
      await stage.labs.users.requestDeletion({ userId, policy: { ...resolvePolicy('deletion'), grace: 1_000 } })
    ).result();
    return { 'deletion-with-health-data': deleteUserId(userId) };
  },

  /** More than one page: what nobody handles is left. */
  async function rejectedEvents(stage) {
    for (let n = 0; n < 60; n += 1) {
      const body = JSON.stringify({ event_type: 'an.invented.event' });
      await stage.store.setAside(
        { eventType: 'an.invented.event', reason: 'not_handled' },
        { id: `recorded-${n}`, body },
      );
    }
    const run = async (name: OperatorCallName, input: object): Promise<unknown> => {
      const options = {
        workflowId: rejectedEventsId(name),
        taskQueue: 'lab-operations',
        args: [{ do: name, ...input }],
      };
      return stage.temporal.workflow.execute(operatorCallName, options) as Promise<unknown>;
    };
    const { events } = (await run('listRejectedEvents', { limit: 1 })) as RejectedEventsPage;
    await run('replayRejectedEvents', {});
    await run('discardRejectedEvent', { id: events[0]?.id, reason: 'recorded' });
    return {
      'rejected-listed': rejectedEventsId('listRejectedEvents'),
      'rejected-replayed': rejectedEventsId('replayRejectedEvents'),
      'rejected-discarded': rejectedEventsId('discardRejectedEvent'),
    };
  },
];
