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
import { canonicalUserId } from '../../workflows/user-id.js';
import { inProductWords } from '../errors.js';
import { watchState, type WatchOptions } from '../watching.js';
import { exists, inWords } from '../workflow-calls.js';
import { LinkEnded, LinkInvalid, linkWords } from './errors.js';

/** What a link was just started with, and how to start it once more. */
export interface StartedLink {
  options: LinkOptions;
  again: () => Promise<unknown>;
}

/**
 * One link of a user with a provider. No method rejects with, logs or keeps a token, a URL or a code; `linkUrl` alone
 * answers with the first two.
 */
export class LinkHandle {
  readonly userId: string;
  readonly provider: string;
  private readonly workflow: WorkflowHandle;
  private started: StartedLink | undefined;

  constructor(temporal: Client, userId: string, provider: string, started?: StartedLink) {
    this.userId = canonicalUserId(userId);
    this.provider = provider;
    this.started = started;
    this.workflow = temporal.workflow.getHandle(linkProviderId(userId, provider));
  }

  /**
   * The token and page for the user's browser: the ones they have, or new ones where the token has ended or is about to.
   * Ask again whenever the user comes back.
   * @throws ServiceDown after half a minute of outage: ask again; LinkRefused for an unknown user or provider; LinkEnded,
   * also where the link that a start joined has connected meanwhile
   */
  async linkUrl(): Promise<LinkUrl> {
    const { started } = this;
    const url = started ? await this.firstUrl(started) : await this.update(requestLinkUpdate, {});
    this.started = undefined;
    return url;
  }

  /** Where the link stands. Wakes the workflow and is billed as an action. Neither token nor URL is in it. */
  async state(): Promise<LinkState> {
    return inWords(linkWords, () => this.workflow.query(linkStateQuery));
  }

  /**
   * Hands on what the password step answered the user's browser: the service's JSON as it is, or `LinkReport`. Only
   * state, error type, method and hint are passed on. A link that its webhook has connected already answers so.
   * @throws LinkInvalid where there is no state, LinkEnded, ServiceDown while it is open whether the link has ended
   */
  async reportLinkResult(answer: LinkReport | Record<string, unknown>): Promise<LinkState> {
    const report = linkResultOf(answer);
    if (!report) {
      const fields = [{ field: 'state', message: 'must be a text' }];
      throw new LinkInvalid('The result of the password step has no state', { fields });
    }
    return this.unlessConnected(
      () => this.update(reportLinkResultUpdate, report),
      (state) => state,
    );
  }

  /**
   * Hands the user's code to the provider and waits for what it says, up to two minutes. The answer tells a wrong code,
   * with the attempts left, from a new question and from a login that is lost. A link that is connected already answers so.
   * @throws InvalidCode before anything is sent, LinkFailed when it ended the link for good, LinkEnded, LinkRefused,
   * ServiceDown when the service could not be reached: nothing is lost, ask the user for the code again
   */
  async submitMfaCode(code: string): Promise<CodeAnswer> {
    return this.unlessConnected(
      () => this.update(submitMfaCodeUpdate, { code }),
      (state) => ({ outcome: 'connected', attemptsLeft: state.codeAttemptsLeft, state }),
    );
  }

  /** Ends the link. A connection that the user makes nevertheless stays. @throws LinkEnded */
  async cancel(): Promise<LinkState> {
    return this.command(() => this.workflow.executeUpdate(cancelLinkUpdate));
  }

  /** Every state that differs from the one before, the present one first, until the link has ended. */
  watch(options: WatchOptions = {}): AsyncGenerator<LinkState, void, undefined> {
    return watchState(() => this.state(), options);
  }

  /**
   * Waits for the end: as long as the policy lets the user take. Where a link is started anew while the end of the one
   * before could not be told yet, that link goes on in its workflow, and this waits for its end: see `startedAt`.
   * @throws LinkNotFound, LinkInterrupted
   */
  async result(): Promise<LinkResult> {
    return inWords(linkWords, () => this.workflow.result() as Promise<LinkResult>);
  }

  /**
   * The link that was joined by the start may have ended at the same moment: then it is started once more. One that has
   * connected is not: the user is not asked for what they have just done.
   */
  private async firstUrl({ options, again }: StartedLink): Promise<LinkUrl> {
    try {
      return await this.update(requestLinkUpdate, { anew: options });
    } catch (error) {
      if (!(error instanceof LinkEnded) || (await this.state()).outcome === 'connected') throw error;
      await again();
      return this.update(requestLinkUpdate, { anew: options });
    }
  }

  /** A webhook is often faster than the product, and its link has ended well before the product hears of it. */
  private async unlessConnected<Answer>(
    call: () => Promise<Answer>,
    answer: (state: LinkState) => Answer,
  ): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      const state = error instanceof LinkEnded ? await this.state() : undefined;
      if (state?.outcome !== 'connected') throw error;
      return answer(state);
    }
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
