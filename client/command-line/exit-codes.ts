import { LabOperationsError, Refusal, type RefusedField } from '../errors.js';
import { KeyRingInvalid } from '../encryption/key-ring.js';
import { printable } from './output.js';
import { remedyFor } from './remedies.js';

/** What the process ends with. A signal (Ctrl-C) ends it as the shell expects. */
export const exitCodes = {
  done: 0,
  /** The command was understood and did not succeed. */
  failed: 1,
  /** The command line, a setting or a file given to it is not right: nothing was sent. */
  wrongUsage: 2,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What the command line itself has to say; its message says all. */
abstract class CommandLineError extends Error {}

/** What was given on the command line or in a file cannot be worked with. */
export class UsageError extends CommandLineError {
  override readonly name = 'UsageError';
}

/** A question was answered otherwise than with yes, or not at all: nothing was sent. */
export class NotConfirmed extends CommandLineError {
  override readonly name = 'NotConfirmed';
}

/** Temporal does not answer, or not to these credentials. */
export class TemporalUnreachable extends CommandLineError {
  override readonly name = 'TemporalUnreachable';
}

/** Temporal has taken what was sent, and no answer came. It may still be carried out. */
export class NoAnswer extends CommandLineError {
  override readonly name = 'NoAnswer';
}

/** What went wrong, for people in a line and for programs as JSON. */
export interface FailureReport {
  name: string;
  message: string;
  /** What helps. */
  remedy?: string;
  fields?: readonly RefusedField[];
  /** The lab service's HTTP status, where it was the service that refused. */
  status?: number;
}

export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof UsageError || error instanceof KeyRingInvalid ? exitCodes.wrongUsage : exitCodes.failed;
}

/** An error's text never holds a value of what was sent: see `RefusedField`. */
export function failureReport(error: unknown): FailureReport {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name } = error;
  const remedy = remedyFor(error);
  return {
    name,
    message: messageOf(error),
    ...(remedy !== undefined && { remedy }),
    ...(error instanceof Refusal && error.fields.length > 0 && { fields: error.fields }),
    ...(error instanceof Refusal && error.status !== undefined && { status: error.status }),
  };
}

/** Temporal's own errors often say only that something failed; why, says their cause. */
function messageOf(error: Error): string {
  const { message, cause } = error;
  const saysAll = error instanceof LabOperationsError || error instanceof CommandLineError;
  if (saysAll || !(cause instanceof Error) || message.includes(cause.message)) return message;
  return message === '' ? cause.message : `${message}: ${cause.message}`;
}

export function failureLine(report: FailureReport): string {
  const { name, message, fields = [], remedy } = report;
  const untold = fields.filter((field) => !message.includes(field.message));
  const named = untold.map((field) => `${field.field} ${field.message}`).join('; ');
  const said = [`${name}: ${message}`, ...(named === '' ? [] : [named])].join('; ').replaceAll(/\s+/g, ' ');
  return printable([`${said.replace(/[. ]*$/, '')}.`, ...(remedy === undefined ? [] : [remedy])].join(' '));
}
