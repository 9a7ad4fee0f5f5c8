import { workflowInfo, log, setHandler } from '@temporalio/workflow';
import { readEarlierRun } from '../../protocol/signal-or-start.js';
import * as messages from '../../protocol/appointment/messages.js';
import { canonicalId, bookAppointmentId, isAddressable } from '../../protocol/ids.js';
import { noticeUnreadable, openRun, runLoop, acceptCancellation, workThrough } from '../entity/loop.js';
import { settlePolicyOrKeep } from '../entity/policy.js';
import { askForRead } from '../entity/polling.js';
import { announceEnd, announceFall, announceNews, clear, raise } from './announcements.js';
import {
  type Appointment,
  type AppointmentRun,
  openAppointment,
  isOfStage,
  learnFromWebhook,
  acceptRequest,
  stands,
} from './appointment.js';
import {
  askProvider,
  cancel,
  choose,
  findSlots,
  reschedule,
  validateCancellation,
  validateChoice,
  validateQuestion,
  validateRequest,
} from './commands.js';
import { deadlinesOf, handlePassedDeadlines } from './deadlines.js';
import { identify, readAppointmentSnapshot } from './reading.js';
import { resultOf, show, stateOf } from './view.js';
import { refuse } from '../entity/commands.js';

/**
 * Carries the appointment of one order from the choice of a slot to the visit. Started by signal-with-start: by the
 * product, or by the first webhook of an appointment that was made elsewhere.
 */
export async function bookAppointment(input: messages.BookAppointmentInput): Promise<messages.AppointmentResult> {
  const checked = check(input);
  const run: AppointmentRun = {
    ...openRun(),
    appointment: openAppointment(checked, Date.now()),
    earlierRun: readEarlierRun(input.earlierRun),
    cancelled: false,
  };
  listen(run);
  // A booking on its way is not called back: what the service made of it counts, cancelled or not.
  await workThrough(run, async () => {
    await settlePolicyOrKeep(run.appointment, 'appointment');
    await identify(run);
    await runLoop(run, loopOf(run));
  });
  return resultOf(run.appointment);
}

/** No compiler checks the input of a backend in another language. */
function check(input: Partial<messages.BookAppointmentInput> | undefined): messages.BookAppointmentInput {
  const { orderId } = input ?? {};
  if (isAddressable(orderId) && workflowInfo().workflowId === bookAppointmentId(orderId)) {
    return { ...input, orderId: canonicalId(orderId) };
  }
  const message = 'the workflow ID must be appointment/<order id>, as bookAppointmentId makes it';
  throw refuse('InvalidCommand', message);
}

function loopOf(run: AppointmentRun) {
  const { appointment } = run;
  return {
    state: appointment,
    attention: { raise, clear },
    act: () => act(run),
    readDropped: () => askForRead(appointment),
    isOver: () => appointment.ending !== undefined,
    announceEnd: () => announceEnd(appointment, Date.now()),
    nextMoment: () => deadlinesOf(appointment)[0],
    mustContinueAsNew: () => run.wasCancelled === true,
    workflowType: messages.bookAppointmentName,
    nextInput: (): messages.BookAppointmentInput => ({ orderId: appointment.orderId, carried: appointment }),
  };
}

async function act(run: AppointmentRun): Promise<void> {
  const { appointment, commands } = run;
  await settlePolicyOrKeep(appointment, 'appointment');
  await commands.carryOutNext();
  abandonIfCancelled(run);
  await handlePassedDeadlines(appointment);
  publish(appointment);
}

/** Brings everything that others see in line with what is known: questions, notifications, and the case file. */
function publish(appointment: Appointment): void {
  const now = Date.now();
  clear(appointment, ({ reason }) => !stands(appointment, reason), now);
  if (stands(appointment, 'order_cancelled')) raise(appointment, 'order_cancelled', now);
  appointment.handledDeadlines = appointment.handledDeadlines.filter((key) => isOfStage(appointment, key));
  announceNews(appointment, now);
  // The order is read first: it may show why the appointment fell away.
  if (appointment.ending !== undefined) delete appointment.fallen;
  else if (appointment.fallen?.asked) announceFall(appointment, now);
  show(appointment);
}

/** At the service everything stays as it is. */
function abandonIfCancelled(run: AppointmentRun): void {
  if (acceptCancellation(run)) run.appointment.ending ??= 'abandoned';
}

/** Registered before the first await: what comes early is kept. */
function listen(run: AppointmentRun): void {
  const { appointment } = run;
  noticeUnreadable(run);
  setHandler(messages.appointmentChangedSignal, (snapshot) => receiveSnapshot(run, snapshot), {
    description: 'A webhook reported this order’s appointment.',
  });
  setHandler(messages.bookingRequestedSignal, (requested) => receiveRequest(run, requested), {
    description: 'The product requests an appointment for the order, and will choose a slot.',
  });
  setHandler(messages.stateQuery, () => stateOf(appointment), {
    description: 'Where the appointment stands, what it waits for and until when.',
  });
  setHandler(
    messages.findSlotsUpdate,
    (question) => run.commands.askThrough(() => findSlots(appointment, question ?? {})),
    {
      description: 'The slots near the order’s address, or at service centres.',
      validator: (question: messages.SlotQuestion) => validateQuestion(run, question),
    },
  );
  setHandler(messages.chooseSlotUpdate, (choice) => run.commands.askThrough(() => choose(appointment, choice)), {
    description: 'Books a slot.',
    validator: (choice: messages.SlotChoice) => validateChoice(run, choice),
  });
  setHandler(
    messages.requestAppointmentUpdate,
    (request) => run.commands.askThrough(() => askProvider(appointment, request)),
    {
      description: 'Asks a provider to name a time.',
      validator: (request: messages.AppointmentRequest) => validateRequest(run, request),
    },
  );
  setHandler(messages.rescheduleUpdate, (choice) => run.commands.askThrough(() => reschedule(appointment, choice)), {
    description: 'Moves the appointment to another slot.',
    validator: (choice: messages.SlotChoice) => validateChoice(run, choice),
  });
  setHandler(
    messages.cancelUpdate,
    (cancellation) => run.commands.askThrough(() => cancel(appointment, cancellation ?? {})),
    {
      description: 'Cancels the appointment, for good or to choose another one.',
      validator: (cancellation: messages.AppointmentCancellation) => validateCancellation(run, cancellation),
    },
  );
}

/** It only records. */
function receiveSnapshot(run: AppointmentRun, reported: unknown): void {
  const snapshot = readAppointmentSnapshot(reported);
  const { orderId } = run.appointment;
  if (snapshot === undefined || canonicalId(snapshot.orderId ?? orderId) !== orderId) {
    // A malformed signal must not stop the task: it is the sender's fault, and the appointment is read in time.
    log.error('a signal was dropped: it has no snapshot of this order’s appointment');
    return;
  }
  if (learnFromWebhook(run.appointment, snapshot, Date.now())) run.hasNews = true;
}

function receiveRequest(run: AppointmentRun, requested: messages.BookingRequested | undefined): void {
  // What is requested after the cancellation is a new appointment.
  abandonIfCancelled(run);
  acceptRequest(run.appointment, requested?.policy, Date.now());
  run.hasNews = true;
}
