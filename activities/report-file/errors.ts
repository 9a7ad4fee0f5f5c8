/**
 * Why a report's file cannot be uploaded. Messages carry no path of the machine, no query of a URL, no host and no
 * header: they reach logs and a workflow's history.
 */

/** It will not get better by itself: the reference, the file or the configuration has to change. */
type ReportFileRefusal =
  /** Nothing at the path, or 404 or 410 at the URL. */
  | 'not_found'
  /** The path, or the target of its links, is not below the root; or there is no root. */
  | 'outside_root'
  /** A directory, pipe, device or socket. */
  | 'not_a_file'
  /** The worker must not read the path, or 401, 403 or 407 at the URL. */
  | 'access_denied'
  | 'empty'
  | 'too_large'
  /** Not a PDF, JPEG or PNG by its content. */
  | 'wrong_type'
  /** A PDF that asks for a password, or restricts what readers may do. */
  | 'encrypted'
  /** Not http or https, with credentials in it, a step from https down to http, or not a host of the header set. */
  | 'url_not_allowed'
  /** The host has an address that is not public, and is not among the allowed hosts. */
  | 'private_address'
  | 'too_many_redirects'
  | 'header_set_unknown'
  /** The host answered with a status without a file, with more bytes than it announced, or in a coding that cannot be undone. */
  | 'unexpected_answer';

/** The file may be there later, or be read whole the next time. */
type ReportFileTrouble =
  /** No connection to the host, or no address for it. */
  | 'unreachable'
  /** The host stood still for longer than the idle timeout. */
  | 'timeout'
  /** The host did not stall but was slower than 10 MiB in two minutes. */
  | 'too_slow'
  /** 408, 425, 429 or 5xx. */
  | 'host_failed'
  /** Fewer bytes than promised, or the connection broke. */
  | 'broken_off'
  /** It changed while it was read. */
  | 'changed'
  /** The file system failed. */
  | 'not_readable';

export class ReportFileRefused extends Error {
  override readonly name = 'ReportFileRefused';
  readonly reason: ReportFileRefusal;

  constructor(reason: ReportFileRefusal, sentence: string) {
    super(`The report's file was refused (${reason}): ${sentence}`);
    this.reason = reason;
  }
}

export class ReportFileUnavailable extends Error {
  override readonly name = 'ReportFileUnavailable';
  readonly reason: ReportFileTrouble;
  /** Milliseconds that the host asks to wait, if it does. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: ReportFileTrouble, sentence: string, retryAfterMs?: number) {
    super(`The report's file cannot be read now (${reason}): ${sentence}`);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A code such as ECONNREFUSED, for a sentence; the message itself may name a path or an address. */
export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
