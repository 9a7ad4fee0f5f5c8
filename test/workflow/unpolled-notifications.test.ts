import { expect, test } from 'vitest';
import { deliverNotificationsId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { UserLink } from './user-link.js';
import { setStage } from './story.js';

/* The queues are split, and no process polls that of notifications. */

const stage = setStage();

test('a link that has ended does not hold up the next one, and its notification is handed over', async () => {
  await stage.stopWorker();
  await stage.startWorker({ polls: ['main', 'background', 'files'] });
  const link = await UserLink.start(stage);
  await link.handle.cancel();
  await stage.skip('61 seconds');
  const { userId, provider } = link.handle;
  const next = await stage.product.links.start({ userId, provider });
  expect(await next.state()).toMatchObject({ phase: 'awaiting_password' });
  const delivery = stage.temporal.workflow.getHandle(deliverNotificationsId(link.workflowId));
  await eventually(async () => expect((await delivery.describe()).status.name).toBe('RUNNING'));
});
