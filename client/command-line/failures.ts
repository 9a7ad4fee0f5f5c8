import { LabOperationsError, type RefusedField, invalid, refused } from '../../service/lab-operations-error.js';
import { printable } from './output.js';

/** A failure, as programs read it: the fields of our errors, and of others the name and the message. */
export interface FailureReport extends Partial<ReturnType<LabOperationsError['toJSON']>> {
  name: string;
  message: string;
  /** All of it, as people read it. */
  sentence?: string;
  /** The lab service's own sentence. */
  serviceSentence?: string | undefined;
  fields?: readonly RefusedField[];
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  return error instanceof LabOperationsError && error.kind === 'invalid' ? exitCodes.wrongUsage : exitCodes.failed;
}

/** The report that the operator reads. It shows the service's sentences, which no error's message holds. */
export function failureReport(error: unknown): FailureReport {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  if (!(error instanceof LabOperationsError)) return { name: error.name, message: messageOf(error) };
  const { fields, sentence, serviceSentence } = error;
  return { ...error.toJSON(), fields, sentence, serviceSentence };
}

/** Temporal's own errors often only say that something failed; their cause has the reason. */
function messageOf({ message, cause }: Error): string {
  if (!(cause instanceof Error) || message.includes(cause.message)) return message;
  return message === '' ? cause.message : `${message}: ${cause.message}`;
}

/** One line for people. */
export function failureLine(error: unknown): string {
  const { name, message, sentence = `${message.replace(/[. ]*$/, '')}.` } = failureReport(error);
  return printable(`${name}: ${sentence.replaceAll(/\s+/g, ' ')}`);
}

/** The process's exit codes. A command that only reads has none for Ctrl-C: the signal ends its process. */
export const exitCodes = {
  done: 0,
  /** The command was understood and did not succeed. */
  failed: 1,
  /** The command line, a setting or a file is not valid: nothing was sent. */
  wrongUsage: 2,
  /** Ctrl-C, as the shell counts it: 128 and the signal's number. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command that has said all there is to say. */
export class Ended extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`Ended with ${status}`);
    this.status = status;
  }
}

/* The errors of the command line itself. */

/** The command line, or a file named on it, is not valid. */
export class UsageError extends invalid('UsageError', 'See --help.') {}

/** A confirmation was not answered with yes: nothing was sent. */
export class NotConfirmed extends refused('NotConfirmed') {}

/** Ctrl-C ended a command that may have sent something; the message says what may continue, and which command ends or shows it. */
export class Interrupted extends refused('Interrupted') {}

/** Some of many orders were not changed; the answer says which, and why. */
export class NotAllChanged extends refused(
  'NotAllChanged',
  'Once the reasons are corrected, repeat the command: it changes nothing twice.',
) {}

/** An export is incomplete; the answer says what is missing, and why. */
export class NotAllRead extends refused('NotAllRead', 'Once the reasons are corrected, export again.') {}

/** The provider did not take a link's code; the answer says what comes next. */
export class CodeNotAccepted extends refused('CodeNotAccepted') {}
