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
import { Notifications } from './notifications.js';
import { codeAnswerWords, linkStateWords, linkWaits, linkWords, shortened } from './words.js';

/** A link of a story, and what its user does in the browser. */
export class PlayedLink {
  readonly handle: LinkHandle;
  readonly #browser: LabService;
  readonly #narrator: Narrator;
  readonly #notifications: Notifications<'link'>;

  constructor(
    handle: LinkHandle,
    { browser, narrator, receiver }: { browser: LabService; narrator: Narrator; receiver: NotificationReceiver },
  ) {
    this.handle = handle;
    this.#browser = browser;
    this.#narrator = narrator;
    this.#notifications = new Notifications(
      receiver,
      'link',
      ({ data }) => data.user_id === handle.userId,
      (event) => narrator.notifies(event.time, linkWords(event)),
    );
  }

  /** The user logs in on the hosted page, which is played here, and the product reports what the browser received. */
  async logIn(username: string): Promise<LinkState> {
    const { linkToken, linkWebUrl } = await this.handle.linkUrl();
    this.#narrator.acts(`the product sends the user to ${shortened(linkWebUrl)}`);
    this.#narrator.waits(linkWaits(await this.handle.state()));
    this.#narrator.acts('the user logs in there; the password goes straight to the lab service, never into Temporal');
    const credentials = { username, password: 'an-invented-password' };
    const result = await this.#browser.links.submitPassword(this.handle.provider, linkToken, credentials);
    const state = await this.handle.reportLinkResult(result);
    this.#narrator.happens(linkStateWords(state));
    this.#narrator.waits(linkWaits(state));
    return state;
  }

  /** The user types a code. Returns undefined if it was refused. */
  async submit(code: string): Promise<CodeAnswer | undefined> {
    try {
      const answer = await this.handle.submitMfaCode(code);
      this.#narrator.happens(codeAnswerWords(answer));
      return answer;
    } catch (error) {
      const isRefusal = error instanceof InvalidCode || error instanceof LinkRefused || error instanceof LinkFailed;
      if (!isRefusal) throw error;
      this.#narrator.happens(`refused: ${error.message}`);
      return undefined;
    }
  }

  /** Waits for the end of the workflow, and until the product is notified of it. */
  async end(): Promise<LinkResult> {
    const result = await this.handle.result();
    await this.#notifications.first('ended');
    return result;
  }
}
