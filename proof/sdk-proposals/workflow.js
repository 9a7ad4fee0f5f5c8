import { condition, defineSignal, proxyActivities, setHandler, sleep } from '@temporalio/workflow';

const { step } = proxyActivities({ startToCloseTimeout: '1 minute' });

/** The bare workflow that the proposals are measured with: signals, waits with a deadline, activities and timers. */
export async function bare(rounds) {
  let received = 0;
  setHandler(defineSignal('event'), () => {
    received += 1;
  });
  for (let round = 1; round <= rounds; round += 1) {
    await condition(() => received >= round, '7 days');
    await Promise.all([step(round), step(-round)]);
    await sleep(1);
  }
  return received;
}
