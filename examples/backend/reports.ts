import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
// In your backend: '@lab-operations/client'.
import {
  errors,
  type LabOperations,
  type LabReportResult,
  type ReportHandle,
  type ReportState,
} from '../../client/index.js';
import { form, type Field } from './forms.js';
import { html, phaseLine, show, table, words, type Part } from './html.js';
import { carryOut, FieldProblem, isProblem, type Problem } from './problems.js';
import { newReference, referenceOf, userOf } from './session.js';

const file: Field = { name: 'report', label: 'File', type: 'file', hint: 'A PDF or a picture of at most 50 MB' };

/** Lab reports that the user has on paper or as a PDF. The file waits in a folder until the worker has sent it. */
export function reportRoutes(app: FastifyInstance, lab: LabOperations, folder: string): void {
  app.get('/reports', (request, reply) => reportsPage(lab, reply, userOf(request)));

  app.post('/reports', (request, reply) => {
    const userId = userOf(request);
    const act = async () => {
      const reference = newReference(userId);
      // Never a name that came with the upload.
      await keep(await uploadOf(request), folder, reference);
      await lab.reports.submit({ reference, userId, file: { path: reference } });
      return `/reports/${reference}`;
    };
    return carryOut(reply, act, (problem) => reportsPage(lab, reply, userId, problem));
  });

  app.get('/reports/:reference', async (request, reply) => {
    const report = await lab.reports.getHandle({ reference: referenceOf(request) });
    return reportPage(reply, report, await stateOf(report));
  });
}

async function uploadOf(request: FastifyRequest): Promise<MultipartFile> {
  const upload = await request.file();
  // A form without a file has an empty one, which has no name.
  if (upload === undefined || upload.filename === '') throw new FieldProblem('report', 'must be chosen');
  return upload;
}

async function keep({ file: content }: MultipartFile, folder: string, name: string): Promise<void> {
  const path = join(folder, name);
  await mkdir(folder, { recursive: true });
  await pipeline(content, createWriteStream(path, { flags: 'wx' }));
  if (!content.truncated) return;
  await rm(path);
  throw new FieldProblem('report', 'must have at most 50 MB');
}

async function reportsPage(lab: LabOperations, reply: FastifyReply, userId: string, problem?: Problem) {
  const reports: Part[][] = [];
  for await (const { reference, phase, startedAt } of lab.reports.list({ userId })) {
    if (reference === undefined) continue;
    reports.push([
      html`<a href="/reports/${reference}">${startedAt.toISOString().slice(0, 10)}</a>`,
      words(phase ?? ''),
    ]);
  }
  const content = html`${form('/reports', 'Upload', { fields: [file], problem })}
  ${table(['Uploaded', 'Now'], reports, 'You have uploaded no reports yet.')}`;
  return show(reply, 'Your reports', content, { status: problem ? 422 : 200 });
}

/** There is no state until the file was uploaded, so nobody waits for it here. */
async function stateOf(report: ReportHandle): Promise<ReportState | Problem | undefined> {
  try {
    return await report.state({ deadline: '3s' });
  } catch (error) {
    if (error instanceof errors.TimedOut) return undefined;
    if (!isProblem(error)) throw error;
    return error;
  }
}

/** A report that was read without values has none. */
async function valuesOf(report: ReportHandle): Promise<LabReportResult[]> {
  try {
    return await report.biomarkers();
  } catch (error) {
    if (error instanceof errors.ReportNotRead) return [];
    throw error;
  }
}

async function reportPage(reply: FastifyReply, report: ReportHandle, state: ReportState | Problem | undefined) {
  if (state === undefined) return show(reply, 'Your report', phaseLine('uploading'));
  if ('sentence' in state) return show(reply, 'Your report', html`<p class="fault">${state.sentence}</p>`);
  const { phase, outcome, failure } = state;
  const found = outcome === 'completed' ? await valuesOf(report) : [];
  const rows = found.map(({ test_name: name, value, units }) => [name, html`${value} ${units}`]);
  const content = html`${phaseLine(phase)} ${failure && html`<p class="fault">${failure.sentence}</p>`}
  ${outcome === 'completed' && table(['Marker', 'Value'], rows, 'The report has no values.')}`;
  return show(reply, 'Your report', content);
}
