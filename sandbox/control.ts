import type { z } from 'zod';
import type { Commands } from './lab-service/control.js';

export type { RevealedOrder } from './lab-service/control-orders.js';

type Methods = {
  readonly [Name in keyof Commands]: (
    ...args: z.input<Commands[Name]['input']>
  ) => Promise<Awaited<ReturnType<Commands[Name]['run']>>>;
};

/**
 * The control interface of the stand-in, with a method for each of its commands. Here happens what the outside world
 * does; what a product does goes to the service's own endpoints. Durations are milliseconds or text such as `'90m'`.
 */
export interface SandboxControl extends Methods {
  /**
   * Refuses every connection for so many real milliseconds, also to this interface; then the stand-in is back with all
   * that it knew. Resolves when it is away. Webhooks and stories go on.
   */
  goOffline(forMs: number): Promise<void>;
}

/** The control interface refused a command: the message says which and why. */
class SandboxControlError extends Error {
  override readonly name = 'SandboxControlError';
}

/** @param baseUrl the `url` of `startLabService` */
export function sandboxControl(baseUrl: string): SandboxControl {
  const call = async (command: string, args: readonly unknown[]): Promise<unknown> => {
    const answer = await fetch(`${baseUrl.replace(/\/$/, '')}/_sandbox/${command}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    });
    const text = await answer.text();
    if (answer.ok) return (JSON.parse(text) as unknown) ?? undefined;
    const { error, detail = text } = JSON.parse(text) as { error?: string; detail?: string };
    throw new SandboxControlError(`the command ${command} was answered ${answer.status}: ${error ?? detail}`);
  };
  return new Proxy({} as SandboxControl, {
    // It must not pass for a promise.
    get: (_, name) =>
      typeof name === 'symbol' || name === 'then' ? undefined : (...args: unknown[]) => call(name, args),
  });
}
