import { condition, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { placingStopId, isActor, type OfActor } from '../protocol/ids.js';
import {
  placingStopFaults,
  resumeSignal,
  stopPlacingName,
  type StopPlacingInput,
  type StopPlacingResult,
} from '../protocol/placing-stop.js';
import { actorOf, refuseFields } from './entity/commands.js';
import { continueInNewRun, isNewRunSuggested } from './entity/loop.js';
import { byActor, moment, plain } from './entity/operators.js';
import { day, iso } from './entity/spans.js';
import { carriedOn, firstVersion } from './entity/versions.js';

/** Stops placing as long as it runs: workers ask Temporal for it before they create anything. */
export async function stopPlacing(input: StopPlacingInput): Promise<StopPlacingResult> {
  const run: { resumed?: OfActor } = {};
  const resume = (given?: OfActor): void => void (run.resumed ??= isActor(given?.by) ? { by: given.by } : {});
  setHandler(resumeSignal, resume, { description: 'Ends the stop: what waits is placed.' });
  const { reason, ...stopped } = checked(input);
  const begun: CarriedStop = { version: firstVersion, since: workflowInfo().startTime.toISOString() };
  const carried = carriedOn<CarriedStop>('state of the stop', input.carried ?? begun);
  const { since } = carried;
  setCurrentDetails(`### Placing is stopped\n\nSince ${moment(since)} UTC${byActor(stopped.by)}: ${plain(reason)}`);
  while (!run.resumed) {
    await condition(() => run.resumed !== undefined, day, { summary: 'until there is a later release' });
    // Nobody takes the signal of a run that stays on a release without workers.
    if (!run.resumed && isNewRunSuggested())
      await continueInNewRun({ reason, ...stopped, carried }, stopPlacingName, { reason, ...stopped, since });
  }
  const until = iso(Date.now());
  setCurrentDetails(
    `### Placing goes on\n\nIt was stopped from ${moment(since)}${byActor(stopped.by)} to ${moment(until)} UTC${byActor(run.resumed.by)}: ${plain(reason)}`,
  );
  return { reason, since, until, ...actorOf(stopped) };
}

interface CarriedStop {
  version: number;
  /** ISO 8601 in UTC. */
  since: string;
}

/** No compiler checks the input of a backend in another language. Under another ID it would stop nothing. A replay has a task queue of its own. */
function checked(given: StopPlacingInput): Omit<StopPlacingInput, 'carried'> {
  const { carried: _carried, ...input }: StopPlacingInput = given ?? {};
  const isStop = workflowInfo().workflowId.startsWith(placingStopId(''));
  const faults = [
    ...placingStopFaults(input),
    ...(isStop ? [] : [{ field: 'workflowId', message: `must be ${placingStopId('<task queue>')}` }]),
  ];
  if (faults.length > 0) throw refuseFields(faults);
  return input;
}
