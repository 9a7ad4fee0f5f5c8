import {
  allHandlersFinished,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { Alarm } from '../alarm.js';
import { carryOut } from './command-execution.js';
import { openCase, outcomeOf } from './case.js';
import { CommandQueue } from '../command-queue.js';
import { isTold, keepDelivering, untilTold } from '../outbox.js';
import { meant, validate, validateDecision, validateRegistration } from './command-validation.js';
import { meetDeadlines } from './due-deadlines.js';
import { nextMoment } from './deadlines.js';
import { forward } from './forwarding.js';
import { join, takeOver } from './hand-over.js';
import { hear } from './intake.js';
import { identify } from './identify.js';
import {
  cancelUpdate,
  kitOrderName,
  orderChangedSignal,
  orderPlacedSignal,
  registerUpdate,
  replaceKitUpdate,
  replacementPlacedSignal,
  resolveProblemUpdate,
  stateQuery,
  type KitOrderInput,
  type KitOrderResult,
  type OrderState,
  type CancelCommand,
  type RegisterCommand,
  type ReplaceKitCommand,
  type ResolveProblemCommand,
} from './messages.js';
import { askAboutUndelivered, orderTelling } from './telling.js';
import { readUnreadOrders } from './reading.js';
import { takeRemedy } from './remedies.js';
import { announceEnd, review } from './review.js';
import type { Run } from './run.js';
import { show } from './visibility.js';
import { resultOf, stateOf } from './view.js';

/**
 * Follows one chain of orders (the first, its redraws, its replacements) to the end. Started by signal-with-start: by
 * the hand-over from `placeKitOrder`, or by the first webhook of an order that nobody placed through us.
 */
export async function kitOrder(input: KitOrderInput): Promise<KitOrderResult> {
  const run: Run = {
    kase: openCase(input.rootOrderId, input.carried),
    commands: new CommandQueue(),
    alarm: new Alarm(),
    heard: false,
  };
  listen(run);
  await identify(run);
  if (run.forwardsTo === undefined) await follow(run);
  return run.forwardsTo === undefined ? resultOf(run.kase) : forward(run, run.forwardsTo);
}

/** Follows the chain until its end is told, or until the order turns out to belong to another chain. */
async function follow(run: Run): Promise<void> {
  const delivery = new CancellationScope();
  const delivering = delivery.run(() => keepDelivering(run.kase, orderTelling(run)));
  do {
    await followToTheEnd(run);
  } while (run.forwardsTo === undefined && !(await isSettled(run)));
  run.alarm.disarm();
  delivery.cancel();
  await delivering;
}

/** Works until there is an outcome, one thing at a time. */
async function followToTheEnd(run: Run): Promise<void> {
  const { kase, commands, alarm } = run;
  for (;;) {
    run.heard = false;
    await readUnreadOrders(run);
    await meetDeadlines(run);
    await takeRemedy(run);
    await commands.carryOutNext((command) => carryOut(run, command));
    review(run);
    if (run.forwardsTo !== undefined || outcomeOf(kase) !== undefined) return;
    delete run.tellUntil;
    if (workflowInfo().continueAsNewSuggested) await continueAnew(run);
    alarm.set(nextMoment(kase));
    await condition(() => run.heard || alarm.rang || !commands.isEmpty);
  }
}

/**
 * An end holds once everybody was told and answered, and nothing new came in meanwhile: a correction may still reopen
 * the case.
 */
async function isSettled(run: Run): Promise<boolean> {
  run.alarm.disarm();
  announceEnd(run);
  run.heard = false;
  await tellTheEnd(run);
  await settled(run);
  return run.commands.isEmpty && !run.heard;
}

/** A receiver that stays silent does not hold an end for ever: then a person is asked to look. */
async function tellTheEnd(run: Run): Promise<void> {
  const { kase, commands } = run;
  if (isTold(kase)) return;
  run.tellUntil ??= Date.now() + kase.policy.notificationDeadline;
  if (await untilTold(kase, run.tellUntil - Date.now(), () => run.heard || !commands.isEmpty)) return;
  askAboutUndelivered(kase);
  show(run);
}

/** Every command was answered; or another one came, whose handler waits for the main loop. */
async function settled({ commands }: Run): Promise<void> {
  await condition(() => allHandlersFinished() || !commands.isEmpty);
}

/** Starts over with an empty history: what was asked for is answered first, and everything known goes along. */
async function continueAnew(run: Run): Promise<void> {
  await settled(run);
  if (!run.commands.isEmpty) return;
  const { rootOrderId } = run.kase;
  await makeContinueAsNewFunc<typeof kitOrder>({ workflowType: kitOrderName })({ rootOrderId, carried: run.kase });
}

function listen(run: Run): void {
  const { kase } = run;
  setHandler(orderChangedSignal, (snapshot) => hear(run, snapshot), {
    description: 'A webhook reported an order of this chain.',
  });
  setHandler(orderPlacedSignal, (placed) => takeOver(run, placed), {
    description: 'placeKitOrder hands over the order that it placed, with its reference and policy.',
  });
  setHandler(replacementPlacedSignal, (placed) => join(run, placed), {
    description: 'This order is a replacement in the chain of another order, whose workflow follows it.',
  });
  setHandler(stateQuery, () => currentState(run), {
    description: 'Where the order stands, what it waits for, its chain and timeline.',
  });
  setHandler(registerUpdate, (command) => run.commands.ask({ ...command, ...meant(kase, command), kind: 'register' }), {
    description: 'Registers the kit with its patient.',
    validator: (command: RegisterCommand) => validateRegistration(run, command),
  });
  setHandler(cancelUpdate, (command) => run.commands.ask({ kind: 'cancel', ...meant(kase, command) }), {
    description: 'Cancels the order, which the service allows until it ships.',
    validator: (command: CancelCommand) => validate(run, command),
  });
  setHandler(
    resolveProblemUpdate,
    (command) => run.commands.ask({ ...command, ...meant(kase, command), kind: 'resolveProblem' }),
    {
      description: 'Answers a problem: wait, replace or abandon.',
      validator: (command: ResolveProblemCommand) => validateDecision(run, command),
    },
  );
  setHandler(replaceKitUpdate, (command) => run.commands.ask({ kind: 'replaceKit', ...meant(kase, command) }), {
    description: 'Orders a new kit for one that is lost, failed or stuck on its way.',
    validator: (command: ReplaceKitCommand) => validate(run, command),
  });
}

function currentState({ kase, forwardsTo }: Run): OrderState {
  return { ...stateOf(kase), ...(forwardsTo !== undefined && { forwardsTo }) };
}
