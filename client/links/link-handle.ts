import { WorkflowNotFoundError, type Client, type UpdateDefinition, type WorkflowHandle } from '@temporalio/client';
import { linkProviderId } from '../../workflows/link/address.js';
import { linkResultOf } from '../../workflows/link/link-report.js';
import {
  cancelLinkUpdate,
  linkStateQuery,
  reportLinkResultUpdate,
  requestLinkUpdate,
  submitMfaCodeUpdate,
  type CodeAnswer,
  type LinkOptions,
  type LinkReport,
  type LinkResult,
  type LinkState,
  type LinkUrl,
} from '../../workflows/link/messages.js';
import { inProductWords } from '../errors.js';
import { watchState, type WatchOptions } from '../watching.js';
import { exists, inWords } from '../workflow-calls.js';
import { LinkEnded, LinkInvalid, linkWords } from './errors.js';

/**
 * One link of a user with a provider. No method rejects with, logs or keeps a token, a URL or a code; `linkUrl` alone
 * answers with the first two.
 */
export class LinkHandle {
  readonly userId: string;
  readonly provider: string;
  private readonly workflow: WorkflowHandle;
  private anew: LinkOptions | undefined;

  /** @param anew what the link was just started with */
  constructor(temporal: Client, userId: string, provider: string, anew?: LinkOptions) {
    this.userId = userId;
    this.provider = provider;
    this.anew = anew;
    this.workflow = temporal.workflow.getHandle(linkProviderId(userId, provider));
  }

  /**
   * The token and page for the user's browser: the ones they have, or new ones where the token has ended. Ask again
   * whenever the user comes back.
   * @throws ServiceDown after half a minute of outage: ask again; LinkRefused for an unknown user or provider; LinkEnded
   */
  async linkUrl(): Promise<LinkUrl> {
    const url = await this.update(requestLinkUpdate, this.anew ? { anew: this.anew } : {});
    this.anew = undefined;
    return url;
  }

  /** Where the link stands. Wakes the workflow and is billed as an action. Neither token nor URL is in it. */
  async state(): Promise<LinkState> {
    return inWords(linkWords, () => this.workflow.query(linkStateQuery));
  }

  /**
   * Hands on what the password step answered the user's browser: the service's JSON as it is, or `LinkReport`. Only
   * state, error type, method and hint are passed on.
   * @throws LinkInvalid where there is no state, LinkEnded
   */
  async reportLinkResult(answer: LinkReport | Record<string, unknown>): Promise<LinkState> {
    const report = linkResultOf(answer);
    if (!report) {
      const fields = [{ field: 'state', message: 'must be a text of 1 to 64 characters' }];
      throw new LinkInvalid('The result of the password step has no state', { fields });
    }
    return this.update(reportLinkResultUpdate, report);
  }

  /**
   * Hands the user's code to the provider and waits for what it says, up to two minutes. The answer tells a wrong code,
   * with the attempts left, from a new question and from a login that is lost.
   * @throws InvalidCode before anything is sent, LinkFailed when it ended the link for good, LinkEnded, LinkRefused,
   * ServiceDown when the service could not be reached: nothing is lost, ask the user for the code again
   */
  async submitMfaCode(code: string): Promise<CodeAnswer> {
    return this.update(submitMfaCodeUpdate, { code });
  }

  /** Ends the link. A connection that the user makes nevertheless stays. @throws LinkEnded */
  async cancel(): Promise<LinkState> {
    return this.command(() => this.workflow.executeUpdate(cancelLinkUpdate));
  }

  /** Every state that differs from the one before, the present one first, until the link has ended. */
  watch(options: WatchOptions = {}): AsyncGenerator<LinkState, void, undefined> {
    return watchState(() => this.state(), options);
  }

  /** Waits for the end: as long as the policy lets the user take. @throws LinkNotFound, LinkInterrupted */
  async result(): Promise<LinkResult> {
    return inWords(linkWords, () => this.workflow.result() as Promise<LinkResult>);
  }

  private async update<Answer, T>(update: UpdateDefinition<Answer, [T]>, argument: T): Promise<Answer> {
    return this.command(() => this.workflow.executeUpdate(update, { args: [argument] }));
  }

  private async command<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      // An update of a workflow that has ended is "not found", as one of a workflow that never was.
      if (error instanceof WorkflowNotFoundError && (await exists(this.workflow))) {
        throw new LinkEnded('The link has ended: start a new one');
      }
      throw inProductWords(error, linkWords);
    }
  }
}
