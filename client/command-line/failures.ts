import { CallTooLarge, InputInvalid, LabOperationsError, Refusal, type RefusedField } from '../errors.js';
import { RegistrationRefused } from '../orders/errors.js';
import { EncryptionSettingInvalid, InstallationInvalid, TemporalSettingInvalid } from '../config.js';
import { KeyRingInvalid } from '../encryption/key-ring.js';
import { CommandLineError, type ExitCode, exitCodes, Interrupted, UsageError } from './exit-codes.js';
import { printable } from './output.js';

/*
 * How errors are reported. To know those of the client is to load Temporal's client, so this is imported when something has failed:
 * a help text appears at once.
 */

/** A failure, shown to people in one line and to programs as JSON. */
export interface FailureReport {
  name: string;
  message: string;
  /** The remedy. */
  remedy?: string;
  /** The lab service's own sentence. */
  sentence?: string;
  fields?: readonly RefusedField[];
  /** The lab service's HTTP status, if the service refused. */
  status?: number;
}

const settingFaults = [
  UsageError,
  KeyRingInvalid,
  EncryptionSettingInvalid,
  InstallationInvalid,
  TemporalSettingInvalid,
];

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return exitCodes.interrupted;
  const isSetting = settingFaults.some((fault) => error instanceof fault);
  return isSetting || isInvalidInput(error) ? exitCodes.wrongUsage : exitCodes.failed;
}

/** A registration that breaks a rule never reaches the service, whose refusal has a status. */
function isInvalidInput(error: unknown): boolean {
  if (error instanceof RegistrationRefused) return error.status === undefined;
  return error instanceof InputInvalid || error instanceof CallTooLarge;
}

/** The report that the operator reads. It shows the service's sentences, which no error's message holds. */
export function failureReport(error: unknown): FailureReport {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name } = error;
  const remedy = remedyOf(error);
  return {
    name,
    message: messageOf(error),
    ...(remedy !== undefined && { remedy }),
    ...(error instanceof Refusal && error.sentence !== undefined && { sentence: error.sentence }),
    ...(error instanceof Refusal && error.fields.length > 0 && { fields: error.fields }),
    ...(error instanceof Refusal && error.status !== undefined && { status: error.status }),
  };
}

/** The remedy of an error, as its class states it. */
export function remedyOf(error: Error): string | undefined {
  const { remedy } = error.constructor as { remedy?: unknown };
  return typeof remedy === 'string' ? remedy : undefined;
}

/** True if the error's message says what to do. */
function isAdvising(error: unknown): boolean {
  return error instanceof LabOperationsError && (error.constructor as typeof LabOperationsError).advises;
}

/** Temporal's own errors often only say that something failed; their cause has the reason. */
function messageOf(error: Error): string {
  const { message, cause } = error;
  const isComplete = error instanceof LabOperationsError || error instanceof CommandLineError;
  if (isComplete || !(cause instanceof Error) || message.includes(cause.message)) return message;
  return message === '' ? cause.message : `${message}: ${cause.message}`;
}

/** One line for people: the advice is given once. */
export function failureLine(error: unknown): string {
  const { name, message, sentence = '', fields = [], ...report } = failureReport(error);
  const remedy = isAdvising(error) ? undefined : report.remedy;
  const unmentioned = fields.filter((field) => !message.includes(field.message));
  const named = unmentioned.map((field) => `${field.field} ${field.message}`).join('; ');
  const parts = [`${name}: ${message}`, sentence, named].filter((part) => part !== '');
  const text = parts.join('; ').replaceAll(/\s+/g, ' ');
  return printable([`${text.replace(/[. ]*$/, '')}.`, ...(remedy === undefined ? [] : [remedy])].join(' '));
}
