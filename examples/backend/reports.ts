import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';
import type { LabOperations } from '../../client/index.js';
import { html, page, type Html } from './html.js';
import { newReference, referenceOf, userOf } from './session.js';

/** Lab reports that the user has on paper or as a PDF. The file waits in a folder until the worker has sent it. */
export function reportRoutes(app: FastifyInstance, lab: LabOperations, folder: string): void {
  app.get('/reports', async (request, reply) => {
    const reports: Html[] = [];
    for await (const { reference, phase } of lab.reports.list({ userId: userOf(request) })) {
      if (reference !== undefined)
        reports.push(html`<li><a href="/reports/${reference}">${reference}</a>: ${phase}</li>`);
    }
    const content = html`<form method="post" action="/reports" enctype="multipart/form-data">
        <input type="file" name="report" accept="application/pdf,image/*" /><button>Upload</button>
      </form>
      <ul>
        ${reports}
      </ul>`;
    return reply.type('text/html').send(page('Your reports', content));
  });

  app.post('/reports', async (request, reply) => {
    const userId = userOf(request);
    const upload = await request.file();
    if (upload === undefined)
      return reply
        .code(422)
        .type('text/html')
        .send(page('No file was chosen', html``));
    const reference = newReference(userId);
    // Never a name that came with the upload.
    await mkdir(folder, { recursive: true });
    await pipeline(upload.file, createWriteStream(join(folder, reference), { flags: 'wx' }));
    await lab.reports.submit({ reference, userId, file: { path: reference } });
    return reply.redirect(`/reports/${reference}`, 303);
  });

  app.get('/reports/:reference', async (request, reply) => {
    const report = await lab.reports.get({ reference: referenceOf(request) });
    const { phase, outcome, failure } = await report.state();
    const found = outcome === 'completed' ? await report.biomarkers() : [];
    const rows = found.map(
      ({ test_name: name, value, units }) =>
        html`<tr>
          <td>${name}</td>
          <td>${value} ${units}</td>
        </tr>`,
    );
    const content = html`<p id="phase">${phase}</p>
      <p>${failure?.sentence}</p>
      <table>
        ${rows}
      </table>`;
    return reply.type('text/html').send(page('Your report', content));
  });
}
