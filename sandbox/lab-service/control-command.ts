import { z } from 'zod';
import { createInventedUser } from './users.js';
import type { Lab } from './lab.js';
import { ServiceProblem } from './validation.js';
import type { Order, User } from './state.js';

/**
 * A command of the control interface: its arguments, and what it does with them. Names that the service has keep its
 * spelling (`order_id`, `status_detail`); the stand-in's own are in camel case (`daySeconds`, `delayMs`).
 */
export interface Command<Input extends z.ZodTuple = z.ZodTuple, Output = unknown> {
  readonly input: Input;
  readonly run: (...args: z.output<Input> & unknown[]) => Output;
}

export function command<Input extends z.ZodTuple, Output>(
  input: Input,
  run: (...args: z.output<Input> & unknown[]) => Output,
): Command<Input, Output> {
  return { input, run };
}

/** @throws the 400 that names what does not fit */
export function argumentsOf<Input extends z.ZodTuple>(input: Input, body: unknown): z.output<Input> {
  const parsed = input.safeParse(listed(body, input.def.items.length));
  if (!parsed.success) throw refused(z.prettifyError(parsed.error));
  return parsed.data;
}

/** As many as there are parameters, so missing ones get their defaults. */
function listed(body: unknown, length: number): unknown[] {
  const given: readonly unknown[] = Array.isArray(body) ? body : [body];
  return Array.from(
    { length: Math.max(length, body === undefined ? 0 : given.length) },
    (_, n) => given[n] ?? undefined,
  );
}

/** An object, or only its first field as a text: `'transit_lab'` for `{ status: 'transit_lab' }`. */
export function orText<Schema extends z.ZodObject>(schema: Schema, field: keyof z.input<Schema> & string) {
  return z
    .union([z.string(), schema])
    .transform((value) => (typeof value === 'string' ? schema.parse({ [field]: value }) : value));
}

/** The command cannot be carried out: 400 with a sentence. */
export function refused(error: string, status = 400): ServiceProblem {
  return new ServiceProblem(status, { error });
}

/** @throws the 404 that names what is missing */
export function required<Found>(found: Found | undefined, name: string): Found {
  if (found === undefined) throw refused(`there is no ${name}`, 404);
  return found;
}

export function requiredUser(lab: Lab, id: string): User {
  return required(lab.state.users.get(id.toLowerCase()), `user ${id}`);
}

export function requiredOrder(lab: Lab, id: string): Order {
  return required(lab.state.orders.get(id.toLowerCase()), `order ${id}`);
}

/** The id of the named user, or of a new one. */
export function userIdOrNew(lab: Lab, id: string | undefined): string {
  return id === undefined ? createInventedUser(lab, true).id : requiredUser(lab, id).id;
}
