import { setTimeout as pause } from 'node:timers/promises';
import type { SandboxControl } from '../control.js';
import type { Narrator } from './narrator.js';

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
