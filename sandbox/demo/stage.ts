import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  errors,
  type Duration,
  type LabOperations,
  type LabService,
  type OrderPolicy,
  type Slot,
} from '../../client/index.js';
import {
  bookAppointmentId,
  deleteUserId,
  linkProviderId,
  kitOrderId,
  parsingJobId,
  workoutStreamId,
} from '../../protocol/ids.js';
import type { SandboxControl } from '../control.js';
import { samplePdf } from '../sample-report.js';
import { inventedPatient } from '../lab-service/users.js';
import { labTestIds } from '../lab-service/seed.js';
import type { Keyboard } from './screen.js';
import type { Calendar, Narrator, Voice } from './narrator.js';
import type { NotificationReceiver } from './notifications.js';
import { PlayedDeletion, PlayedLink, PlayedReport, PlayedVisit, PlayedHealthData } from './played.js';
import { address, PlayedOrder } from './played-order.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/** A story did not end as it promised. */
export class StoryFailed extends Error {
  override readonly name = 'StoryFailed';
}

export interface Story extends Voice {
  /** One sentence on what will happen. */
  promise: string;
  /** The shortest time limit, in real milliseconds, of a story that waits for the person who watches. */
  patienceMs?: number;
  /** Plays it to its end, checks that it ended as promised, and says how it ended. */
  play(stage: Stage): Promise<string>;
}

/** Shared by the stories. */
export interface Scenery {
  operations: LabOperations;
  control: SandboxControl;
  /** The lab service as the product's backend reaches it. */
  backend: LabService;
  /** The lab service as a user's browser reaches it: without an API key. */
  browser: LabService;
  receiver: NotificationReceiver;
  calendar: Calendar;
  uiUrl: string;
  /** The folder that the worker takes reports' files from. */
  reportRoot: string;
  /** The address at which the product reads the stored health data. */
  healthDataUrl: string;
  placing: OneAtATime;
  keyboard: Keyboard;
}

/** Runs one piece of work after the other. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }
}

/** The stage of one story, on which the demo is the product's backend, its operator, and the customer. */
export class Stage {
  readonly control: SandboxControl;
  readonly #scenery: Scenery;
  readonly #narrator: Narrator;
  readonly #label: string;
  /** Aborted when the story is over. */
  readonly signal: AbortSignal;
  readonly #broken: (error: Error) => void;
  #uiUrl: string | undefined;

  /** @param broken is called when an order can no longer be followed */
  constructor(scenery: Scenery, voice: Voice, narrator: Narrator, signal: AbortSignal, broken: (error: Error) => void) {
    this.control = scenery.control;
    this.#scenery = scenery;
    this.#narrator = narrator;
    this.#label = voice.label;
    this.signal = signal;
    this.#broken = broken;
  }

  /** The Web UI's page of the workflow, once it was started. */
  get uiUrl(): string | undefined {
    return this.#uiUrl;
  }

  /**
   * The product places an order for a kit.
   * @param policy in days of the story
   * @param lostAnswer the lab service makes the kit, and its answer gets lost
   */
  async place(policy: OrderPolicy = {}, { lostAnswer = false } = {}): Promise<PlayedOrder> {
    const { control, operations, calendar } = this.#scenery;
    const { user } = await control.createUser();
    const order = { user_id: user.user_id, lab_test_id: labTestIds.kit, shipping_details: address };
    // One after the other, so the right answer is lost.
    const handle = await this.#scenery.placing.run(async () => {
      if (lostAnswer) await control.addFault({ ...creation, times: 1, action: { kind: 'drop_response' } });
      this.#narrator.begin();
      this.acts('the product places an order for a kit');
      const placed = await operations.orders.place({
        reference: `demo-${this.#label.replaceAll(' ', '-')}`,
        kind: 'unregistered',
        order,
        policy: calendar.policy(policy),
      });
      if (lostAnswer) await this.#answerLost();
      else await placed.orderId();
      return placed;
    });
    const played = new PlayedOrder(handle, await handle.orderId(), {
      control,
      narrator: this.#narrator,
      receiver: this.#scenery.receiver,
      signal: this.signal,
      lost: this.#lost,
    });
    this.#showPageOf(kitOrderId(played.orderId));
    return played;
  }

  /** The product stores a customer's lab report and submits it. */
  async submitReport(lines: readonly string[], { needsHumanReview = false } = {}): Promise<PlayedReport> {
    const { control, operations, reportRoot, receiver } = this.#scenery;
    const reference = `demo-${this.#label.replaceAll(' ', '-')}`;
    const { user } = await control.createUser();
    const path = `${reference}.pdf`;
    const pdf = samplePdf(lines);
    await writeFile(join(reportRoot, path), pdf);
    this.#narrator.begin();
    this.acts(`the product stores the report, a PDF of ${pdf.length} bytes, and submits it`);
    const handle = await operations.reports.submit({
      reference,
      userId: user.user_id,
      file: { path },
      needsHumanReview,
    });
    const jobId = await handle.jobId();
    this.#showPageOf(parsingJobId(jobId));
    return new PlayedReport(handle, jobId, this.#narrator, receiver);
  }

  /** A new customer wears a watch that is connected to the lab service. */
  async wearer(): Promise<PlayedHealthData> {
    const { control, healthDataUrl } = this.#scenery;
    const { user_id: userId } = (await control.createUser()).user;
    this.#narrator.begin();
    return new PlayedHealthData(userId, { control, narrator: this.#narrator, url: healthDataUrl, signal: this.signal });
  }

  /** The Web UI's page of the workflow that fetches a workout's stream. */
  showStreamOf(workoutId: string): void {
    this.#showPageOf(workoutStreamId(workoutId));
  }

  /**
   * The product deletes a new user.
   * @param connected the providers that the user is connected to
   */
  async deleteNewUser(connected: string[] = []): Promise<PlayedDeletion> {
    const { control } = this.#scenery;
    const { user_id: userId } = (await control.createUser()).user;
    for (const provider of connected) await control.connect(userId, { provider, webhook: false });
    this.#narrator.begin();
    const deletion = await this.deleteUser(userId, '7d');
    this.#showPageOf(deleteUserId(userId));
    return deletion;
  }

  /**
   * The product deletes a user.
   * @param grace in the story's time
   */
  async deleteUser(userId: string, grace: Duration): Promise<PlayedDeletion> {
    const { operations, calendar, receiver } = this.#scenery;
    this.acts('the product deletes the customer');
    const handle = await operations.users.requestDeletion({
      userId,
      // A resolved one: its grace may be shorter than a person's could be.
      policy: {
        ...resolvePolicy('deletion'),
        grace: calendar.compressed(grace),
        reminderBefore: calendar.compressed('3d'),
      },
    });
    return new PlayedDeletion(handle, this.#narrator, receiver);
  }

  /** True if the lab service knows the user. */
  async isUser(userId: string): Promise<boolean> {
    return this.#scenery.operations.users.read(userId).then(
      () => true,
      (error: unknown) => {
        if (error instanceof errors.NotFound) return false;
        throw error;
      },
    );
  }

  /** Waits until the lab service has erased a deleted user's data. */
  async untilErased(userId: string): Promise<void> {
    const isKept = async (): Promise<boolean> =>
      (await this.control.deletedUsers()).some((deleted) => deleted.user_id === userId);
    while (await isKept()) await pause(50, undefined, { signal: this.signal });
  }

  /** The product starts a link of a new user with a provider. */
  async link(provider: string): Promise<PlayedLink> {
    const { control, operations, browser, receiver } = this.#scenery;
    const { user } = await control.createUser();
    this.#narrator.begin();
    this.acts(`the product starts a link of a user with ${provider}`);
    const handle = await operations.links.start({ userId: user.user_id, provider });
    this.#showPageOf(linkProviderId(user.user_id, provider));
    return new PlayedLink(handle, browser, this.#narrator, receiver);
  }

  /** A new customer has ordered a draw at home, and the product arranges the appointment. */
  async visit(): Promise<PlayedVisit> {
    const { operations, receiver } = this.#scenery;
    this.#narrator.begin();
    this.acts('a customer has ordered a blood draw at home; the product asks for free slots');
    const orderId = await this.#orderOfDraw();
    const handle = await operations.appointments.start({ orderId });
    this.#showPageOf(bookAppointmentId(orderId));
    return new PlayedVisit(handle, this.#narrator, receiver);
  }

  /** Another customer of the neighbourhood books a slot. */
  async takeSlotAway({ id }: Slot): Promise<void> {
    const other = await this.#scenery.operations.appointments.start({ orderId: await this.#orderOfDraw() });
    await other.choose({ slotId: id });
  }

  async #orderOfDraw(): Promise<string> {
    const { control, backend } = this.#scenery;
    const { user } = await control.createUser();
    const { order } = await backend.orders.create({
      user_id: user.user_id,
      lab_test_id: labTestIds.atHomePhlebotomy,
      patient_details: inventedPatient,
      patient_address: address,
    });
    return order.id;
  }

  /** The answer of the person who watches; undefined if there is nobody, or no answer came in time. */
  async typed(question: string): Promise<string | undefined> {
    const { keyboard } = this.#scenery;
    const inTime = `(within ${keyboard.withinMs / 1000} s; otherwise it is typed for you):`;
    return keyboard.ask(this.#narrator.question(`${question} ${inTime}`), this.signal);
  }

  /** The product, its operator or the customer does something. */
  acts(text: string): void {
    this.#narrator.acts(text);
  }

  /** Waits for some days of the story. */
  async days(count: number): Promise<void> {
    await pause(count * this.#scenery.calendar.dayMs, undefined, { signal: this.signal });
  }

  /** Waits long enough for a line to be read, however short a day is. */
  async moment(): Promise<void> {
    await pause(Math.min(this.#scenery.calendar.dayMs, longestMomentMs), undefined, { signal: this.signal });
  }

  /** The order can no longer be followed, so its story cannot succeed. */
  readonly #lost = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    this.#broken(new StoryFailed(`the order could not be followed: ${reason}`, { cause: error }));
  };

  async #answerLost(): Promise<void> {
    const isLost = async (): Promise<boolean> =>
      (await this.control.requests(creation)).some(({ outcome }) => outcome === 'dropped');
    while (!(await isLost())) await pause(50, undefined, { signal: this.signal });
    this.acts('the lab makes the kit, but its answer never arrives');
  }

  #showPageOf(workflowId: string): void {
    // Workflow IDs hold a slash.
    this.#uiUrl = `${this.#scenery.uiUrl}/namespaces/default/workflows/${encodeURIComponent(workflowId)}`;
    this.#narrator.address(this.#uiUrl);
  }

  /** @throws StoryFailed */
  check(claim: string, holds: boolean): void {
    if (!holds) throw new StoryFailed(`this should be true, but is not: ${claim}`);
  }
}

const longestMomentMs = 1_000;

const creation = { method: 'POST', path: '/v3/order/testkit' } as const;
