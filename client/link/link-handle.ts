import type { UpdateDefinition, WorkflowHandle } from '@temporalio/client';
import { linkProviderId } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import { linkResultOf } from '../../protocol/link/link-report.js';
import {
  cancelUpdate,
  stateQuery,
  reportLinkResultUpdate,
  requestLinkUpdate,
  submitMfaCodeUpdate,
  type CodeAnswer,
  type LinkOptions,
  type LinkResult,
  type LinkState,
  type LinkUrl,
  type MfaCode,
} from '../../protocol/link/messages.js';
import type { LinkReport } from '../../protocol/link/link-report.js';
import type { CallOptions, Deadline } from '../call-options.js';
import { toClientError } from '../errors.js';
import { watchState, type WatchOptions } from '../watching.js';
import type { OneCall } from '../one-call.js';
import { callKinds, type TemporalCalls } from '../workflow-calls.js';
import { LinkEnded, LinkInvalid, linkErrorMap } from './errors.js';

export const linkCalls = callKinds(linkErrorMap, 'The link');

/** The start of a link, and how to repeat it. */
interface StartedLink {
  options: LinkOptions;
  repeat: () => Promise<unknown>;
}

/** The service is asked for half a minute, and the workflow may have to finish something else first. */
const urlDeadline: Deadline = '60s';

/** The provider may take two minutes to judge a code. */
const codeDeadline: Deadline = '150s';

/**
 * One link of a user with a provider. No method rejects with, logs or stores a token, a URL or a code; only `url`
 * returns the first two. Every method also rejects with the errors of {@link CallOptions}.
 */
export class LinkHandle {
  readonly userId: string;
  readonly provider: string;
  readonly #calls: TemporalCalls;
  readonly #workflow: WorkflowHandle;
  #started: StartedLink | undefined;

  constructor(calls: TemporalCalls, userId: string, provider: string, started?: StartedLink) {
    this.userId = canonicalId(userId);
    this.provider = provider;
    this.#started = started;
    this.#calls = calls;
    this.#workflow = calls.client.workflow.getHandle(linkProviderId(userId, provider));
  }

  /**
   * The token and page for the user's browser: the ones they have, or new ones if the token has ended or is about to.
   * Ask again whenever the user comes back. Deadline: 60 seconds.
   * @throws ServiceDown after half a minute of outage: ask again; LinkRefused for an unknown user or provider; LinkEnded,
   * also if the link that a start joined has connected meanwhile
   */
  async url(options: CallOptions = {}): Promise<LinkUrl> {
    const started = this.#started;
    const url = await this.#calls.call({ ...linkCalls.reading, defaultDeadline: urlDeadline }, options, (call) =>
      started ? this.firstUrl(call, started) : this.update(call, requestLinkUpdate, {}),
    );
    this.#started = undefined;
    return url;
  }

  /**
   * The link's current state. Wakes the workflow and is billed as an action. Contains neither token nor URL. Deadline:
   * 30 seconds.
   */
  async state(options: CallOptions = {}): Promise<LinkState> {
    return this.#calls.call(linkCalls.reading, options, (call) => this.read(call));
  }

  /**
   * Reports the answer of the password step to the user's browser: the service's JSON unchanged, or `LinkReport`. Only
   * state, error type, method and hint are sent. If the webhook has connected the link already, the answer says so.
   * Deadline: 30 seconds.
   *
   * @throws LinkInvalid if there is no state, LinkEnded, ServiceDown while it is not known if the link has ended
   */
  async reportLinkResult(answer: LinkReport | Record<string, unknown>, options: CallOptions = {}): Promise<LinkState> {
    const report = linkResultOf(answer);
    if (!report) {
      const fields = [{ field: 'state', message: 'must be a non-empty string' }];
      throw new LinkInvalid('The result of the password step has no state', { fields });
    }
    return this.#calls.call(linkCalls.command, options, (call) =>
      this.unlessConnected(
        call,
        () => this.update(call, reportLinkResultUpdate, report),
        (state) => state,
      ),
    );
  }

  /**
   * Submits the user's code to the provider, as it was typed, and waits for the result, up to two minutes. The answer distinguishes a
   * wrong code, with the attempts left, a new code request and a lost login. If the link is connected already, the
   * answer says so. Deadline: 150 seconds.
   *
   * @throws InvalidCode before anything is sent, LinkFailed if it ended the link for good, LinkEnded, LinkRefused,
   * ServiceDown if the service could not be reached: nothing is lost, ask the user for the code again
   */
  async submitMfaCode({ code }: MfaCode, options: CallOptions = {}): Promise<CodeAnswer> {
    return this.#calls.call({ ...linkCalls.command, defaultDeadline: codeDeadline }, options, (call) =>
      this.unlessConnected(
        call,
        () => this.update(call, submitMfaCodeUpdate, { code }),
        (state) => ({ outcome: 'connected', attemptsLeft: state.codeAttemptsLeft, state }),
      ),
    );
  }

  /** Ends the link. A connection that the user makes nevertheless stays. Repeating it is a success. Deadline: 30 seconds. @throws LinkEnded */
  async cancel(options: CallOptions = {}): Promise<LinkState> {
    return this.#calls.call(linkCalls.command, options, (call) =>
      this.update(call, cancelUpdate, {}, async () => {
        const state = await this.read(call);
        return state.outcome === 'cancelled' ? state : refuseEnded();
      }),
    );
  }

  /** Every state that differs from the one before, the present one first, until the link has ended. */
  watch(options: WatchOptions = {}): AsyncGenerator<LinkState, void, undefined> {
    return watchState(this, options, () => this.#workflow.workflowId);
  }

  /**
   * Waits for the end: 30 seconds, or the `deadline`, which may be `'none'`. The policy limits how long the user may
   * take. If a new link starts before the end of the last one could be announced, it continues in the same workflow,
   * and this waits for the new link's end: see `startedAt`.
   *
   * @throws LinkNotFound, LinkInterrupted
   */
  async result(options: CallOptions = {}): Promise<LinkResult> {
    return this.#calls.call(linkCalls.waiting, options, (call) =>
      call.result<LinkResult>(this.#workflow, linkCalls.waiting.underWay),
    );
  }

  private read(call: OneCall): Promise<LinkState> {
    return call.state(this.#workflow, stateQuery);
  }

  /**
   * The link that was joined by the start may have ended at the same moment: then the start is repeated. Not if it has
   * connected: the user need not repeat a login that succeeded.
   */
  private async firstUrl(call: OneCall, { options, repeat }: StartedLink): Promise<LinkUrl> {
    try {
      return await this.update(call, requestLinkUpdate, { newLink: options });
    } catch (error) {
      if (!(error instanceof LinkEnded) || (await this.read(call)).outcome === 'connected') throw error;
      await repeat();
      return this.update(call, requestLinkUpdate, { newLink: options });
    }
  }

  /** A webhook is often faster than the product, and its link has ended well before the product learns of it. */
  private async unlessConnected<Answer>(
    call: OneCall,
    send: () => Promise<Answer>,
    answer: (state: LinkState) => Answer,
  ): Promise<Answer> {
    try {
      return await send();
    } catch (error) {
      const state = error instanceof LinkEnded ? await this.read(call) : undefined;
      if (state?.outcome !== 'connected') throw error;
      return answer(state);
    }
  }

  /** @param ended the answer after the end */
  private async update<Answer, T>(
    call: OneCall,
    update: UpdateDefinition<Answer, [T]>,
    argument: T,
    ended: () => Promise<Answer> = refuseEnded,
  ): Promise<Answer> {
    try {
      return await call.update(this.#workflow, update, argument, ended);
    } catch (error) {
      // The callers decide what an ended link means.
      throw toClientError(error, linkErrorMap);
    }
  }
}

async function refuseEnded(): Promise<never> {
  throw new LinkEnded('The link has ended: start a new one');
}
