import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { CancellationReason } from '../../service/appointment/appointments.js';
import type { Centres, Coverage } from '../../service/appointment/centres.js';
import {
  type CentresFilter,
  centresFilterSchema,
  type CoverageFilter,
  coverageFilterSchema,
  type SitesOfOrder,
  sitesOfOrderSchema,
} from '../../service/appointment/walk-ins.js';
import { signalOrStart } from '../../protocol/signal-or-start.js';
import { bookAppointmentId, isAddressable, idIn } from '../../protocol/ids.js';
import {
  type AppointmentAttentionReason,
  type AppointmentPhase,
  bookAppointmentName,
  bookingRequestedSignal,
} from '../../protocol/appointment/messages.js';
import type { AppointmentPolicy } from '../../protocol/appointment/policy.js';
import { bookAppointmentStart } from '../../protocol/starts.js';
import type { CallOptions } from '../call-options.js';
import { checkRead, policyFaults, refuseFaulty, serviceIdFaults, unknownFaults } from '../input-faults.js';
import { askService, type ServiceAccess } from '../service-calls.js';
import { asking, type TemporalCalls } from '../workflow-calls.js';
import { AppointmentHandle, appointmentCalls } from './appointment-handle.js';
import { AppointmentInvalid, AppointmentNotFound } from './errors.js';
import { listWorkflows, type ListOptions, type WorkflowFilter, type WorkflowSummary } from '../workflow-list.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

export interface AppointmentStart {
  /** The service's id of an order with the collection method `at_home_phlebotomy` or `walk_in_test`. */
  orderId: string;
  /** The policy of the first start: a start that joins a running workflow does not change it. */
  policy?: AppointmentPolicy;
}

/**
 * Appointments for a blood draw: at home, or at a patient service centre, as the order says. Every method also
 * rejects with the errors of {@link CallOptions}.
 */
export class AppointmentOperations {
  readonly #calls: TemporalCalls;
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#calls = access.calls;
    this.#access = access;
  }

  /**
   * Requests an appointment for an order: joins the workflow that runs for it, even if a webhook started it, or starts
   * a new one. Returns as soon as that is durable. An existing appointment of the order is found, not made again; then
   * call `slots` and `choose`. Deadline: 30 seconds.
   *
   * @throws AppointmentInvalid naming each field and its rule, before anything is started
   */
  async start(start: AppointmentStart, options: CallOptions = {}): Promise<AppointmentHandle> {
    check(start);
    const { orderId, policy } = start;
    const resolved = resolvePolicy('appointment', policy);
    const workflow = bookAppointmentStart(orderId, undefined, resolved);
    const { client, taskQueue, actor } = this.#calls;
    const request = { ...actor, ...(policy && { policy: resolved }) };
    await this.#calls.call(appointmentCalls.starting, options, () =>
      signalOrStart(client.workflow, taskQueue, workflow, bookingRequestedSignal, request),
    );
    return new AppointmentHandle(this.#calls, orderId);
  }

  /** The appointment that is followed, or was last. Deadline: 30 seconds. @throws AppointmentNotFound */
  async getHandle(
    { orderId }: Pick<AppointmentStart, 'orderId'>,
    options: CallOptions = {},
  ): Promise<AppointmentHandle> {
    if (!isAddressable(orderId)) throw new AppointmentNotFound('This is not a valid order id');
    const workflow = this.#calls.client.workflow.getHandle(bookAppointmentId(orderId));
    await this.#calls.call(appointmentCalls.reading, options, () => workflow.describe());
    return new AppointmentHandle(this.#calls, orderId);
  }

  /**
   * Appointments by their search attributes, a page per call to Temporal; no workflow is woken. Lags by moments. Deadline: 30 seconds a
   * page. @throws AppointmentInvalid
   */
  list(filter: AppointmentFilter, options: ListOptions = {}): AsyncGenerator<AppointmentSummary, void, undefined> {
    return this.#calls.iterate(appointmentCalls.reading, options, () =>
      listWorkflows(this.#calls.client, appointments, filter, options),
    );
  }

  /**
   * The reasons that `cancel` takes, straight from the service: at home, or for `walkIn` those of appointments at a service
   * centre. Deadline: 30 seconds.
   *
   * @throws ServiceNotConfigured, and the service's own errors
   */
  async cancellationReasons(
    { walkIn = false }: { walkIn?: boolean } = {},
    options: CallOptions = {},
  ): Promise<CancellationReason[]> {
    return askService(this.#access, appointmentCalls.reading, options, ({ appointments, walkIns }, abort) =>
      (walkIn ? walkIns : appointments).cancellationReasons(abort),
    );
  }

  /**
   * The coverage of a zip code, straight from the service: whether blood is drawn at home there, and which laboratories have
   * service centres nearby. Deadline: 30 seconds. @throws ReadInvalid, ServiceNotConfigured, and the service's own errors
   */
  async coverage(filter: CoverageFilter, options: CallOptions = {}): Promise<Coverage> {
    checkRead('The filter', filter, coverageFilterSchema);
    return askService(this.#access, asking, options, ({ centres }, abort) => centres.coverage(filter, abort));
  }

  /**
   * The service centres near an order's patient, or of a laboratory near a zip code, straight from the service; at most 30. The
   * `site_code` of one is a `siteCodes` of `slots`, if it takes appointments (`isBookable`). Deadline: 30 seconds.
   *
   * @throws ReadInvalid, ServiceNotConfigured, and the service's own errors
   */
  async sites(filter: SitesOfOrder | CentresFilter, options: CallOptions = {}): Promise<Centres> {
    if (typeof filter === 'object' && filter !== null && 'orderId' in filter) {
      checkRead('The filter', filter, sitesOfOrderSchema);
      const { orderId, ...near } = filter;
      return askService(this.#access, asking, options, ({ centres }, abort) => centres.forOrder(orderId, near, abort));
    }
    checkRead('The filter', filter, centresFilterSchema);
    return askService(this.#access, asking, options, ({ centres }, abort) => centres.near(filter, abort));
  }
}

function check({ orderId, policy, ...unknown }: AppointmentStart): void {
  const faults = [...unknownFaults(unknown), ...policyFaults(() => resolvePolicy('appointment', policy))];
  refuseFaulty('The appointment', [...serviceIdFaults('orderId', orderId, 'an order'), ...faults], AppointmentInvalid);
}

export type AppointmentFilter = WorkflowFilter<AppointmentPhase, AppointmentAttentionReason>;

/** One line of a list, read from search attributes. */
export interface AppointmentSummary extends WorkflowSummary<AppointmentPhase, AppointmentAttentionReason> {
  orderId: string;
}

const appointments = {
  workflows: `WorkflowType = '${bookAppointmentName}'`,
  invalid: AppointmentInvalid,
  own: ({ workflowId }: WorkflowExecutionInfo) => ({ orderId: idIn(workflowId, bookAppointmentId) }),
};
