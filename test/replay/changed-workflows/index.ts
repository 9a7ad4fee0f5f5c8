import { sleep } from '@temporalio/workflow';

/** A forbidden change to workflows that are under way: beginning with something else. */
export async function kitOrder(): Promise<void> {
  await sleep('1 day');
}

export async function placeKitOrder(): Promise<void> {
  await sleep('1 day');
}
