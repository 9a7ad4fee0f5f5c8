import type { WorkflowExecutionInfo } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { isLinkAddressable, linkProviderId } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import {
  type LinkAttentionReason,
  linkPageFaults,
  type LinkPhase,
  type LinkProviderInput,
  linkProviderName,
} from '../../protocol/link/messages.js';
import { anyProvider } from '../../protocol/link/provider-source.js';
import { labPhaseKey, labUserIdKey } from '../../protocol/search-attributes.js';
import {
  type Provider,
  type ProviderConnection,
  type ProviderFilter,
  providerFilterSchema,
} from '../../service/link/providers.js';
import type { CallOptions } from '../call-options.js';
import type { RefusedField } from '../../service/lab-operations-error.js';
import { checkRead, policyFaults, refuseFaulty, unknownFaults } from '../input-faults.js';
import { askService, type ServiceAccess } from '../service-calls.js';
import type { TemporalCalls } from '../workflow-calls.js';
import { LinkInvalid, LinkNotFound } from './errors.js';
import { LinkHandle, linkCalls } from './link-handle.js';
import { listWorkflows, type ListOptions, type WorkflowFilter, type WorkflowSummary } from '../workflow-list.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

export type LinkStart = Omit<LinkProviderInput, 'carried' | 'by'>;

/**
 * Links of users with providers: those that they log in to with a password, and perhaps a code, or, on the service's page, any. Every method
 * also rejects with the errors of {@link CallOptions}.
 */
export class LinkOperations {
  readonly #calls: TemporalCalls;
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#calls = access.calls;
    this.#access = access;
  }

  /**
   * Starts a link, or joins the one of this user and provider that is running; after one has ended, a new one. Without a
   * `provider` the user chooses it on the service's page (`linkWebUrl` of `url`), which also asks for the password and the
   * code; such a link ends with the first connection that the user makes from then on, with whatever provider. Returns
   * as soon as that is durable; `url` of the handle waits for the link itself. Deadline: 30 seconds.
   * @throws LinkInvalid naming each field and its rule, before anything is started
   */
  async start(start: LinkStart, options: CallOptions = {}): Promise<LinkHandle> {
    check(start);
    const { userId: given, provider = anyProvider, policy, ...page } = start;
    const userId = canonicalId(given);
    const chosen = { ...page, policy: resolvePolicy('link', policy) };
    const { client, taskQueue, actor } = this.#calls;
    const begin = () =>
      client.workflow.start(linkProviderName, {
        workflowId: linkProviderId(userId, provider),
        taskQueue,
        args: [{ ...actor, userId, provider, ...chosen }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        typedSearchAttributes: new TypedSearchAttributes([
          { key: labUserIdKey, value: userId },
          { key: labPhaseKey, value: 'awaiting_password' },
        ]),
        staticSummary: provider === anyProvider ? 'Link with a provider of choice' : `Link with ${provider}`,
        staticDetails: 'Carries one link of a user with a provider from its token to the connection.',
      });
    await this.#calls.call(linkCalls.starting, options, begin);
    return new LinkHandle(this.#calls, userId, provider, { options: chosen, repeat: begin });
  }

  /** The running link of this user and provider, or the last one. Deadline: 30 seconds. @throws LinkNotFound */
  async getHandle(
    { userId, provider = anyProvider }: Pick<LinkStart, 'userId' | 'provider'>,
    options: CallOptions = {},
  ): Promise<LinkHandle> {
    if (!isLinkAddressable(userId, provider)) throw new LinkNotFound('This is not a valid user id or provider');
    const workflow = this.#calls.client.workflow.getHandle(linkProviderId(userId, provider));
    await this.#calls.call(linkCalls.reading, options, () => workflow.describe());
    return new LinkHandle(this.#calls, userId, provider);
  }

  /**
   * Links by their search attributes, a page per call to Temporal; no workflow is woken. Lags by moments. Deadline: 30 seconds a
   * page. @throws LinkInvalid
   */
  list(filter: LinkFilter, options: ListOptions = {}): AsyncGenerator<LinkSummary, void, undefined> {
    return this.#calls.iterate(linkCalls.reading, options, () =>
      listWorkflows(this.#calls.client, links, filter, options),
    );
  }

  /**
   * Every provider that the service knows: `slug` is the `provider` of a link, `auth_type` says how its users log in. Asks the
   * service. Deadline: 30 seconds. @throws ReadInvalid, ServiceNotConfigured, and the service's own errors
   */
  async providers(filter: ProviderFilter = {}, options: CallOptions = {}): Promise<Provider[]> {
    checkRead('The filter', filter, providerFilterSchema);
    return askService(this.#access, linkCalls.reading, options, ({ providers }, abort) =>
      providers.list(filter, abort),
    );
  }

  /**
   * A user's connections. One with `status: 'error'` is not fetched from until the user links the provider again;
   * `error_details` says why. Asks the service: a notification about an error that was lost is found here. Deadline: 30 seconds.
   * @throws LinkInvalid, ServiceNotConfigured, and the service's own errors: NotFound for an unknown user
   */
  async connections(userId: string, options: CallOptions = {}): Promise<ProviderConnection[]> {
    checkIds({ userId });
    return askService(this.#access, linkCalls.reading, options, ({ providers }, abort) =>
      providers.connectionsOf(canonicalId(userId), abort),
    );
  }

  /**
   * Ends a user's connection at the service; the data that it has brought stay. `disconnected` is false if there was none, so it is
   * safe to repeat. Well defined only for providers that connect by their own cloud: an app on the user's phone may connect
   * again by itself. No webhook reports it. Asks the service. Deadline: 30 seconds.
   * @throws LinkInvalid, ServiceNotConfigured, and the service's own errors
   */
  async disconnect(
    { userId, provider }: { userId: string; provider: string },
    options: CallOptions = {},
  ): Promise<{ disconnected: boolean }> {
    checkIds({ userId, provider });
    const disconnected = await askService(this.#access, linkCalls.service, options, ({ providers }, abort) =>
      providers.deregister(canonicalId(userId), provider, abort),
    );
    return { disconnected };
  }
}

function check({ userId, provider = anyProvider, policy, ...rest }: LinkStart): void {
  const { redirectUrl, filterOnProviders, onError, onClose, ...unknown } = rest;
  const faults = policyFaults(() => resolvePolicy('link', policy));
  refuseFaulty(
    'The link',
    [
      ...idFaults({ userId, provider }),
      ...linkPageFaults({ redirectUrl, filterOnProviders, onError, onClose }),
      ...unknownFaults(unknown),
      ...faults,
    ],
    LinkInvalid,
  );
}

function checkIds(ids: Readonly<Record<string, unknown>>): void {
  refuseFaulty('The connection', idFaults(ids), LinkInvalid);
}

function idFaults(ids: Readonly<Record<string, unknown>>): RefusedField[] {
  return Object.entries(ids)
    .filter(([, id]) => !isLinkAddressable(id, 'any'))
    .map(([field]) => ({ field, message: 'must be 1 to 128 letters, digits, dots, hyphens or underscores' }));
}

export type LinkFilter = WorkflowFilter<LinkPhase, LinkAttentionReason>;

/** One line of a list, read from search attributes. */
export interface LinkSummary extends WorkflowSummary<LinkPhase, LinkAttentionReason> {
  /** The provider, in the spelling of its source in webhooks. */
  provider: string;
}

const links = {
  workflows: `WorkflowType = '${linkProviderName}'`,
  invalid: LinkInvalid,
  own: ({ workflowId }: WorkflowExecutionInfo) => ({ provider: workflowId.slice(workflowId.lastIndexOf('/') + 1) }),
};
