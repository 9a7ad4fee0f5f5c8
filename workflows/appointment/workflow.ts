import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  workflowInfo,
  log,
  setHandler,
} from '@temporalio/workflow';
import { readEarlierRun, type EarlierRun } from '../../protocol/earlier-run.js';
import {
  bookAppointmentName,
  type AppointmentResult,
  type BookAppointmentInput,
  type AppointmentCancellation,
  type AppointmentState,
  type AppointmentRequest,
  type SlotChoice,
  type SlotQuestion,
  type Slots,
  appointmentChangedSignal,
  appointmentStateQuery,
  appointmentWantedSignal,
  cancelAppointmentUpdate,
  chooseSlotUpdate,
  findSlotsUpdate,
  requestAppointmentUpdate,
  rescheduleUpdate,
  type AppointmentWanted,
} from '../../protocol/appointment/messages.js';
import { resolveAppointmentPolicy } from '../../protocol/appointment/policy.js';
import { bookAppointmentId, isAppointmentAddressable } from '../../protocol/ids.js';
import { PolicyInvalid } from '../../protocol/policy-settings.js';
import { Alarm } from '../entity/alarm.js';
import { deliveryOf } from '../entity/attention.js';
import { CommandQueue } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import { deliverBeforeEnd, keepDelivering } from '../entity/outbox.js';
import { announceEnd, clear, raise } from './announcements.js';
import { openAppointment, type Appointment, hearOf, want } from './appointment.js';
import { carryOut, validateCancellation, validateChoice, validateQuestion, validateWish } from './commands.js';
import { deadlinesOf, meetDeadlines, review } from './deadlines.js';
import { identify, readAppointmentSnapshot } from './reading.js';
import { appointmentResultOf, show, appointmentStateOf } from './view.js';

/**
 * Carries the appointment of one order from the choice of a slot to the visit. Started by signal-with-start: by the
 * product, or by the first webhook of an appointment that was made elsewhere.
 */
export async function bookAppointment(input: BookAppointmentInput): Promise<AppointmentResult> {
  const { orderId, carried } = check(input);
  const run: AppointmentRun = {
    appointment: openAppointment(orderId, carried, Date.now()),
    earlierRun: readEarlierRun(input.earlierRun),
    commands: new CommandQueue(),
    alarm: new Alarm(),
    awake: false,
    cancelled: false,
  };
  listen(run);
  watchForCancellation(run);
  // A booking on its way is not called back: what the service made of it counts, cancelled or not.
  await CancellationScope.nonCancellable(() => follow(run));
  return appointmentResultOf(run.appointment);
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
  await identify(run);
  const delivery = new CancellationScope();
  const delivering = delivery.run(() =>
    keepDelivering(
      run.appointment,
      deliveryOf(run.appointment, { raise, clear }, () => (run.awake = true)),
    ),
  );
  do {
    await followToTheEnd(run);
  } while (!(await isSettled(run)));
  delivery.cancel();
  await delivering;
}

/** Works until there is an outcome, one thing at a time. */
async function followToTheEnd(run: AppointmentRun): Promise<void> {
  const { appointment, commands, alarm } = run;
  for (;;) {
    run.awake = false;
    await commands.carryOutNext((command) => carryOut(appointment, command));
    if (run.cancelled) abandon(run);
    await meetDeadlines(appointment);
    review(appointment);
    show(appointment);
    if (appointment.ending !== undefined && commands.isEmpty) return;
    if (workflowInfo().continueAsNewSuggested && !run.awake) await continueAnew(run);
    // What was heard meanwhile is due at once: it needs no timer.
    if (!run.awake && commands.isEmpty) alarm.set(deadlinesOf(appointment)[0]);
    await condition(() => run.awake || alarm.rang || !commands.isEmpty);
  }
}

/** At the service everything stays as it is. */
function abandon({ appointment }: AppointmentRun): void {
  appointment.ending ??= 'abandoned';
}

/** An end holds once everybody was told, and nothing came in meanwhile that contradicts it. */
async function isSettled(run: AppointmentRun): Promise<boolean> {
  const { appointment, commands } = run;
  run.alarm.disarm();
  run.awake = false;
  announceEnd(appointment, Date.now());
  await deliverBeforeEnd(appointment, () => run.awake || !commands.isEmpty);
  await condition(() => allHandlersFinished() || !commands.isEmpty);
  return !run.awake && commands.isEmpty && appointment.ending !== undefined;
}

/** Starts over with an empty history: what was asked for is answered first, and everything known goes along. */
async function continueAnew(run: AppointmentRun): Promise<void> {
  const { appointment, commands } = run;
  await condition(() => allHandlersFinished() || !commands.isEmpty);
  if (!commands.isEmpty || run.awake) return;
  await makeContinueAsNewFunc<typeof bookAppointment>({ workflowType: bookAppointmentName })({
    orderId: appointment.orderId,
    carried: appointment,
  });
}

function watchForCancellation(run: AppointmentRun): void {
  void CancellationScope.current().cancelRequested.catch(() => {
    run.cancelled = true;
    run.awake = true;
  });
}

/** What the product asks for. */
export type AppointmentCommand =
  | { kind: 'findSlots'; question: SlotQuestion }
  | { kind: 'chooseSlot'; choice: SlotChoice }
  | { kind: 'requestAppointment'; wish: AppointmentRequest }
  | { kind: 'reschedule'; choice: SlotChoice }
  | { kind: 'cancel'; cancellation: AppointmentCancellation };

export type AppointmentAnswer = Slots | AppointmentState;

/** One run of `bookAppointment`: the case it works on, and what wakes it. */
export interface AppointmentRun {
  appointment: Appointment;
  earlierRun: EarlierRun | undefined;
  commands: CommandQueue<AppointmentCommand, AppointmentAnswer>;
  alarm: Alarm;
  /** Something was heard that the main loop has not looked at yet. */
  awake: boolean;
  /** An operator, or the product through Temporal, cancelled the workflow. */
  cancelled: boolean;
}

/** Registered before the first await: what comes early is kept. */
function listen(run: AppointmentRun): void {
  const { appointment } = run;
  setHandler(appointmentChangedSignal, (snapshot) => hear(run, snapshot), {
    description: 'A webhook reported this order’s appointment.',
  });
  setHandler(appointmentWantedSignal, (wanted) => takeWish(run, wanted), {
    description: 'The product wants an appointment for the order, and will choose a slot.',
  });
  setHandler(appointmentStateQuery, () => appointmentStateOf(appointment), {
    description: 'Where the appointment stands, what it waits for and until when.',
  });
  setHandler(findSlotsUpdate, (question) => ask<Slots>(run, { kind: 'findSlots', question: question ?? {} }), {
    description: 'The slots of 14 days near the order’s address.',
    validator: (question: SlotQuestion) => validateQuestion(run, question),
  });
  setHandler(chooseSlotUpdate, (choice) => ask<AppointmentState>(run, { kind: 'chooseSlot', choice }), {
    description: 'Books a slot.',
    validator: (choice: SlotChoice) => validateChoice(run, choice),
  });
  setHandler(requestAppointmentUpdate, (wish) => ask<AppointmentState>(run, { kind: 'requestAppointment', wish }), {
    description: 'Asks a provider to name a time.',
    validator: (wish: AppointmentRequest) => validateWish(run, wish),
  });
  setHandler(rescheduleUpdate, (choice) => ask<AppointmentState>(run, { kind: 'reschedule', choice }), {
    description: 'Moves the appointment to another slot.',
    validator: (choice: SlotChoice) => validateChoice(run, choice),
  });
  setHandler(
    cancelAppointmentUpdate,
    (cancellation) => ask<AppointmentState>(run, { kind: 'cancel', cancellation: cancellation ?? {} }),
    {
      description: 'Cancels the appointment, for good or to choose another one.',
      validator: (cancellation: AppointmentCancellation) => validateCancellation(run, cancellation),
    },
  );
}

/** It only records. */
function hear(run: AppointmentRun, reported: unknown): void {
  const snapshot = readAppointmentSnapshot(reported);
  if (snapshot === undefined || (snapshot.orderId ?? run.appointment.orderId) !== run.appointment.orderId) {
    // A malformed signal must not stop the task: it is the sender's fault, and the appointment is read in time.
    log.error('a signal that is no snapshot of this order’s appointment was dropped');
    return;
  }
  if (hearOf(run.appointment, snapshot, Date.now())) run.awake = true;
}

function takeWish(run: AppointmentRun, wanted: AppointmentWanted | undefined): void {
  const { appointment } = run;
  if (run.cancelled) return;
  try {
    want(appointment, wanted?.policy == null ? undefined : resolveAppointmentPolicy(wanted.policy), Date.now());
  } catch (error) {
    if (!(error instanceof PolicyInvalid)) throw error;
    log.error('a policy that cannot be followed was left out', { faults: error.faults });
    note(appointment, 'a policy that cannot be followed was left out', Date.now());
    want(appointment, undefined, Date.now());
  }
  run.awake = true;
}

/** Whoever asked is answered also where the workflow is cancelled meanwhile: the cancellation waits for its turn too. */
async function ask<Answer extends AppointmentAnswer>(
  { commands }: AppointmentRun,
  command: AppointmentCommand,
): Promise<Answer> {
  return CancellationScope.nonCancellable(async () => (await commands.ask(command)) as Answer);
}
