import type { z } from 'zod';
import * as testing from '../client/testing.js';
import type { Commands } from './lab-service/control.js';

export type { RevealedOrder } from './lab-service/control-orders.js';

/**
 * The control interface of the stand-in, with a method for each of its commands. Here happens what the outside world
 * does; what a product does goes to the service's own endpoints. Durations are milliseconds or text such as `'90m'`.
 */
export type SandboxControl = {
  readonly [Name in keyof Commands]: (
    ...args: z.input<Commands[Name]['input']>
  ) => Promise<Awaited<ReturnType<Commands[Name]['run']>>>;
};

/** @param baseUrl the `url` of `startLabService` */
export function sandboxControl(baseUrl: string): SandboxControl {
  return testing.sandboxControl<SandboxControl>(baseUrl);
}
