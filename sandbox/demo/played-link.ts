import {
  InvalidCode,
  LinkFailed,
  LinkRefused,
  type CodeAnswer,
  type LabService,
  type LinkHandle,
  type LinkResult,
  type LinkState,
} from '../../client/index.js';
import type { Narrator } from './narrator.js';
import type { NotificationReceiver } from './notification-receiver.js';
import { answerWords, askedWords, linkTold, linkWaits, shortened } from './link-words.js';

/** A link of a story: the product's handle of it, and what its user does in the browser. */
export class PlayedLink {
  readonly handle: LinkHandle;
  readonly #browser: LabService;
  readonly #narrator: Narrator;
  readonly #receiver: NotificationReceiver;

  constructor(
    handle: LinkHandle,
    { browser, narrator, receiver }: { browser: LabService; narrator: Narrator; receiver: NotificationReceiver },
  ) {
    this.handle = handle;
    this.#browser = browser;
    this.#narrator = narrator;
    this.#receiver = receiver;
  }

  /**
   * The product sends the user to the hosted page; the user logs in there, which is played here, and the product reports
   * what the browser was told.
   */
  async logsIn(username: string): Promise<LinkState> {
    const { linkToken, linkWebUrl } = await this.handle.linkUrl();
    this.#narrator.acts(`the product sends the user to ${shortened(linkWebUrl)}`);
    this.#narrator.waits(linkWaits(await this.handle.state()));
    this.#narrator.acts(
      'the user logs in there; name and password go straight to the lab service, never into Temporal',
    );
    const credentials = { username, password: 'an-invented-password' };
    const told = await this.#browser.links.submitPassword(this.handle.provider, linkToken, credentials);
    const state = await this.handle.reportLinkResult(told);
    this.#narrator.happens(askedWords(state));
    this.#narrator.waits(linkWaits(state));
    return state;
  }

  /** The user types a code. What comes of it is told; undefined where it was refused. */
  async submits(code: string): Promise<CodeAnswer | undefined> {
    try {
      const answer = await this.handle.submitMfaCode(code);
      this.#narrator.happens(answerWords(answer));
      return answer;
    } catch (error) {
      const isRefusal = error instanceof InvalidCode || error instanceof LinkRefused || error instanceof LinkFailed;
      if (!isRefusal) throw error;
      this.#narrator.happens(`refused: ${error.message}`);
      return undefined;
    }
  }

  /** Waits for the end of the workflow, and until the product was told of it. */
  async end(): Promise<LinkResult> {
    const result = await this.handle.result();
    const { time, data } = await this.#receiver.links.first(
      ({ type, data: about }) => type === 'ended' && about.user_id === this.handle.userId,
    );
    this.#narrator.tells(time, linkTold(data));
    return result;
  }
}
