import { Option, type Command } from 'commander';
import type { CancelledPlacing, OrderHandle, WhichOrder } from '../order/order-handle.js';
import type { OrderSelection, PolicyChange, WhichHandle } from '../order/orders.js';
import { readWebUi } from '../config.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import type { RegisterCommand } from '../../protocol/order/messages.js';
import type { PlaceKitOrderInput, PlacingState } from '../../protocol/order/placing-messages.js';
import {
  acknowledgementOutcomes,
  decisions,
  type AcknowledgementOutcome,
  type AttentionReason,
  type Decision,
  type OrderPhase,
  type OrderState,
} from '../../protocol/order/state.js';
import type { CommandLine } from './command-line.js';
import { NotAllChanged, UsageError } from './failures.js';
import { adoptCommand } from './order-adoption.js';
import { omitNullish } from '../../service/json-object.js';
import { readObject, textOf, examples, withExample } from './input.js';
import { addFilterOptions, filterOf, listCommand, ofOrders, type FilterOptions } from './lists.js';
import { orderLine, orderText, policyChangeText } from './order-text.js';
import type { ReconcileProgress } from '../../protocol/reconcile.js';
import type { EarlierFailure } from '../order/reconciliation.js';
import { facts, moment } from './output.js';

interface ReferenceOption {
  reference?: string;
}

interface SetPolicyOptions extends FilterOptions<OrderPhase, AttentionReason> {
  file: string;
  all?: true;
  dryRun?: true;
}

interface ResolveOptions {
  decision: Decision;
  insteadOf?: 'wait';
}

/** Orders of test kits. */
export function orderCommands(program: Command, commandLine: CommandLine): void {
  const orders = program.command('orders').description('place, follow and change orders of test kits');
  listCommand(orders, commandLine, ofOrders);
  placeCommand(orders, commandLine);
  adoptCommand(orders, commandLine);
  reconcileCommand(orders, commandLine);

  const onOrder = (name: string, description: string) =>
    orders
      .command(`${name} [order-id]`)
      .description(description)
      .option('--reference <reference>', 'identify the order by your reference instead of its id');

  onOrder('show', 'show the state of an order, with its chain and its timeline').action(
    async (orderId: string | undefined, { reference }: ReferenceOption) => {
      const which = whichOrder(orderId, reference);
      await commandLine.run(async ({ lab }) => {
        const state = await (await lab.orders.getHandle(which)).state();
        show(commandLine, state);
        const source = workflowOf(state);
        if (await lab.notifications.isWaiting(source)) {
          commandLine.note(`Some of its notifications are undelivered: labops notifications show ${source}`);
        }
      });
    },
  );
  openCommand(onOrder, commandLine);
  onOrder(
    'watch',
    'poll an order and print each state that differs from the one before, one per line, until it has ended',
  ).action(async (orderId: string | undefined, { reference }: ReferenceOption) => {
    const which = whichOrder(orderId, reference);
    await commandLine.watch((lab) => lab.orders.getHandle(which), orderLine);
  });
  withExample(onOrder('register', 'register a kit with its patient'), commandLine.terminal, examples.registration)
    .requiredOption('--file <path>', 'the registration as JSON, the body of the lab service; - reads standard input')
    .action(async (orderId: string | undefined, { reference, file }: ReferenceOption & { file: string }) => {
      const which = whichOrder(orderId, reference);
      const registration = (await readObject(commandLine.terminal, file)) as RegisterCommand['registration'];
      await command(commandLine, which, 'The kit may be registered', (handle, meant) =>
        handle.register({ registration, ...meant }),
      );
    });
  onOrder('cancel', 'cancel an order that has not shipped, or its placing').action(
    async (orderId: string | undefined, { reference }: ReferenceOption) =>
      command(commandLine, whichOrder(orderId, reference), 'The order may be cancelled', (handle, meant) =>
        handle.cancel(meant),
      ),
  );
  resolveCommand(orders, commandLine);
  orders
    .command('replace-kit <order-id>')
    .description('order a new kit for one that is lost, failed, on its way or with the customer, to the same address')
    .action(async (orderId: string) =>
      command(commandLine, { orderId }, newKit, (handle) => handle.replaceKit({ orderId })),
    );
  acknowledgeCriticalCommand(orders, commandLine);
  setPolicyCommand(orders, commandLine);
}

/** On a terminal with a browser, the address is opened. */
function openCommand(onOrder: (name: string, description: string) => Command, commandLine: CommandLine): void {
  onOrder(
    'open',
    "print the address of an order's workflow in the Web UI; on a terminal, open it in the browser",
  ).action(async (orderId: string | undefined, { reference }: ReferenceOption) => {
    const which = whichOrder(orderId, reference);
    const webUi = readWebUi();
    await commandLine.run(async ({ lab }) => {
      const workflowId = workflowOf(await (await lab.orders.getHandle(which)).state());
      const { namespace } = lab.temporal.options;
      const address = `${webUi}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
      commandLine.print({ address }, () => address);
      if (!commandLine.json) commandLine.terminal.open(address);
    });
  });
}

/** It takes only an id: the current order of a reference may have changed when the command is repeated. */
function resolveCommand(orders: Command, commandLine: CommandLine): void {
  orders
    .command('resolve-problem <order-id>')
    .description('decide what happens to an order that needs a decision')
    .addOption(
      new Option(
        '--decision <decision>',
        'wait: restart the time limit; replace: order a new kit; abandon: stop following it',
      )
        .choices(decisions)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--instead-of <decision>', 'change an earlier wait that is not over yet').choices(['wait']))
    .action(async (orderId: string, { decision, insteadOf }: ResolveOptions) =>
      command(commandLine, { orderId }, decision === 'replace' ? newKit : 'The decision may be carried out', (handle) =>
        handle.resolveProblem({ orderId, decision, ...(insteadOf !== undefined && { insteadOf }) }),
      ),
    );
}

function setPolicyCommand(orders: Command, commandLine: CommandLine): void {
  const command = withExample(orders.command('set-policy'), commandLine.terminal, examples.policy)
    .description('change settings of the policy of running orders, and show which limits and reminders move')
    .requiredOption('--file <path>', 'the settings that change, as JSON; - reads standard input');
  // An order that is being placed has no policy to change yet.
  const { placing: _, ...phases } = ofOrders.phases;
  addFilterOptions(command, { ...ofOrders, phases })
    .option('--all', 'every running order')
    .option('--dry-run', 'change nothing')
    .action(async ({ file, all, dryRun: isDryRun, ...filter }: SetPolicyOptions) => {
      const dryRun = isDryRun === true;
      if ((Object.keys(filter).length === 0) === (all === undefined)) {
        throw new UsageError('Name the orders: with --phase, --attention or --user, or with --all');
      }
      const policy = (await readObject(commandLine.terminal, file)) as OrderPolicy;
      const selection = all === true ? { all } : (filterOf(filter) as OrderSelection);
      const goesOn = 'Some orders may be changed: repeat `labops orders set-policy`, which changes nothing twice';
      await commandLine.send(goesOn, async ({ lab, progress }) => {
        const changes: PolicyChange[] = [];
        try {
          for await (const change of lab.orders.setPolicy(selection, policy, { dryRun })) {
            changes.push(change);
            progress.say(`${dryRun ? 'comparing' : 'changing'}: ${changes.length} orders`);
          }
        } catch (error) {
          // What was changed before is known to nobody else.
          if (changes.length > 0) await printChanges(commandLine, changes, dryRun);
          throw error;
        }
        await printChanges(commandLine, changes, dryRun);
        const failed = changes.filter((change) => 'error' in change).length;
        if (failed > 0) throw new NotAllChanged(`${failed} of ${changes.length} orders cannot be changed; see above`);
      });
    });
}

async function printChanges(
  commandLine: CommandLine,
  changes: readonly PolicyChange[],
  dryRun: boolean,
): Promise<void> {
  const { failureReport } = await import('./failures.js');
  const orders = changes.flatMap((change) => ('error' in change ? [] : [change]));
  const failed = changes.flatMap((change) =>
    'error' in change ? [{ ...change, error: failureReport(change.error) }] : [],
  );
  commandLine.print({ orders, failed, dryRun }, () => policyChangeText(orders, failed), [...orders, ...failed]);
}

function placeCommand(orders: Command, commandLine: CommandLine): void {
  withExample(orders.command('place'), commandLine.terminal, examples.order)
    .description('place an order, once for its reference, and wait until the lab service has accepted it')
    .requiredOption('--file <path>', 'the order as JSON: reference, kind, order, policy; - reads standard input')
    .option('--no-wait', 'return as soon as the placing is started')
    .action(async ({ file, wait }: { file: string; wait: boolean }) => {
      const input = (await readObject(commandLine.terminal, file)) as PlaceKitOrderInput;
      const { reference } = input;
      await commandLine.send(
        `The order may be placed nevertheless: \`labops orders cancel --reference ${reference}\` cancels it`,
        async ({ lab, progress }) => {
          const handle = await lab.orders.place(input);
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

interface AcknowledgementOptions {
  by?: string;
  outcome: AcknowledgementOutcome;
  alarm?: string;
  noteFile?: string;
}

/** The order is named by its id alone: whose result is acknowledged must not depend on which kit is the current one. */
function acknowledgeCriticalCommand(orders: Command, commandLine: CommandLine): void {
  orders
    .command('acknowledge-critical-result <order-id>')
    .description('record that somebody handles a critical result, which ends its reminders')
    .option('--by <person-id>', "who handles it: the product's id of the person, never a name (default: the actor)")
    .addOption(
      new Option(
        '--outcome <outcome>',
        'confirmed: the person responsible knows it and has read it back; reached_no_readback: they know it; unable_to_reach: they do not know it yet',
      )
        .choices(acknowledgementOutcomes)
        .makeOptionMandatory(),
    )
    .option('--alarm <id>', 'the alarm you acted on, as `show` names it: refused if a later one was raised')
    .option('--note-file <path>', 'a file with a note for the record, at most 2,000 characters; - reads standard input')
    .action(async (orderId: string, { by, outcome, alarm, noteFile }: AcknowledgementOptions) => {
      const note = (await textOf(commandLine.terminal, noteFile)) || undefined;
      const acknowledgement = omitNullish({ orderId, outcome, by, alarm, note });
      await command(commandLine, { orderId }, 'The result may be acknowledged', (handle) =>
        handle.acknowledgeCriticalResult(acknowledgement),
      );
    });
}

const newKit = 'A new kit, which `labops orders cancel` cancels by its id, may be ordered';

/**
 * Runs a command on the very order whose id was given, or on the current one of a reference's chain.
 * @param effect what may happen after an interrupt
 */
async function command(
  commandLine: CommandLine,
  which: WhichHandle,
  effect: string,
  send: (handle: OrderHandle, meant: WhichOrder) => Promise<OrderState | CancelledPlacing>,
): Promise<void> {
  const named = 'orderId' in which ? which.orderId : `--reference ${which.reference}`;
  await commandLine.send(`${effect} nevertheless: \`labops orders show ${named}\` shows the order`, async ({ lab }) => {
    const handle = await lab.orders.getHandle(which);
    show(commandLine, await send(handle, 'orderId' in which ? which : {}));
  });
}

function show(commandLine: CommandLine, state: OrderState | PlacingState | CancelledPlacing): void {
  commandLine.print(state, () => orderText(state));
}

/** The ID of the workflow that has this state. */
function workflowOf(state: OrderState | PlacingState): string {
  return 'chain' in state ? kitOrderId(state.rootOrderId) : placeKitOrderId(state.reference);
}

function whichOrder(orderId: string | undefined, reference: string | undefined): WhichHandle {
  if (orderId !== undefined && reference === undefined) return { orderId };
  if (orderId === undefined && reference !== undefined) return { reference };
  throw new UsageError('Give one order: its id, or --reference');
}

const goesOn = 'The reconciliation may continue: the same command waits for the end of the run that has begun';

/** Catches up on the webhooks of a range of time that an outage lost. */
function reconcileCommand(orders: Command, commandLine: CommandLine): void {
  orders
    .command('reconcile')
    .description('compare the orders updated in a time range with what the workflows know, and notify them')
    .requiredOption('--from <time>', 'ISO 8601: a date (midnight in UTC), or a time with its zone')
    .requiredOption('--to <time>', 'the same; the range ends before it, and at least ten minutes ago')
    .action(async (range: { from: string; to: string }) => {
      const { failureLine } = await import('./failures.js');
      await commandLine.send(
        goesOn,
        async ({ lab, progress }) => {
          progress.say('reconciling');
          const { from, to } = range;
          const onProgress = (come: ReconcileProgress): void => progress.say(lineOf(come));
          const onEarlierFailure = ({ at, error }: EarlierFailure): void => {
            commandLine.note(
              `The last run for this range failed at ${moment(at)}. ${failureLine(error)} Another run is started.`,
            );
            progress.resume();
          };
          const result = await lab.orders.reconcile({ from, to }, { onProgress, onEarlierFailure });
          commandLine.print(result, () =>
            facts([
              ['Compared up to', moment(result.watermark)],
              ['Listed', result.listed],
              ['Unfinished, notified', result.notified],
              ['Finished', result.finished],
              ['Finished, notified because the end was missed', result.reopened],
              ['Skipped', result.passedOver],
              ['Critical', result.critical],
              ['Match reviews', result.matchReviews],
            ]),
          );
          if (result.passedOver > 0) commandLine.note("The worker's log says why orders were skipped.");
        },
        'endless',
      );
    });
}

function lineOf({ listed, pagesToGo }: ReconcileProgress): string {
  return `reconciling: ${listed} orders${pagesToGo === undefined ? '' : `, ${pagesToGo} pages to go`}`;
}
