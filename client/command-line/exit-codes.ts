import { invalid, refused } from '../../service/lab-operations-error.js';

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

/** The provider did not take a link's code; the answer says what comes next. */
export class CodeNotAccepted extends refused('CodeNotAccepted') {}
