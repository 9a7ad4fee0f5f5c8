import { condition, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { placingStopId } from '../protocol/ids.js';
import {
  placingStopFaults,
  resumeSignal,
  type StopPlacingInput,
  type StopPlacingResult,
} from '../protocol/placing-stop.js';
import { refuseFields } from './entity/commands.js';
import { moment, plain } from './entity/operators.js';
import { iso } from './entity/spans.js';

/** Stops placing as long as it runs: workers ask Temporal for it before they create anything. */
export async function stopPlacing(input: StopPlacingInput): Promise<StopPlacingResult> {
  let isResumed = false;
  setHandler(resumeSignal, () => void (isResumed = true), { description: 'Ends the stop: what waits is placed.' });
  const { reason } = checked(input);
  const since = workflowInfo().startTime.toISOString();
  setCurrentDetails(`### Placing is stopped\n\nSince ${moment(since)} UTC: ${plain(reason)}`);
  await condition(() => isResumed);
  const until = iso(Date.now());
  setCurrentDetails(
    `### Placing goes on\n\nIt was stopped from ${moment(since)} to ${moment(until)} UTC: ${plain(reason)}`,
  );
  return { reason, since, until };
}

/** No compiler checks the input of a backend in another language. Under another ID it would stop nothing. A replay has a task queue of its own. */
function checked(input: StopPlacingInput): StopPlacingInput {
  const isStop = workflowInfo().workflowId.startsWith(placingStopId(''));
  const faults = [
    ...placingStopFaults(input),
    ...(isStop ? [] : [{ field: 'workflowId', message: `must be ${placingStopId('<task queue>')}` }]),
  ];
  if (faults.length > 0) throw refuseFields(faults);
  return input;
}
