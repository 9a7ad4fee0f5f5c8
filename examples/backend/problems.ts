import type { FastifyReply } from 'fastify';
// In your backend: '@lab-operations/client'.
import { errors } from '../../client/index.js';

/** What a form shows beside its fields. It may quote the person: it is shown to them, and never logged. */
export type Problem = Pick<errors.LabOperationsError, 'sentence' | 'fields'>;

/** True if it is for a person to put right. An outage and a wrong setting are not: they are logged, and answered with an apology. */
export function isProblem(error: unknown): error is errors.LabOperationsError {
  return error instanceof errors.LabOperationsError && !['unavailable', 'misconfigured'].includes(error.kind);
}

/** A problem that the backend itself found in one field. */
export class FieldProblem extends errors.LabOperationsError {
  static override readonly errorName = 'FieldProblem';
  static override readonly kind = 'invalid';

  constructor(field: string, message: string) {
    super(`${field} ${message}`, { fields: [{ field, message }] });
  }
}

/** Carries out what a form asks for and goes on to another page. If it is refused, `again` shows the form with the problem. */
export async function carryOut(
  reply: FastifyReply,
  act: () => Promise<string>,
  again: (problem: Problem) => Promise<FastifyReply> | FastifyReply,
): Promise<FastifyReply> {
  let path: string;
  try {
    path = await act();
  } catch (error) {
    if (!isProblem(error)) throw error;
    return again(error);
  }
  return reply.redirect(path, 303);
}
