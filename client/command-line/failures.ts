import { LabOperationsError, type RefusedField } from '../../service/lab-operations-error.js';
import { type ExitCode, exitCodes, Interrupted } from './exit-codes.js';
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
