import { CancellationScope, log, setHandler } from '@temporalio/workflow';
import { PolicyInvalid } from '../policy-settings.js';
import { hearOf, note, want } from './case.js';
import { validateCancellation, validateChoice, validateQuestion, validateWish } from './command-validation.js';
import {
  appointmentChangedSignal,
  appointmentStateQuery,
  appointmentWantedSignal,
  cancelAppointmentUpdate,
  chooseSlotUpdate,
  findSlotsUpdate,
  requestAppointmentUpdate,
  rescheduleUpdate,
  type AppointmentCancellation,
  type AppointmentState,
  type AppointmentWanted,
  type AppointmentWish,
  type SlotChoice,
  type SlotQuestion,
  type Slots,
} from './messages.js';
import { resolveAppointmentPolicy } from './policy.js';
import type { AppointmentAnswer, AppointmentCommand, AppointmentRun } from './run.js';
import { readAppointmentSnapshot } from './snapshot-reader.js';
import { appointmentStateOf } from './view.js';

/** Registered before the first await: what comes early is kept. */
export function listen(run: AppointmentRun): void {
  const { kase } = run;
  setHandler(appointmentChangedSignal, (snapshot) => hear(run, snapshot), {
    description: 'A webhook reported this order’s appointment.',
  });
  setHandler(appointmentWantedSignal, (wanted) => takeWish(run, wanted), {
    description: 'The product wants an appointment for the order, and will choose a slot.',
  });
  setHandler(appointmentStateQuery, () => appointmentStateOf(kase), {
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
    validator: (wish: AppointmentWish) => validateWish(run, wish),
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
  if (snapshot === undefined || (snapshot.orderId ?? run.kase.orderId) !== run.kase.orderId) {
    // A malformed signal must not stop the task: it is the sender's fault, and the appointment is read in time.
    log.error('a signal that is no snapshot of this order’s appointment was dropped');
    return;
  }
  if (hearOf(run.kase, snapshot, Date.now())) run.awake = true;
}

function takeWish(run: AppointmentRun, wanted: AppointmentWanted | undefined): void {
  const { kase } = run;
  if (run.cancelled) return;
  try {
    want(kase, wanted?.policy == null ? undefined : resolveAppointmentPolicy(wanted.policy), Date.now());
  } catch (error) {
    if (!(error instanceof PolicyInvalid)) throw error;
    log.error('a policy that cannot be followed was left out', { faults: error.faults });
    note(kase, 'a policy that cannot be followed was left out', Date.now());
    want(kase, undefined, Date.now());
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
