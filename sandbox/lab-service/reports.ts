import { createHash } from 'node:crypto';
import { z } from 'zod';
import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Part } from './part.js';
import { newId, webhook } from './state.js';
import { calendarDate, type Duration } from './clock.js';
import type { Json } from './order-body.js';
import { inventedLab } from './seed.js';
import type { Settings } from './settings.js';
import { optional, pathUuid, readBody, refusal, uuid, withRule } from './validation.js';
import type { Lab } from './lab.js';

/** A change of a job; fields that are left out stay. */
export const jobMoveSchema = z.strictObject({
  /** Unknown ones too. */
  status: z.string().min(1),
  failure_reason: z.string().nullable().optional(),
  /** `sample`: three invented biomarkers; `none`: an empty list; null: no data. */
  results: z.enum(['sample', 'none']).nullable().optional(),
  is_reviewed: z.boolean().optional(),
  webhook,
});

type JobChange = Omit<z.output<typeof jobMoveSchema>, 'webhook'>;

/** After the job's creation, compressed like all delays. */
type JobStep = readonly [after: Duration, change: JobChange];

/** The webhook types of parsing jobs. */
export type ReportEventType = 'lab_report.parsing_job.created' | 'lab_report.parsing_job.updated';

/** The facts that are kept about an uploaded file; its content is not. */
export interface FileFacts {
  readonly size: number;
  readonly sha256: string;
  /** By its first bytes. */
  readonly contentType: string;
  /** As it was sent. */
  readonly name: string;
}

interface NewJob {
  readonly userId: string;
  readonly needsHumanReview: boolean;
  /** Empty for a job that was made elsewhere. */
  readonly files: readonly FileFacts[];
  readonly outcome: string;
  readonly steps: readonly JobStep[];
  /** false: no webhooks report it. Default true. */
  readonly webhook?: boolean;
}

export interface ParsingJob extends Required<Omit<NewJob, 'steps'>> {
  readonly id: string;
  readonly createdAt: number;
  status: string;
  failure_reason: string | null;
  results: 'sample' | 'none' | null;
  is_reviewed: boolean;
  /** Statuses in turn, each with its time. */
  readonly history: { readonly status: string; readonly at: number }[];
}

/** Parsing jobs and their lives. Requests are validated before they come here. */
export class Reports extends Part {
  /** In order of creation. */
  readonly jobs = new Map<string, ParsingJob>();
  /** Functions that cancel what is planned for a job. */
  readonly #plans = new Map<string, (() => void)[]>();

  /** A new job: `upload_pending` until its first step, which is also when the created event goes out. */
  create({ steps, webhook: isReported = true, ...request }: NewJob): ParsingJob {
    const now = this.lab.clock.now();
    const job: ParsingJob = {
      ...request,
      webhook: isReported,
      id: newId(),
      createdAt: now,
      status: 'upload_pending',
      failure_reason: null,
      results: null,
      is_reviewed: false,
      history: [{ status: 'upload_pending', at: now }],
    };
    this.jobs.set(job.id, job);
    this.#plans.set(
      job.id,
      steps.map(([after, change]) => this.lab.clock.schedule(after, () => this.#change(job, change))),
    );
    return job;
  }

  /** Gives a job any status. What was planned for it no longer happens. */
  move(job: ParsingJob, { webhook: isReported, ...change }: z.output<typeof jobMoveSchema>): void {
    for (const takeBack of this.#plans.get(job.id) ?? []) takeBack();
    this.#plans.delete(job.id);
    this.#change(job, change, isReported);
  }

  #change(job: ParsingJob, change: JobChange, isReported = job.webhook): void {
    const event = job.history.length === 1 ? 'created' : 'updated';
    Object.assign(job, Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)));
    job.history.push({ status: change.status, at: this.lab.clock.now() });
    if (isReported) this.lab.webhooks.announceJob(`lab_report.parsing_job.${event}`, job);
  }
}

/*
 * The outcomes of parsing jobs. The stand-in reads no report: a file names its outcome with the words
 * `labops-sandbox: <outcome>` somewhere in its first 64 KiB, and completes without them.
 */

/** The bytes in which the words of an outcome are looked for. */
export const markerBytes = 64 * 1024;
const outcomeMarker = /labops-sandbox: ?([\w:-]+)/;

export const outcomes = [
  'completed',
  'no-results',
  'failed:<reason>',
  'review',
  'review-failed:<reason>',
  'stuck',
  'unknown-status',
] as const;

/** No duration is documented: assumed, and short enough to be waited for without compression. */
const decidedAfter = '30s';
const begun: readonly JobStep[] = [
  ['1s', { status: 'started' }],
  ['5s', { status: 'processing' }],
];

/**
 * The steps of an outcome; undefined for an unknown one. A requested review puts `pending_review` between a
 * reading that went well and its end.
 */
export function stepsOf(outcome: string, needsReview: boolean): readonly JobStep[] | undefined {
  const [kind = '', failure_reason = 'processing_error'] = outcome.split(':', 2);
  const read = { status: 'completed', results: kind === 'no-results' ? 'none' : 'sample' } as const;
  const failed = { status: 'failed', failure_reason };
  const atOnce = (change: JobChange): JobStep[] => [...begun, [decidedAfter, change]];
  const afterDay = (status: string, change: JobChange): JobStep[] => [...atOnce({ status }), ['1d', change]];
  switch (kind) {
    case 'completed':
    case 'no-results':
      return needsReview ? afterDay('pending_review', { ...read, is_reviewed: true }) : atOnce(read);
    case 'review':
      return afterDay('pending_review', { ...read, is_reviewed: true });
    case 'failed':
      return atOnce(failed);
    case 'review-failed':
      return afterDay('pending_review', failed);
    case 'stuck':
      return begun.slice(0, 1);
    case 'unknown-status':
      return afterDay('quality_hold', read);
    default:
      return undefined;
  }
}

/** The job as the service shows it, in answers and in webhooks. */
export function jobBody(job: ParsingJob) {
  return {
    id: job.id,
    status: job.status,
    failure_reason: job.failure_reason,
    data: job.results === null ? null : reportData(job),
    needs_human_review: job.needsHumanReview,
    is_reviewed: job.is_reviewed,
  };
}

function reportData(job: ParsingJob): Json {
  return {
    metadata: {
      patient_first_name: 'Testperson',
      patient_last_name: 'Invented',
      dob: '1990-01-01',
      gender: 'female',
      lab_name: inventedLab.name,
      date_reported: calendarDate(job.createdAt),
      date_collected: calendarDate(job.createdAt),
      specimen_number: 'INVENTED-1',
    },
    results: job.results === 'sample' ? [aboveRange, toBeReviewed, notMatched] : [],
  };
}

const aboveRange: Json = {
  test_name: 'Hemoglobin A1c',
  value: '6.1',
  sample_type: 'serum_plasma_blood',
  measurement_kind: 'direct',
  type: 'percentage',
  units: '%',
  max_reference_range: 5.6,
  min_reference_range: 4,
  source_panel_name: 'Metabolic',
  sensitivity: 'insensitive',
  loinc_matches: [
    {
      loinc_code: '4548-4',
      loinc_name: 'Hemoglobin A1c/Hemoglobin.total in Blood',
      display_name: 'Hemoglobin A1c',
      aliases: ['HbA1c'],
      confidence_score: 0.98,
    },
  ],
  loinc_match_status: 'auto_match',
  interpretation: 'abnormal',
  is_above_max_range: true,
  is_below_min_range: false,
};

const toBeReviewed: Json = {
  ...aboveRange,
  test_name: 'Ferritin',
  value: '80',
  type: 'numeric',
  units: 'ng/mL',
  max_reference_range: 154,
  min_reference_range: 16,
  loinc_matches: [
    {
      loinc_code: '2276-4',
      loinc_name: 'Ferritin in Serum or Plasma',
      display_name: '',
      aliases: [],
      confidence_score: 0.71,
    },
    {
      loinc_code: '20567-4',
      loinc_name: 'Ferritin by Immunoassay',
      display_name: '',
      aliases: [],
      confidence_score: 0.64,
    },
  ],
  loinc_match_status: 'needs_review',
  interpretation: 'normal',
  is_above_max_range: false,
};

const notMatched: Json = {
  ...aboveRange,
  test_name: 'Invented marker',
  value: 'not detected',
  type: 'comment',
  units: null,
  max_reference_range: null,
  min_reference_range: null,
  source_panel_name: null,
  sensitivity: 'unknown',
  loinc_matches: [],
  loinc_match_status: 'no_match',
  interpretation: 'unknown',
  is_above_max_range: null,
  is_below_min_range: null,
};

/** Lab reports: uploading one, and reading what became of it. */
export function reportRoutes(app: FastifyInstance, lab: Lab): void {
  void app.register(multipart);

  // A plugin's own scope, because the form reader is there only once it is loaded.
  void app.register(async (scope) => {
    scope.post('/lab_report/v1/parser/job', async (request) => {
      const { outcome, ...upload } = await readUpload(request, lab.settings);
      if (!lab.state.users.has(upload.userId)) throw refusal(404, 'User does not exist on this team');
      const steps = stepsOf(outcome, upload.needsHumanReview);
      if (steps === undefined) throw refusal(400, `labops-sandbox: no such outcome; there are ${outcomes.join(', ')}`);
      return jobBody(lab.reports.create({ ...upload, outcome, steps }));
    });
  });

  app.get('/lab_report/v1/parser/job/:job_id', (request) => {
    const job = lab.reports.jobs.get(pathUuid(request, 'job_id'));
    // The wording is not documented; assumed.
    if (job === undefined) throw refusal(404, 'Parsing job not found');
    return jobBody(job);
  });
}

const trueWords = ['true', '1', 'yes', 'on', 't', 'y'];
const falseWords = ['false', '0', 'no', 'off', 'f', 'n'];

const uploadForm = z.object({
  user_id: uuid,
  needs_human_review: optional(
    withRule(z.string(), (value) =>
      [...trueWords, ...falseWords].includes(value.toLowerCase())
        ? undefined
        : { type: 'bool_parsing', msg: 'Input should be a valid boolean, unable to interpret input' },
    ),
  ),
  /** The files; their parts are read by themselves. */
  file: z.array(z.custom<ReadFile>()),
});

interface ReadFile {
  readonly facts: FileFacts;
  readonly outcome: string;
}

/**
 * Reads the form of `POST /lab_report/v1/parser/job` to its end, however large it is, so every caller gets to read
 * the refusal. Of the files only facts are kept. Throws the 422, 413 or 400.
 */
async function readUpload(request: FastifyRequest, settings: Settings) {
  const { values, files } = request.isMultipart() ? await readParts(request) : { values: {}, files: [] };
  const form = readBody(uploadForm, { ...values, ...(files.length > 0 && { file: files }) });
  requireReports(files, settings.reportMaxBytes);
  return {
    userId: form.user_id,
    needsHumanReview: trueWords.includes(form.needs_human_review?.toLowerCase() ?? ''),
    files: files.map(({ facts }) => facts),
    /** As the first file asks for. */
    outcome: files[0]?.outcome ?? '',
  };
}

/** The wordings are not documented; assumed. */
function requireReports(files: readonly ReadFile[], maxBytes: number): void {
  if (files.reduce((sum, { facts }) => sum + facts.size, 0) > maxBytes) {
    throw refusal(413, `File size exceeds the limit of ${maxBytes} bytes`);
  }
  for (const { facts } of files) {
    if (facts.size === 0) throw refusal(400, 'File is empty');
    if (facts.contentType === unknownType) throw refusal(400, 'Only PDF, JPEG and PNG files are supported');
  }
}

async function readParts(request: FastifyRequest): Promise<{ values: Record<string, unknown>; files: ReadFile[] }> {
  const values: Record<string, unknown> = {};
  const files: ReadFile[] = [];
  try {
    // The limit on the file is ours to count: the plugin's own would cut the file and end the connection.
    for await (const part of request.parts({ limits: { fileSize: Number.MAX_SAFE_INTEGER } })) {
      if (part.type === 'field') values[part.fieldname] = part.value;
      else if (part.fieldname === 'file') files.push(await readFile(part));
      else part.file.resume();
    }
  } catch {
    // The form broke off, or is malformed.
    throw refusal(400, 'There was an error parsing the body');
  }
  return { values, files };
}

async function readFile(part: MultipartFile): Promise<ReadFile> {
  const hash = createHash('sha256');
  const head: Buffer[] = [];
  let size = 0;
  for await (const chunk of part.file as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (size < markerBytes) head.push(chunk.subarray(0, markerBytes - size));
    size += chunk.length;
  }
  const start = Buffer.concat(head);
  const facts = { size, sha256: hash.digest('hex'), contentType: typeOf(start), name: part.filename };
  // The outcome that the first bytes of a file ask for; `completed` where they ask for none.
  return { facts, outcome: outcomeMarker.exec(start.toString('latin1'))?.[1] ?? 'completed' };
}

const unknownType = 'application/octet-stream';
const pdfType = 'application/pdf';
const signatures = [
  [Buffer.from('%PDF'), pdfType],
  [Buffer.from('ffd8ff', 'hex'), 'image/jpeg'],
  [Buffer.from('89504e470d0a1a0a', 'hex'), 'image/png'],
] as const;

function typeOf(head: Buffer): string {
  const known = signatures.find(([start]) => head.subarray(0, start.length).equals(start));
  // As readers do: a PDF's header may stand anywhere in the first 1,024 bytes.
  return known?.[1] ?? (head.subarray(0, 1_024).includes('%PDF-') ? pdfType : unknownType);
}
