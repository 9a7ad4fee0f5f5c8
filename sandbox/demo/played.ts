import { setTimeout as pause } from 'node:timers/promises';
import {
  type AppointmentHandle,
  type AppointmentResult,
  type AppointmentState,
  type CodeAnswer,
  type DeletionHandle,
  errors,
  type LabService,
  type LinkHandle,
  type LinkResult,
  type LinkState,
  type ParsingJobResult,
  type ReportHandle,
  type Slot,
} from '../../client/index.js';
import type { Narrator } from './narrator.js';
import { type NotificationReceiver, Notifications } from './notifications.js';
import { watching } from './played-order.js';
import { codeAnswerWords, linkStateWords, linkWaits, parsingWords, shortened } from './words.js';
import type { SandboxControl } from '../control.js';

/** The subjects of stories beside orders: a deletion, an appointment, a report and a link. */

/** The deletion of a user in a story. */
export class PlayedDeletion {
  readonly handle: DeletionHandle;
  readonly notifications: Notifications<'user'>;

  constructor(handle: DeletionHandle, narrator: Narrator, receiver: NotificationReceiver) {
    this.handle = handle;
    this.notifications = new Notifications(
      receiver,
      'user',
      ({ data }) => data.user_id === handle.userId,
      narrator.notifies,
    );
  }
}

/** An appointment of a story. */
export class PlayedVisit {
  readonly handle: AppointmentHandle;
  readonly #narrator: Narrator;
  readonly #notifications: Notifications<'appointment'>;

  constructor(handle: AppointmentHandle, narrator: Narrator, receiver: NotificationReceiver) {
    this.handle = handle;
    this.#narrator = narrator;
    this.#notifications = new Notifications(
      receiver,
      'appointment',
      ({ data }) => data.order_id === handle.orderId,
      narrator.notifies,
    );
  }

  /** The slots that the customer can choose from. */
  async slots(): Promise<Slot[]> {
    const { slots } = await this.handle.slots();
    this.#narrator.happens(
      `the lab service offers ${slots.length} slots in 14 days, from ${momentOf(slots[0]?.start)}`,
    );
    return slots;
  }

  async choose(slot: Slot): Promise<AppointmentState> {
    const state = await this.handle.choose({ slotId: slot.id });
    this.#narrator.happens(`the lab service has booked ${momentOf(state.appointment?.startAt)}`);
    return state;
  }

  /** Waits for the end of the workflow, and until the product is notified of it. */
  async end(): Promise<AppointmentResult> {
    const result = await this.handle.result();
    await this.#notifications.first('ended');
    return result;
  }
}

function momentOf(at: string | undefined): string {
  return at === undefined ? 'no day' : `${at.slice(0, 16).replace('T', ' ')} UTC`;
}

/** A lab report of a story. */
export class PlayedReport {
  readonly handle: ReportHandle;
  readonly notifications: Notifications<'report'>;
  readonly #narrator: Narrator;

  constructor(handle: ReportHandle, jobId: string, narrator: Narrator, receiver: NotificationReceiver) {
    this.handle = handle;
    this.#narrator = narrator;
    this.notifications = new Notifications(receiver, 'report', ({ data }) => data.job_id === jobId, narrator.notifies);
  }

  /** Shows what happens until the report has ended, and returns how it ended. */
  async end(signal: AbortSignal): Promise<ParsingJobResult> {
    let shown = 0;
    for await (const { timeline } of this.handle.watch({ ...watching, signal })) {
      for (const entry of timeline.slice(shown)) this.#narrator.happens(parsingWords(entry), entry.at);
      shown = timeline.length;
    }
    return this.handle.result();
  }
}

/** A link of a story, and what its user does in the browser. */
export class PlayedLink {
  readonly handle: LinkHandle;
  readonly #browser: LabService;
  readonly #narrator: Narrator;
  readonly #notifications: Notifications<'link'>;
  /** Settled once the line of the last answer is shown: a notification about what it says comes after it. */
  #answered: Promise<unknown> = Promise.resolve();

  constructor(handle: LinkHandle, browser: LabService, narrator: Narrator, receiver: NotificationReceiver) {
    this.handle = handle;
    this.#browser = browser;
    this.#narrator = narrator;
    this.#notifications = new Notifications(
      receiver,
      'link',
      ({ data }) => data.user_id === handle.userId,
      async (event) => {
        await this.#answered;
        narrator.notifies(event);
      },
    );
  }

  /** The user logs in on the hosted page, which is played here, and the product reports what the browser received. */
  async logIn(username: string): Promise<LinkState> {
    const { linkToken, linkWebUrl } = await this.handle.url();
    this.#narrator.acts(`the product sends the user to ${shortened(linkWebUrl)}`);
    this.#narrator.waits(linkWaits(await this.handle.state()));
    this.#narrator.acts('the user logs in there; the password goes straight to the lab service, never into Temporal');
    const credentials = { username, password: 'an-invented-password' };
    const result = await this.#browser.links.submitPassword(this.handle.provider, linkToken, credentials);
    return this.#answering(async () => {
      const state = await this.handle.reportLinkResult(result);
      this.#narrator.happens(linkStateWords(state));
      this.#narrator.waits(linkWaits(state));
      return state;
    });
  }

  /** The user types a code. Returns undefined if it was refused. */
  async submit(code: string): Promise<CodeAnswer | undefined> {
    return this.#answering(async () => {
      try {
        const answer = await this.handle.submitMfaCode({ code });
        this.#narrator.happens(codeAnswerWords(answer));
        return answer;
      } catch (error) {
        const isRefusal =
          error instanceof errors.InvalidCode ||
          error instanceof errors.LinkRefused ||
          error instanceof errors.LinkFailed;
        if (!isRefusal) throw error;
        this.#narrator.happens(`refused: ${error.message}`);
        return undefined;
      }
    });
  }

  #answering<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const answer = work();
    this.#answered = answer.catch(() => undefined);
    return answer;
  }

  /** Waits for the end of the workflow, and until the product is notified of it. */
  async end(): Promise<LinkResult> {
    const result = await this.handle.result();
    await this.#notifications.first('ended');
    return result;
  }
}

/** The health data of one user that the product finds in the store. */
export interface Found {
  /** The days of its summaries, YYYY-MM-DD. */
  days: string[];
  samples: number;
  /** How many moments the stream of the workout has; absent if there is no stream yet. */
  moments?: number;
}

type Sent = Parameters<SandboxControl['sendHealthData']>[1];

/** The health data of a customer in a story: what a watch sends, and what the product then reads. */
export class PlayedHealthData {
  readonly userId: string;
  readonly #control: SandboxControl;
  readonly #narrator: Narrator;
  readonly #url: string;
  readonly #signal: AbortSignal;

  constructor(userId: string, on: { control: SandboxControl; narrator: Narrator; url: string; signal: AbortSignal }) {
    this.userId = userId;
    this.#control = on.control;
    this.#narrator = on.narrator;
    this.#url = on.url;
    this.#signal = on.signal;
  }

  /** The watch sends something; settles when the ingress has taken it. */
  async sends(what: string, ...events: Sent[]): Promise<void> {
    this.#narrator.happens(what);
    for (const event of events) await this.#control.sendHealthData(this.userId, event);
    await this.#control.settleWebhooks();
  }

  /** The watch sends something that does not arrive before `lateArrives`. */
  async sendsLate(what: string, event: Sent): Promise<void> {
    this.#narrator.happens(what);
    await this.#control.addWebhookFault({ times: 1, action: { kind: 'hold' } });
    await this.#control.sendHealthData(this.userId, event);
  }

  async lateArrives(what: string): Promise<void> {
    this.#narrator.happens(what);
    await this.#control.releaseWebhooks();
    await this.#control.settleWebhooks();
  }

  /** The next message of this type is delivered three times. */
  async repeatNext(eventType: string): Promise<void> {
    await this.#control.addWebhookFault({
      event_type: eventType,
      times: 1,
      action: { kind: 'duplicate', copies: 2 },
    });
  }

  /** Reads a resource's samples, all summaries, and a workout's stream. */
  async found(resource: string, workoutId: string): Promise<Found> {
    const range = new URLSearchParams({ resource, from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' });
    const { summaries } = await this.#read<{ summaries: { day: string }[] }>('summaries');
    const { samples } = await this.#read<{ samples: unknown[] }>(`samples?${range.toString()}`);
    const workout = await this.#read<{ stream?: { time?: unknown[] } | null }>(`workouts/${workoutId}/stream`);
    const moments = workout.stream?.time?.length;
    return {
      days: summaries.map(({ day }) => day),
      samples: samples.length,
      ...(moments !== undefined && { moments }),
    };
  }

  /** Waits until the workout's stream was fetched. */
  async untilStreamed(resource: string, workoutId: string): Promise<Found> {
    for (;;) {
      const found = await this.found(resource, workoutId);
      if (found.moments !== undefined) return found;
      await pause(50, undefined, { signal: this.#signal });
    }
  }

  /** The body for an unknown workout is an error, which has no stream either. */
  async #read<Body>(what: string): Promise<Body> {
    const answer = await fetch(`${this.#url}/users/${this.userId}/${what}`, { signal: this.#signal });
    if (!answer.ok && answer.status !== 404) throw new Error(`the health data cannot be read: ${answer.status}`);
    return (await answer.json()) as Body;
  }
}
