import type { Command } from 'commander';
import type { AppointmentState, SlotQuestion, Slots, SlotSite } from '../../protocol/appointment/messages.js';
import type { AppointmentHandle } from '../appointment/appointment-handle.js';
import type { CommandLine, Patience } from './command-line.js';
import { textOf } from './input.js';
import { listCommand, ofAppointments } from './lists.js';
import { attentionText, changeLine, facts, moment, sections, table, timelineTable, waiting, words } from './output.js';
import { omitNullish } from '../../service/json-object.js';

interface NotesOption {
  notesFile?: string;
}

interface CancelOptions extends NotesOption {
  reasonId?: string;
  rebook?: true;
}

interface SlotOptions {
  startDate?: string;
  site?: string[];
  zip?: string;
  radius?: NonNullable<SlotQuestion['radius']>;
}

const notesFile = [
  '--notes-file <path>',
  'a file with notes for the person who comes; - reads standard input',
] as const;

/** A booking may take five minutes, and one before it may have to be waited for and read first. */
const patience: Patience = '10m';

/** Appointments for a blood draw, at home or at a service centre, each by the id of its order. */
export function appointmentCommands(program: Command, commandLine: CommandLine): void {
  const appointments = program
    .command('appointments')
    .description('arrange appointments for a blood draw at home or at a service centre');
  listCommand(appointments, commandLine, ofAppointments);
  const onOrder = (name: string, description: string): Command => orderCommand(appointments, name, description);

  onOrder('start', 'start arranging an appointment, or join the one already running').action(async (orderId: string) =>
    commandLine.send(
      `The appointment may be arranged nevertheless: \`labops appointments cancel ${orderId}\` cancels it`,
      async ({ lab }) => show(commandLine, await (await lab.appointments.start({ orderId })).state()),
    ),
  );
  slotsCommand(appointments, commandLine);
  onOrder('choose', 'book a slot for the draw')
    .requiredOption('--slot <slot-id>', 'the id of a slot, as `slots` shows it')
    .option(...notesFile)
    .action(async (orderId: string, { slot, notesFile: path }: NotesOption & { slot: string }) => {
      const choice = omitNullish({ slotId: slot, notes: await textOf(commandLine.terminal, path) });
      await send(commandLine, orderId, (handle) => handle.choose(choice));
    });
  onOrder('request', 'ask a provider to name a time, instead of choosing a slot')
    .requiredOption('--provider <slug>', "the lab service's name of the company that draws the blood")
    .option(...notesFile)
    .action(async (orderId: string, { provider, notesFile: path }: NotesOption & { provider: string }) => {
      const request = omitNullish({ provider, notes: await textOf(commandLine.terminal, path) });
      await send(commandLine, orderId, (handle) => handle.request(request));
    });
  onOrder('reschedule', 'move an appointment to another slot')
    .requiredOption('--slot <slot-id>', 'the id of a slot, as `slots` shows it')
    .action(async (orderId: string, { slot }: { slot: string }) =>
      send(commandLine, orderId, (handle) => handle.reschedule({ slotId: slot })),
    );
  cancelCommand(appointments, commandLine);
  onOrder('show', 'show the state of an appointment').action(async (orderId: string) =>
    commandLine.run(
      async ({ lab }) => show(commandLine, await (await lab.appointments.getHandle({ orderId })).state()),
      patience,
    ),
  );
  onOrder(
    'watch',
    'poll an appointment and print each state that differs from the one before, one per line, until it has ended',
  ).action(async (orderId: string) => commandLine.watch((lab) => lab.appointments.getHandle({ orderId }), changeLine));
}

function slotsCommand(appointments: Command, commandLine: CommandLine): void {
  orderCommand(
    appointments,
    'slots',
    "list the slots near the order's address: at home or at service centres, as the order says",
  )
    .option('--start-date <date>', 'the first day, YYYY-MM-DD')
    .option('--site <code...>', 'at service centres only: up to three of them')
    .option('--zip <zip>', 'at service centres only: near this zip code')
    .option('--radius <miles>', 'at service centres only: 10, 20, 25, 50 or 100 (default 25)', Number)
    .action(async (orderId: string, options: SlotOptions) =>
      commandLine.run(async ({ lab }) => {
        const handle = await lab.appointments.getHandle({ orderId });
        const slots = await handle.slots(questionOf(options));
        commandLine.print(slots, () => slotTable(slots), slots.slots);
      }, patience),
    );
}

function cancelCommand(appointments: Command, commandLine: CommandLine): void {
  orderCommand(appointments, 'cancel', 'cancel an appointment at the lab service; the order stays')
    .option('--reason-id <id>', "one of the lab service's reasons (default: the first of them)")
    .option('--rebook', 'keep the workflow running to choose another slot')
    .option(...notesFile)
    .action(async (orderId: string, { reasonId, rebook, notesFile: path }: CancelOptions) => {
      const cancellation = omitNullish({ reasonId, rebook, notes: await textOf(commandLine.terminal, path) });
      await send(commandLine, orderId, (handle) => handle.cancel(cancellation));
    });
}

function orderCommand(appointments: Command, name: string, description: string): Command {
  return appointments.command(`${name} <order-id>`).description(description);
}

async function send(
  commandLine: CommandLine,
  orderId: string,
  command: (handle: AppointmentHandle) => Promise<AppointmentState>,
): Promise<void> {
  await commandLine.send(
    `The command may be carried out nevertheless: \`labops appointments show ${orderId}\` shows the appointment`,
    async ({ lab }) => show(commandLine, await command(await lab.appointments.getHandle({ orderId }))),
    patience,
  );
}

function show(commandLine: CommandLine, state: AppointmentState): void {
  commandLine.print(state, () => appointmentText(state));
}

function questionOf({ startDate, site, zip, radius }: SlotOptions): SlotQuestion {
  return omitNullish({ startDate, siteCodes: site, zipCode: zip, radius });
}

function slotTable({ slots, sites = [], timezone }: Slots): string {
  if (slots.length === 0) return 'No slots in these days.';
  return sections(
    facts([['Local time zone', timezone]]),
    siteTable(sites),
    table(
      ['Slot', 'From', 'Until', 'Price', 'Priority'],
      slots.map(({ id, start, end, price, isPriority }) => [id, moment(start), moment(end), price, isPriority]),
    ),
  );
}

function siteTable(sites: readonly SlotSite[]): string | undefined {
  if (sites.length === 0) return undefined;
  return table(
    ['Site', 'Name', 'Address', 'Miles', 'Time zone'],
    sites.map(({ code, name, address, distance, timezone }) => [code, name, address, distance, timezone]),
  );
}

function appointmentText(state: AppointmentState): string {
  const { appointment, timeline, attention } = state;
  return sections(
    facts([
      ['Order', state.orderId],
      ['User', state.userId],
      ['Phase', words(state.phase)],
      ['Waits for', state.outcome === undefined ? waiting(state.waiting) : undefined],
      ['Appointment', appointment?.appointmentId],
      ['Status', appointment?.status],
      ['From', moment(appointment?.startAt)],
      ['Until', moment(appointment?.endAt)],
      ['Provider', appointment?.provider],
      ['Site', appointment?.siteCode],
      ['Number at the site', appointment?.externalId],
      ['Can be moved', appointment?.canReschedule],
      ['Refunded if cancelled before', moment(appointment?.refundableUntil)],
      ['Refunded', appointment?.refundable],
      ['Outcome', words(state.outcome ?? '')],
      ['State of the order', words(state.order ?? '')],
    ]),
    attentionText(attention),
    timelineTable(timeline),
  );
}
