import type { CancelCommand, RegisterCommand, ReplaceKitCommand, ResolveProblemCommand } from './messages.js';

/** What the product asks for. The order it means is settled when it arrives, not when its turn comes. */
export type Command =
  | ({ kind: 'register' } & Meant<RegisterCommand>)
  | ({ kind: 'cancel' } & Meant<CancelCommand>)
  | ({ kind: 'resolveProblem' } & Meant<ResolveProblemCommand>)
  | ({ kind: 'replaceKit' } & Meant<ReplaceKitCommand>);

type Meant<T> = T & { orderId: string };
