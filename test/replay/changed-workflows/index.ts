import { sleep } from '@temporalio/workflow';

/** What nobody may do to workflows that are under way: begin with something else. */
export async function kitOrder(): Promise<void> {
  await sleep('1 day');
}

export async function placeKitOrder(): Promise<void> {
  await sleep('1 day');
}
