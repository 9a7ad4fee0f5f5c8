import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import { Alarm } from '../alarm.js';
import { CommandQueue } from '../command-queue.js';
import { isTold, keepDelivering, untilTold } from '../outbox.js';
import { bookAppointmentId, isAppointmentAddressable } from './address.js';
import { announceEnd, raise } from './announcements.js';
import { openAppointmentCase } from './case.js';
import { carryOut } from './command-execution.js';
import { deadlinesOf } from './deadlines.js';
import { meetDeadlines, review } from './following.js';
import { listen } from './handlers.js';
import { identify } from './identify.js';
import { bookAppointmentName, type AppointmentResult, type BookAppointmentInput } from './messages.js';
import type { AppointmentRun } from './run.js';
import { appointmentTelling } from './telling.js';
import { appointmentResultOf } from './view.js';
import { show } from './visibility.js';

/**
 * Carries the appointment of one order from the choice of a slot to the visit. Started by signal-with-start: by the
 * product, or by the first webhook of an appointment that was made elsewhere.
 */
export async function bookAppointment(input: BookAppointmentInput): Promise<AppointmentResult> {
  const { orderId, carried } = check(input);
  const run: AppointmentRun = {
    kase: openAppointmentCase(orderId, carried, Date.now()),
    commands: new CommandQueue(),
    alarm: new Alarm(),
    awake: false,
    cancelled: false,
  };
  listen(run);
  watchForCancellation(run);
  // A booking on its way is not called back: what the service made of it counts, cancelled or not.
  await CancellationScope.nonCancellable(() => follow(run));
  return appointmentResultOf(run.kase);
}

/** What another language's backend sends is not checked by any compiler. */
function check(input: Partial<BookAppointmentInput> | undefined): BookAppointmentInput {
  const { orderId, carried } = input ?? {};
  if (isAppointmentAddressable(orderId) && workflowInfo().workflowId === bookAppointmentId(orderId)) {
    return { orderId, carried };
  }
  const message = 'the workflow ID must be appointment/<order id>, as bookAppointmentId makes it';
  throw ApplicationFailure.nonRetryable(message, 'InvalidCommand', { fields: [] });
}

/** Follows the appointment until its end is told. */
async function follow(run: AppointmentRun): Promise<void> {
  await identify(run.kase);
  const delivery = new CancellationScope();
  const delivering = delivery.run(() => keepDelivering(run.kase, appointmentTelling(run)));
  do {
    await followToTheEnd(run);
  } while (!(await isSettled(run)));
  delivery.cancel();
  await delivering;
}

/** Works until there is an outcome, one thing at a time. */
async function followToTheEnd(run: AppointmentRun): Promise<void> {
  const { kase, commands, alarm } = run;
  for (;;) {
    run.awake = false;
    await commands.carryOutNext((command) => carryOut(kase, command));
    if (run.cancelled) abandon(run);
    await meetDeadlines(kase);
    review(kase);
    show(kase);
    if (kase.ending !== undefined && commands.isEmpty) return;
    delete run.tellUntil;
    if (workflowInfo().continueAsNewSuggested && !run.awake) await continueAnew(run);
    // What was heard meanwhile is due at once: it needs no timer.
    if (!run.awake && commands.isEmpty) alarm.set(deadlinesOf(kase)[0]);
    await condition(() => run.awake || alarm.rang || !commands.isEmpty);
  }
}

/** At the service everything stays as it is. */
function abandon({ kase }: AppointmentRun): void {
  kase.ending ??= 'abandoned';
}

/** An end holds once everybody was told, and nothing came in meanwhile that contradicts it. */
async function isSettled(run: AppointmentRun): Promise<boolean> {
  const { kase, commands } = run;
  run.alarm.disarm();
  run.awake = false;
  announceEnd(kase, Date.now());
  await tellTheEnd(run);
  await condition(() => allHandlersFinished() || !commands.isEmpty);
  return !run.awake && commands.isEmpty && kase.ending !== undefined;
}

/** A receiver that stays silent does not hold an end for ever: then a person is asked to look. */
async function tellTheEnd(run: AppointmentRun): Promise<void> {
  const { kase, commands } = run;
  if (isTold(kase)) return;
  run.tellUntil ??= Date.now() + kase.policy.notificationDeadline;
  if (await untilTold(kase, run.tellUntil - Date.now(), () => run.awake || !commands.isEmpty)) return;
  raise(kase, 'notifications_undelivered', Date.now());
  show(kase);
}

/** Starts over with an empty history: what was asked for is answered first, and everything known goes along. */
async function continueAnew(run: AppointmentRun): Promise<void> {
  const { kase, commands } = run;
  await condition(() => allHandlersFinished() || !commands.isEmpty);
  if (!commands.isEmpty || run.awake) return;
  await makeContinueAsNewFunc<typeof bookAppointment>({ workflowType: bookAppointmentName })({
    orderId: kase.orderId,
    carried: kase,
  });
}

function watchForCancellation(run: AppointmentRun): void {
  void CancellationScope.current().cancelRequested.catch(() => {
    run.cancelled = true;
    run.awake = true;
  });
}
