import type { Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { isLinkAddressable, linkProviderId } from '../../workflows/link/address.js';
import { linkProviderName, type LinkProviderInput } from '../../workflows/link/messages.js';
import { resolveLinkPolicy } from '../../workflows/link/policy.js';
import { labPhaseKey, labUserIdKey } from '../../workflows/search-attributes.js';
import { canonicalUserId } from '../../workflows/user-id.js';
import type { RefusedField } from '../errors.js';
import { inOneLine, policyFaults } from '../input-faults.js';
import { inWords } from '../workflow-calls.js';
import { LinkInvalid, LinkNotFound, linkWords } from './errors.js';
import { LinkHandle } from './link-handle.js';

export type LinkStart = Omit<LinkProviderInput, 'carried'>;

/** Links of users with providers that they log in to with a password, and perhaps a code. */
export class LinkOperations {
  private readonly temporal: Client;
  private readonly taskQueue: string;

  constructor(temporal: Client, taskQueue: string) {
    this.temporal = temporal;
    this.taskQueue = taskQueue;
  }

  /**
   * Starts a link, or joins the one of this user and provider that is running; after one has ended, a new one. Returns
   * as soon as that is durable; `linkUrl` of the handle waits for the link itself.
   * @throws LinkInvalid naming each field and its rule, before anything is started
   */
  async start(start: LinkStart): Promise<LinkHandle> {
    check(start);
    const { provider, redirectUrl, policy } = start;
    const userId = canonicalUserId(start.userId);
    const options = { ...(redirectUrl !== undefined && { redirectUrl }), ...(policy && { policy }) };
    const begin = () =>
      this.temporal.workflow.start(linkProviderName, {
        workflowId: linkProviderId(userId, provider),
        taskQueue: this.taskQueue,
        args: [{ userId, provider, ...options }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        typedSearchAttributes: new TypedSearchAttributes([
          { key: labUserIdKey, value: userId },
          { key: labPhaseKey, value: 'awaiting_password' },
        ]),
        staticSummary: `Link with ${provider}`,
        staticDetails: 'Carries one link of a user with a provider from its token to the connection.',
      });
    await begin();
    return new LinkHandle(this.temporal, userId, provider, { options, again: begin });
  }

  /** The running link of this user and provider, or the last one. @throws LinkNotFound */
  async get({ userId, provider }: Pick<LinkStart, 'userId' | 'provider'>): Promise<LinkHandle> {
    if (!isLinkAddressable(userId, provider)) throw new LinkNotFound('These ids cannot be of a link of ours');
    await inWords(linkWords, () => this.temporal.workflow.getHandle(linkProviderId(userId, provider)).describe());
    return new LinkHandle(this.temporal, userId, provider);
  }
}

/** Everything that is wrong, at once. A caller in plain JavaScript is checked by no compiler. */
function check({ userId, provider, redirectUrl, policy }: LinkStart): void {
  const faults: RefusedField[] = [];
  for (const [field, value] of Object.entries({ userId, provider })) {
    if (!isLinkAddressable(value, 'any')) {
      faults.push({ field, message: 'must be 1 to 128 letters, digits, dots, hyphens or underscores' });
    }
  }
  if (redirectUrl !== undefined && !URL.canParse(redirectUrl)) {
    faults.push({ field: 'redirectUrl', message: 'must be an absolute URL' });
  }
  faults.push(...policyFaults(() => resolveLinkPolicy(policy)));
  if (faults.length === 0) return;
  throw new LinkInvalid(`The link is not valid: ${inOneLine(faults)}`, { fields: faults });
}
