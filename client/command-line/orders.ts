import { Option, type Command } from 'commander';
import type { KitOrderHandle, WhichOrder } from '../orders/order-handle.js';
import type { OrderFilter, WhichHandle } from '../orders/orders.js';
import type { OrderSummary } from '../orders/order-list.js';
import type { OrderState, PlaceKitOrderInput, RegisterCommand } from '../../workflows/order/messages.js';
import type { Call, CommandLine } from './command-line.js';
import { UsageError } from './exit-codes.js';
import { readObject } from './input.js';
import { count, name } from './options.js';
import { isKnownAttention, isKnownPhase, knownAttention, knownPhases } from './order-filters.js';
import { orderLine, orderText, orderTable } from './order-text.js';

interface ReferenceOption {
  reference?: string;
}

interface ListOptions {
  phase?: string;
  attention?: string | true;
  user?: string;
  ended?: true;
  limit: number;
}

const decisions = ['wait', 'replace', 'abandon'] as const;

/** Orders of test kits. */
export function orderCommands(program: Command, commandLine: CommandLine): void {
  const orders = program.command('orders').description('place, follow and command orders of test kits');
  listCommand(orders, commandLine);
  placeCommand(orders, commandLine);

  const onOrder = (name: string, description: string) =>
    orders
      .command(`${name} [order-id]`)
      .description(description)
      .option('--reference <reference>', 'the order by your own key, in place of its id');

  onOrder('show', 'where an order stands, with its chain and its timeline').action(
    async (orderId: string | undefined, { reference }: ReferenceOption) => {
      const which = whichOrder(orderId, reference);
      await commandLine.run(async ({ lab }) => show(commandLine, await (await lab.orders.get(which)).state()));
    },
  );
  onOrder('watch', 'every change of an order, a line each, until it has ended').action(
    async (orderId: string | undefined, { reference }: ReferenceOption) => {
      const which = whichOrder(orderId, reference);
      await commandLine.run((call) => watch(commandLine, call, which), 'endless');
    },
  );
  onOrder('register', 'register a kit with its patient')
    .requiredOption('--file <path>', 'the registration as JSON, the body of the lab service; - reads standard input')
    .action(async (orderId: string | undefined, { reference, file }: ReferenceOption & { file: string }) => {
      const which = whichOrder(orderId, reference);
      const registration = (await readObject(commandLine.terminal, file)) as RegisterCommand['registration'];
      await command(commandLine, which, (handle, meant) => handle.register(registration, meant));
    });
  onOrder('cancel', 'cancel an order that has not shipped').action(
    async (orderId: string | undefined, { reference }: ReferenceOption) =>
      command(commandLine, whichOrder(orderId, reference), (handle, meant) => handle.cancel(meant)),
  );
  onOrder('resolve', 'answer an order that asks for a decision')
    .addOption(
      new Option(
        '--decision <decision>',
        'wait: give it its limit once more; replace: order a new kit; abandon: stop following it',
      )
        .choices(decisions)
        .makeOptionMandatory(),
    )
    .action(
      async (
        orderId: string | undefined,
        { reference, decision }: ReferenceOption & { decision: (typeof decisions)[number] },
      ) =>
        command(commandLine, whichOrder(orderId, reference), (handle, meant) => handle.resolveProblem(decision, meant)),
    );
  onOrder('replace', 'order a new kit for one that is lost, failed or stuck, to the same address').action(
    async (orderId: string | undefined, { reference }: ReferenceOption) =>
      command(commandLine, whichOrder(orderId, reference), (handle, meant) => handle.replaceKit(meant)),
  );
}

function listCommand(orders: Command, commandLine: CommandLine): void {
  orders
    .command('list')
    .description('orders by what is known of them, the latest first; wakes no workflow')
    .option('--phase <phase>', 'only those in a phase, such as awaiting_registration', name)
    .option('--attention [reason]', 'only those that ask for attention, for one reason or for any', name)
    .option('--user <user-id>', "only those of a user, by the lab service's id")
    .option('--ended', 'also those that have ended, as long as Temporal retains them')
    .option('--limit <number>', 'how many at most', count, 50)
    .action(async (options: ListOptions) => {
      await commandLine.run(async ({ lab }) => {
        const { found, more } = await atMost(options.limit, lab.orders.list(filterOf(options)));
        commandLine.print({ orders: found, more }, () => orderTable(found));
        if (more) commandLine.note(`There are more than ${options.limit}: raise --limit.`);
        if (found.length === 0) noteUnknown(commandLine, options);
      });
    });
}

/** A worker that is newer than this command may know more: what is not known here is looked for all the same. */
function noteUnknown(commandLine: CommandLine, { phase, attention }: ListOptions): void {
  if (phase !== undefined && !isKnownPhase(phase)) {
    commandLine.note(`No phase is known as ${phase}. There are ${knownPhases.join(', ')}.`);
  }
  if (typeof attention === 'string' && !isKnownAttention(attention)) {
    commandLine.note(`No reason is known as ${attention}. There are ${knownAttention.join(', ')}.`);
  }
}

function placeCommand(orders: Command, commandLine: CommandLine): void {
  orders
    .command('place')
    .description('place an order once for its reference, and wait until the lab service has taken it')
    .requiredOption('--file <path>', 'the order as JSON: reference, kind, order, policy; - reads standard input')
    .option('--no-wait', 'return as soon as it is certain that it will be placed')
    .action(async ({ file, wait }: { file: string; wait: boolean }) => {
      const input = (await readObject(commandLine.terminal, file)) as PlaceKitOrderInput;
      await commandLine.run(
        async ({ lab, progress }) => {
          const handle = await lab.orders.place(input);
          const { reference } = input;
          if (!wait) {
            commandLine.print({ reference }, () => `The order with the reference ${reference} is being placed.`);
            return;
          }
          progress.say(`placing ${reference}`);
          const orderId = await handle.orderId();
          commandLine.print({ reference, orderId }, () => `Placed order ${orderId}, reference ${reference}.`);
        },
        wait ? 'endless' : undefined,
      );
    });
}

/** Runs a command on the very order whose id was given, or on the current one of a reference's chain. */
async function command(
  commandLine: CommandLine,
  which: WhichHandle,
  send: (handle: KitOrderHandle, meant: WhichOrder) => Promise<OrderState>,
): Promise<void> {
  await commandLine.run(async ({ lab }) => {
    const handle = await lab.orders.get(which);
    show(commandLine, await send(handle, 'orderId' in which ? which : {}));
  });
}

async function watch(commandLine: CommandLine, { lab }: Call, which: WhichHandle): Promise<void> {
  const handle = await lab.orders.get(which);
  for await (const state of handle.watch()) commandLine.printLine(state, () => orderLine(state));
}

function show(commandLine: CommandLine, state: OrderState): void {
  commandLine.print(state, () => orderText(state));
}

function whichOrder(orderId: string | undefined, reference: string | undefined): WhichHandle {
  if (orderId !== undefined && reference === undefined) return { orderId };
  if (orderId === undefined && reference !== undefined) return { reference };
  throw new UsageError('Name one order: by its id, or by --reference');
}

function filterOf({ phase, attention, user, ended }: ListOptions): OrderFilter {
  return {
    // The lists of both grow; one that nobody has finds nothing.
    ...(phase !== undefined && { phase: phase as NonNullable<OrderFilter['phase']> }),
    ...(attention !== undefined && { attention: attention as NonNullable<OrderFilter['attention']> }),
    ...(user !== undefined && { userId: user }),
    ...(ended === true && { ended }),
  };
}

/** Nothing is fetched beyond the page that the limit falls on. */
async function atMost(
  limit: number,
  orders: AsyncIterable<OrderSummary>,
): Promise<{ found: OrderSummary[]; more: boolean }> {
  const found: OrderSummary[] = [];
  for await (const order of orders) {
    if (found.length === limit) return { found, more: true };
    found.push(order);
  }
  return { found, more: false };
}
