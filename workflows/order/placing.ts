import {
  ApplicationFailure,
  CancellationScope,
  ContinueAsNew,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { CreateKitOrder, PlacedOrder } from '../../activities/order/placing.js';
import { canonicalId, ofCanonicalUser, isAddressable, placeKitOrderId, type OfActor } from '../../protocol/ids.js';
import * as messages from '../../protocol/order/placing-messages.js';
import type { ResolvedOrderPolicy } from '../../protocol/order/policy.js';
import { labPhaseKey, labReferenceKey, ofUser, placingPhase } from '../../protocol/search-attributes.js';
import { activities, creation, orderSearch } from '../activity-options.js';
import { adoptOrder } from './adopting.js';
import { setAttention } from '../entity/attention.js';
import {
  answeringCancellation,
  cancelAttempts,
  openAttempts,
  validateCancellation,
  type Attempting,
} from '../entity/attempts.js';
import {
  actorOf,
  askedPause,
  isAccessRefused,
  isFinalRefusal,
  refusalOf,
  refuse,
  requireReference,
  placingStopOf,
} from '../entity/commands.js';
import { continueInNewRun, isNewRunSuggested } from '../entity/loop.js';
import { openPolicy, settlePolicy, isUnsettled, type Governed } from '../entity/policy.js';
import { setAbsentSearchAttributes, untilResumed } from '../entity/operators.js';
import { hour, minute } from '../entity/spans.js';
import { afterMessages } from '../entity/steps.js';

/** A run of the placing, which a command can end. */
interface PlacingRun extends Governed<ResolvedOrderPolicy>, Attempting<messages.PlacingEnd> {
  input: messages.PlaceKitOrderInput;
  /** The last attempt's report; without a report, a creation may have been sent. */
  progress?: messages.CreationProgress;
  /** The service refused the last search for earlier orders in a sentence. */
  isSearchRefused?: boolean;
  attention: messages.PlacingState['attention'];
  waitsFor: string;
  /** Who cancelled it first. */
  cancelledBy?: string;
}

/**
 * Places exactly one order for a reference, however often it is started and whatever fails on the way, and hands it
 * over to the workflow that follows it. It fails when the input or the order is refused, when it is cancelled before, and when it is not
 * certain whether an order is the one that was sent (`AmbiguousOrder`).
 */
export async function placeKitOrder(
  input: (messages.PlaceKitOrderInput | messages.AdoptOrderInput) & OfActor,
): Promise<messages.PlaceKitOrderResult> {
  if (input?.kind === 'existing') return adoptOrder(input);
  const run = begin(input);
  listen(run);
  showWhose(input);
  return answeringCancellation(
    run,
    () => placeAndHandOver(run),
    (failure) => endOf(run, failure),
  );
}

async function placeAndHandOver(run: PlacingRun): Promise<messages.PlaceKitOrderResult> {
  setCurrentDetails('Places the order at the lab service, once.');
  const { snapshot, adopted, handedOver } = await place(run);
  const { orderId } = snapshot;
  // The activity that created it may not have known of the cancellation.
  if (handedOver !== true || run.wasCancelled) await handOver(run, { snapshot, adopted });
  setCurrentDetails(`Placed order \`${orderId}\`. Workflow \`kit-order/${orderId}\` follows it from here.`);
  run.end = { outcome: 'placed', orderId };
  return { orderId, adopted };
}

async function handOver({ input, policy, wasCancelled, cancelledBy }: PlacingRun, order: PlacedOrder): Promise<void> {
  const placed = {
    ...messages.handOverOf(input.order, { ...order, reference: input.reference, policy }),
    // Its caller may have stopped waiting, and would not cancel the order then.
    ...(wasCancelled && {
      cancelRequested: true,
      ...(cancelledBy !== undefined && { cancelRequestedBy: cancelledBy }),
    }),
  };
  const summary = `hand over ${order.snapshot.orderId}`;
  await CancellationScope.nonCancellable(() => activities.handOver.executeWithOptions({ summary }, [placed]));
}

function listen(run: PlacingRun): void {
  setHandler(messages.stateQuery, () => stateOf(run), { description: 'Where the placing stands.' });
  setHandler(
    messages.creationProgressSignal,
    (progress) => {
      // A report of an attempt that was given up may come after that of a later one.
      if (run.progress !== 'sending') run.progress = progress;
    },
    { description: 'The worker reports if an order may have been created.' },
  );
  const cancel = async (given: OfActor): Promise<messages.PlacingEnd> => {
    const { by } = actorOf(given);
    if (!run.wasCancelled && by !== undefined) run.cancelledBy = by;
    run.waitsFor = 'the service to show whether an order was created before the cancellation';
    return cancelAttempts(run);
  };
  setHandler(messages.cancelUpdate, cancel, {
    description: 'Ends the placing before there is an order. If there is one already, answers with its id.',
    validator: (given: OfActor) => validateCancellation(run, given),
  });
}

function stateOf({ input, waitsFor, attention, end, cancelledBy }: PlacingRun): messages.PlacingState {
  return {
    phase: placingPhase,
    reference: input.reference,
    userId: canonicalId(input.order.user_id),
    labTestIds: messages.labTestIdsOf(input.order),
    waiting: { for: waitsFor },
    attention,
    ...(cancelledBy !== undefined && { cancelledBy }),
    ...(end !== undefined &&
      'outcome' in end &&
      (end.outcome === 'placed' ? { orderId: end.orderId } : { outcome: end.outcome })),
  };
}

/** A backend may set no search attributes at the start: lists and deletions find the placing by them. */
function showWhose({ reference, order }: messages.PlaceKitOrderInput): void {
  setAbsentSearchAttributes([
    { key: labReferenceKey, value: reference },
    { key: labPhaseKey, value: placingPhase },
    // Search attributes are never encrypted: what is not an id may be personal.
    ...ofUser(order.user_id),
  ]);
}

/** The answer to a cancellation when the run fails. If it fails with anything but the cancellation, it had failed before that. */
function endOf({ input }: PlacingRun, failure: unknown): messages.PlacingEnd | ApplicationFailure {
  if (failure instanceof ApplicationFailure && failure.type !== 'PlacingCancelled') return failure;
  return { outcome: 'cancelled', reference: input.reference };
}

const untilTaken = 'the lab service to accept the order';

/** No compiler checks the input of a backend in another language. */
function begin(input: messages.PlaceKitOrderInput): PlacingRun {
  const { reference, kind, order, policy }: Partial<messages.PlaceKitOrderInput> = input ?? {};
  requireReference(reference, placeKitOrderId);
  if (kind === undefined || !messages.kitKinds.includes(kind)) {
    throw refuse('InvalidCommand', `kind must be one of ${messages.kitKinds.join(', ')}, existing`);
  }
  if (typeof order?.user_id !== 'string') throw refuse('InvalidCommand', 'order must be an object with a user_id');
  return {
    input,
    ...openPolicy('order', policy),
    ...openAttempts(),
    attention: [],
    waitsFor: untilTaken,
  };
}

/** How long an outage may last before a person is asked to look; about a refused key or a stop they are asked at once. Placing goes on. */
const delayWorthAttention = hour;

async function place(run: PlacingRun): Promise<PlacedOrder> {
  try {
    return checked(await run.attempts.run(() => create(run)));
  } catch (error) {
    // A creation may be under way at the service, whether the update or an operator cancels.
    const isCancelled = run.wasCancelled || run.attempts.consideredCancelled;
    if (!isCancelled || isFinalRefusal(error) || error instanceof ContinueAsNew) throw error;
    const found = await CancellationScope.nonCancellable(() => orderOfCancelledAttempt(run));
    if (found) return checked(found);
    if (run.wasCancelled) throw refuse('PlacingCancelled', 'The placing was cancelled before there was an order');
    throw error;
  }
}

function checked(placed: PlacedOrder): PlacedOrder {
  if (isAddressable(placed.snapshot.orderId)) return placed;
  throw refuse('AnswerUnreadable', 'The service gave the order an id that cannot be part of a workflow ID');
}

async function create(run: PlacingRun): Promise<PlacedOrder> {
  await settlePolicy(run, 'order');
  const { policy, input } = run;
  const options = { ...creation(policy, delayWorthAttention), summary: `order ${input.reference}` };
  const isContinued = workflowInfo().continuedFromExecutionRunId !== undefined;
  for (let triedBefore = isContinued; ; triedBefore = run.progress !== 'nothing_sent') {
    // The first attempt that may send something does not report it.
    if (!triedBefore) delete run.progress;
    try {
      const placed = await activities.createKitOrder.executeWithOptions(options, [requestOf(run, triedBefore)]);
      setAttention(run);
      return placed;
    } catch (error) {
      await waitIfDelayed(run, error);
      // A cancellation that came with the end of the pause is answered by the run that accepted it.
      await afterMessages(() => true);
      if (isNewRunSuggested()) await continueInNewRun({ ...input, policy } satisfies messages.PlaceKitOrderInput);
    }
  }
}

function requestOf({ input, policy }: PlacingRun, triedBefore: boolean): CreateKitOrder {
  const { creationTimeout, creationSettling } = policy;
  const since = workflowInfo().startTime.toISOString();
  return {
    request: { kind: input.kind, order: ofCanonicalUser(input.order) } as messages.KitRequest,
    reference: input.reference,
    since,
    triedBefore,
    creationTimeout,
    creationSettling,
    policy,
  };
}

/** The order that a cancelled attempt has created, if it has. */
async function orderOfCancelledAttempt(run: PlacingRun): Promise<PlacedOrder | null> {
  if (run.progress === 'nothing_sent' || isUnsettled(run)) return null;
  // Too little time has passed since the last round for two refusals to count.
  delete run.isSearchRefused;
  await sleep(run.policy.creationSettling, { summary: 'until a creation has settled' });
  const options = { ...orderSearch(run.policy), summary: `order ${run.input.reference}, if there is one` };
  for (;;) {
    try {
      return await activities.findKitOrder.executeWithOptions(options, [requestOf(run, true)]);
    } catch (error) {
      const refusal = answerOf(run, error);
      if (!mayPass(refusal)) throw refusal;
      await waitForNextRound(run, refusal);
    }
  }
}

/** Also after a stop was ended: a search for each order that waits is not needed more often. */
const betweenRounds = 10 * minute;

/**
 * If a later attempt may succeed, it is waited for; everything else fails the placing. A refused key is corrected, and a stop ended, by a
 * person, who must not have to place again whatever was ordered meanwhile.
 */
async function waitIfDelayed(run: PlacingRun, error: unknown): Promise<void> {
  if (run.attempts.consideredCancelled && !isFinalRefusal(error)) throw error;
  const refusal = answerOf(run, error);
  if (isFinalRefusal(error) && !mayPass(refusal)) {
    // It names the candidates; once a person has sorted them out, the order may be placed again.
    if (refusal.type === 'AmbiguousOrder') setAttention(run, 'ambiguous_order');
    throw refusal;
  }
  if (placingStopOf(refusal)?.nothingSent) run.progress = 'nothing_sent';
  await waitForNextRound(run, refusal);
}

function mayPass(refusal: ApplicationFailure): boolean {
  return isAccessRefused(refusal) || refusal.type === 'SearchRefused' || placingStopOf(refusal) !== undefined;
}

/** A search is refused for good if there can be no order that it would miss, or if the next round is refused as well. */
function answerOf(run: PlacingRun, error: unknown): ApplicationFailure {
  const refusal = refusalOf(error);
  const wasSearchRefused = run.isSearchRefused === true || run.progress === 'nothing_sent';
  run.isSearchRefused = refusal.type === 'SearchRefused';
  if (!run.isSearchRefused || !wasSearchRefused) return refusal;
  return ApplicationFailure.nonRetryable(refusal.message, 'OrderRefused', ...(refusal.details ?? []));
}

async function waitForNextRound(run: PlacingRun, refusal: ApplicationFailure): Promise<void> {
  setAttention(run, 'placing_delayed');
  run.waitsFor = waitedFor(refusal);
  setCurrentDetails(
    placingStopOf(refusal)
      ? `Waits for ${run.waitsFor}. Nothing is ordered meanwhile.`
      : `The lab service has not accepted the order yet (${refusal.type}). Placing continues.`,
  );
  const pause = Math.max(run.policy.creationSettling, betweenRounds, askedPause(refusal));
  await sleep(pause, { summary: 'before the next attempt' });
}

function waitedFor(refusal: ApplicationFailure): string {
  const stop = placingStopOf(refusal);
  if (stop) return untilResumed(stop.stopReason);
  return isAccessRefused(refusal)
    ? 'access to the lab service: a key that it accepts, for a user and an account of its team'
    : untilTaken;
}
