import { expect } from 'vitest';
import { eventually } from '../rig/eventually.js';

interface Shown<State> {
  state(): Promise<State>;
}

/** Waits until the state has all this. */
export async function stateWith<State>(shown: Shown<State>, expected: Partial<State>): Promise<State> {
  return eventually(async () => {
    const state = await shown.state();
    expect(state).toMatchObject(expected);
    return state;
  });
}

/** What a story waits for at one workflow. */
export abstract class Watched<State extends { attention: readonly { reason: string }[] }> {
  private readonly shown: Shown<State>;

  constructor(shown: Shown<State>) {
    this.shown = shown;
  }

  /** The notifications about it in brief, in the order in which they came. */
  abstract get notified(): string[];

  /** Waits until the state has all this. */
  async expectState(expected: Partial<State>): Promise<State> {
    return stateWith(this.shown, expected);
  }

  /** Waits until it needs attention for exactly these reasons. */
  async expectAttention(...reasons: State['attention'][number]['reason'][]): Promise<void> {
    await eventually(async () => {
      const { attention } = await this.shown.state();
      expect(attention.map(({ reason }) => reason)).toEqual(reasons);
    });
  }

  /** Waits until the product has been notified of exactly this. */
  async expectNotifications(...expected: string[]): Promise<void> {
    await eventually(() => expect(this.notified).toEqual(expected));
  }
}
