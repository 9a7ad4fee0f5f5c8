import { z } from 'zod';
import { randomBytes } from 'node:crypto';
import { answerAbout } from '../http/answers.js';
import { isStatedAbsence, RequestInvalid, type CallFacts } from '../errors.js';
import type { Transport } from '../http/http.js';
import type { CallOptions } from '../http/calls.js';
import { parsingJobSchema, type ParsingJob } from './parsing-job.js';
import { checkedRequest, requiredTextSchema } from '../validation.js';
import type { Upload } from '../http/upload-body.js';

export { parsingFailureReasons, parsingJobSchema, parsingStatuses } from './parsing-job.js';
export type { LabReportResult, LoincMatch, ParsingJob } from './parsing-job.js';

/** The file types that the service reads (specification, Endpoints 7), and the name under which each is sent. */
const fileNames = {
  'application/pdf': 'report.pdf',
  'image/jpeg': 'report.jpg',
  'image/png': 'report.png',
} as const;

export type ReportContentType = keyof typeof fileNames;

export interface ReportFile {
  /** The detected type; the caller has checked it. */
  contentType: ReportContentType;
  /**
   * Read once, chunk by chunk as the connection takes them, and ended (`return`) if the call ends early; a stream that
   * the call did not start is left alone. The call rejects with the stream's error.
   */
  bytes: AsyncIterable<Uint8Array>;
  /** How many bytes there are; a stream with more or fewer is `RequestInvalid`. */
  size?: number;
}

/** The file is sent without its name: the name often says whose report it is, and the service does not need it. */
interface ParsingJobRequest {
  userId: string;
  /** True if a person must check the values. `ServiceRefused` with status 400 for a team that is not enabled. */
  needsHumanReview?: boolean;
  file: ReportFile;
}

interface UploadOptions extends CallOptions {
  /**
   * Milliseconds from the last byte of the form to the whole answer. Default: the configured headers and body timeouts,
   * which have no effect if it is given.
   */
  answerTimeoutMs?: number;
}

/** Lab reports that the service reads. Every call rejects with a `ServiceError`, an aborted signal's reason, or the file's own error. */
export interface Reports {
  /**
   * Uploads a file to be read; at most 10 MB by the specification, more in some deployments.
   *
   * **Not idempotent**: after `AnswerLost` or `ServiceUnavailable` there may be a job. After `ServiceUnreachable`, an
   * aborted signal or a file that failed half-way, there is none: the service had no complete request.
   * `ServiceRefused` with 400 for a wrong or empty file, 413 for one that is too large.
   */
  createJob(request: ParsingJobRequest, options?: UploadOptions): Promise<ParsingJob>;
  /** The job's current state, with all values. */
  getJob(jobId: string, options?: CallOptions): Promise<ParsingJob>;
}

/** True if the service itself answers that there is no such job; its sentence is not documented. */
export function isStatedUnknownJob(error: unknown): boolean {
  return isStatedAbsence(error, ['job', 'report']);
}

export function createReports(transport: Transport): Reports {
  return {
    createJob: (request, options) => createJob(transport, request, options),
    getJob: (jobId, options) =>
      transport.get(
        '/lab_report/v1/parser/job/{job_id}',
        { job_id: jobId },
        answerAbout(jobId, parsingJobSchema, ({ id }) => id),
        options,
      ),
  };
}

const requestSchema = z.strictObject({
  userId: requiredTextSchema,
  needsHumanReview: z.boolean().optional(),
  contentType: z.enum(Object.keys(fileNames) as ReportContentType[], {
    error: 'must be application/pdf, image/jpeg or image/png',
  }),
  size: z.int().positive('must be above zero').optional(),
});

async function createJob(
  transport: Transport,
  { file, ...request }: ParsingJobRequest,
  options?: UploadOptions,
): Promise<ParsingJob> {
  const call = { method: 'POST', path: '/lab_report/v1/parser/job' } as const;
  const { contentType, size, bytes } = file;
  const checked = checkedRequest(call, requestSchema, { ...request, contentType, size });
  const fields = {
    user_id: checked.userId,
    ...(checked.needsHumanReview === undefined ? {} : { needs_human_review: String(checked.needsHumanReview) }),
  };
  const upload = multipartForm(fields, {
    field: 'file',
    name: fileNames[checked.contentType],
    contentType: checked.contentType,
    bytes: size === undefined ? bytes : exactly(size, bytes, call),
    ...(size === undefined ? {} : { size }),
  });
  const patience = options?.answerTimeoutMs === undefined ? {} : { slowestMs: options.answerTimeoutMs };
  return transport.request({ ...call, ...patience, upload, options, answer: parsingJobSchema });
}

/** Content-Length is a promise: a body that breaks it would take the next request's bytes for its own. */
async function* exactly(
  size: number,
  bytes: AsyncIterable<Uint8Array>,
  call: CallFacts,
): AsyncGenerator<Uint8Array, void, undefined> {
  let seen = 0;
  for await (const chunk of bytes) {
    seen += chunk.length;
    if (seen > size) break;
    yield chunk;
  }
  if (seen !== size)
    throw new RequestInvalid(call, [{ field: 'file', message: 'must have as many bytes as its size says' }]);
}

/** The file of a form. `name` and `contentType` go into header lines: printable ASCII without quotes. */
interface FormFile {
  field: string;
  name: string;
  contentType: string;
  bytes: AsyncIterable<Uint8Array>;
  /** The number of bytes, if known: the request then has a Content-Length. */
  size?: number;
}

/**
 * A form with one file as multipart/form-data (RFC 7578), without undici's own FormData: that takes Blobs, which cannot
 * be made from a stream without buffering the whole file. The file comes last, so a service that reads in order knows
 * the user before the file.
 */
function multipartForm(fields: Readonly<Record<string, string>>, file: FormFile): Upload {
  // 128 random bits: neither a field nor a file can hold the boundary, by accident or on purpose.
  const boundary = `labops-${randomBytes(16).toString('hex')}`;
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${sendable(name)}"\r\n\r\n${value}\r\n`,
  );
  const disposition = `form-data; name="${sendable(file.field)}"; filename="${sendable(file.name)}"`;
  const fileHead = `--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${sendable(file.contentType)}\r\n\r\n`;
  return {
    fields: [...Object.keys(fields), file.field],
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(parts.join('') + fileHead),
    bytes: file.bytes,
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
    ...(file.size === undefined ? {} : { size: file.size }),
  };
}

/** Names are the project's own constants; one that could end its header line is a mistake in the code. */
function sendable(text: string): string {
  if (/^[\x20-\x7e]+$/.test(text) && !text.includes('"')) return text;
  throw new TypeError('the names of a form must be printable ASCII without quotes');
}
