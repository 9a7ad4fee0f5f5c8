import { condition, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { placingStopId, isActor, type OfActor } from '../protocol/ids.js';
import {
  placingStopFaults,
  resumeSignal,
  type StopPlacingInput,
  type StopPlacingResult,
} from '../protocol/placing-stop.js';
import { actorOf, refuseFields } from './entity/commands.js';
import { byActor, moment, plain } from './entity/operators.js';
import { iso } from './entity/spans.js';

/** Stops placing as long as it runs: workers ask Temporal for it before they create anything. */
export async function stopPlacing(input: StopPlacingInput): Promise<StopPlacingResult> {
  let resumed: OfActor | undefined;
  const resume = (given?: OfActor): void => void (resumed ??= isActor(given?.by) ? { by: given.by } : {});
  setHandler(resumeSignal, resume, { description: 'Ends the stop: what waits is placed.' });
  const { reason, ...stopped } = checked(input);
  const since = workflowInfo().startTime.toISOString();
  setCurrentDetails(`### Placing is stopped\n\nSince ${moment(since)} UTC${byActor(stopped.by)}: ${plain(reason)}`);
  await condition(() => resumed !== undefined);
  const until = iso(Date.now());
  setCurrentDetails(
    `### Placing goes on\n\nIt was stopped from ${moment(since)}${byActor(stopped.by)} to ${moment(until)} UTC${byActor(resumed?.by)}: ${plain(reason)}`,
  );
  return { reason, since, until, ...actorOf(stopped) };
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
