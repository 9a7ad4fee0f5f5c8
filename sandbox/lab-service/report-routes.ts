import { createHash } from 'node:crypto';
import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { markerBytes, outcomes, outcomeIn, stepsOf, type FileFacts, jobBody } from './reports.js';
import type { Settings } from './settings.js';
import { refusal, optional, pathUuid, readBody, uuid, withRule } from './validation.js';
import type { Lab } from './lab.js';

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
  return { facts, outcome: outcomeIn(start) };
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
