import type { FastifyReply } from 'fastify';
// In your backend: '@lab-operations/client'.
import { Refusal, RequestInvalid, ServiceRefused } from '../../client/index.js';

/** A field and what is wrong with it. */
interface Fault {
  field: string;
  message: string;
}

/** What a person can put right. It may quote the person: it is shown to them, and never logged. */
export interface Problem {
  sentence: string;
  faults: readonly Fault[];
}

/**
 * What is wrong, if it is for a person to put right: a workflow refused a command, the lab service refused a direct call, or the
 * client found a fault before it sent anything. Everything else is a fault of ours.
 */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Refusal) return problem(error.sentence, error.message, error.fields);
  if (error instanceof ServiceRefused) return problem(error.reason, error.message, error.fields);
  if (!(error instanceof RequestInvalid)) return undefined;
  return problem(
    undefined,
    error.message,
    error.fields.map(({ field, rule }) => ({ field, message: rule })),
  );
}

function problem(sentence: string | undefined, message: string, faults: readonly Fault[]): Problem {
  // In your backend: words of yours for each class of error. The message is for its developers, and names the fields once more.
  return { sentence: sentence ?? (faults.length > 0 ? 'Please correct this:' : message), faults };
}

/** A problem that the backend itself found in one field. */
export class FieldProblem extends Error {
  readonly problem: Problem;

  constructor(field: string, message: string) {
    super(`${field} ${message}`);
    this.problem = { sentence: 'Please correct this:', faults: [{ field, message }] };
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
    const problem = error instanceof FieldProblem ? error.problem : problemOf(error);
    if (problem === undefined) throw error;
    return again(problem);
  }
  return reply.redirect(path, 303);
}
