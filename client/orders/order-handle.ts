import { WorkflowNotFoundError, type UpdateDefinition, type WorkflowHandle } from '@temporalio/client';
import type { Results } from '../../service/results.js';
import type { LabService } from '../../service/lab-service.js';
import { kitOrderId, placeKitOrderId } from '../../workflows/order/address.js';
import {
  cancelUpdate,
  registerUpdate,
  replaceKitUpdate,
  resolveProblemUpdate,
  stateQuery,
  type KitOrderResult,
  type OrderState,
  type PlaceKitOrderResult,
  type RegisterCommand,
  type ResolveProblemCommand,
} from '../../workflows/order/messages.js';
import { inProductWords, ServiceNotConfigured } from '../errors.js';
import { exists, inWords } from '../workflow-calls.js';
import { forwardedTo, OrderEnded, orderWords } from './errors.js';
import type { OrderFinder } from './order-finder.js';
import { watchState, type WatchOptions } from '../watching.js';

/** Which order of a chain a command means. Default: the current one. */
export interface WhichOrder {
  orderId?: string;
}

/**
 * One order, from placement to results, through redraws and replacements. Every command answers with the state after
 * it. Everything waits for the placement first, if that is still under way.
 */
export class KitOrderHandle {
  readonly reference: string | undefined;
  private readonly finder: OrderFinder;
  private rootOrderId: string | undefined;

  constructor(finder: OrderFinder, known: { reference?: string; rootOrderId?: string }) {
    this.finder = finder;
    this.reference = known.reference;
    this.rootOrderId = known.rootOrderId;
  }

  /**
   * The service's id of the order that was placed, which is the root of its chain. Waits until it is placed, however
   * long an outage of the service lasts.
   * @throws OrderRefused, PhysicianRequired, AmbiguousOrder and others: why it could not be placed
   */
  async orderId(): Promise<string> {
    this.rootOrderId ??= await this.placed();
    return this.rootOrderId;
  }

  /** Where the order stands now. Wakes the workflow and is billed as an action: for lists use `orders.list`. */
  async state(): Promise<OrderState> {
    const workflow = await this.workflow();
    return inWords(orderWords, () => workflow.query(stateQuery));
  }

  /**
   * Registers the kit with its patient: the body of `POST /v3/order/testkit/register`. Doing it again with the same
   * sample id is success.
   * @throws RegistrationRefused with the fields, PhysicianRequired, RegisteredAnotherOrder, OrderEnded, ServiceDown
   */
  async register(registration: RegisterCommand['registration'], which: WhichOrder = {}): Promise<OrderState> {
    return this.command(registerUpdate, { registration, ...which });
  }

  /** @throws CancelRefused once the kit has shipped, OrderEnded, ServiceDown */
  async cancel(which: WhichOrder = {}): Promise<OrderState> {
    return this.command(cancelUpdate, which);
  }

  /**
   * Answers an order that asks for a decision: `wait` gives it its limit once more, `replace` orders a new kit,
   * `abandon` stops following it.
   * @throws NothingToResolve, NotReplaceable, ReplacementLimitReached, OrderRefused, OrderEnded, ServiceDown
   */
  async resolveProblem(decision: ResolveProblemCommand['decision'], which: WhichOrder = {}): Promise<OrderState> {
    return this.command(resolveProblemUpdate, { decision, ...which });
  }

  /**
   * Orders a new kit for one that is lost, failed or stuck on its way, to the same address. However often it is asked
   * for, an order is replaced once.
   * @throws NotReplaceable, ReplacementLimitReached, OrderRefused, OrderEnded, ServiceDown
   */
  async replaceKit(which: WhichOrder = {}): Promise<OrderState> {
    return this.command(replaceKitUpdate, which);
  }

  /** Every state that differs from the one before, the present one first, until the order has ended. */
  watch(options: WatchOptions = {}): AsyncGenerator<OrderState, void, undefined> {
    return watchState(() => this.state(), options);
  }

  /**
   * Waits for the end: days or weeks. Lab values are not in it, see `results`.
   * @throws OrderRefused and others when the order could not be placed, OrderInterrupted when an operator ended the workflow
   */
  async result(): Promise<KitOrderResult> {
    const workflow = await this.workflow();
    const result = await inWords(orderWords, () => workflow.result() as Promise<KitOrderResult>);
    if (result.outcome !== 'forwarded') return result;
    return new KitOrderHandle(this.finder, { rootOrderId: result.rootOrderId }).result();
  }

  /**
   * The lab values of the current order of the chain, read from the service; they are never in Temporal.
   * @throws ServiceNotConfigured, and the service's own errors (`NotFound` until there are results)
   */
  async results(): Promise<Results> {
    const service: LabService | undefined = this.finder.service;
    if (!service)
      throw new ServiceNotConfigured('Lab values are read from the service: give `service` to LabOperations');
    const { orderId } = await this.state();
    return service.orders.results(orderId);
  }

  private async placed(): Promise<string> {
    const placement = this.finder.temporal.workflow.getHandle(placeKitOrderId(this.reference ?? ''));
    const { orderId } = await inWords(orderWords, () => placement.result() as Promise<PlaceKitOrderResult>);
    return orderId;
  }

  private async workflow(): Promise<WorkflowHandle> {
    return this.finder.temporal.workflow.getHandle(kitOrderId(await this.orderId()));
  }

  private async command<T>(update: UpdateDefinition<OrderState, [T]>, argument: T): Promise<OrderState> {
    const workflow = await this.workflow();
    try {
      return await workflow.executeUpdate(update, { args: [argument] });
    } catch (error) {
      const root = forwardedTo(error);
      if (root !== undefined) return new KitOrderHandle(this.finder, { rootOrderId: root }).command(update, argument);
      // An update of a workflow that has ended is "not found", as one of a workflow that never was.
      if (error instanceof WorkflowNotFoundError && (await exists(workflow))) {
        throw new OrderEnded('The order has ended; it takes no command any more');
      }
      throw inProductWords(error, orderWords);
    }
  }
}
