import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import type { Lab } from './lab.js';
import { pathUuid } from './validation.js';
import { refusal } from './problems.js';
import { jobBody } from './report-body.js';
import { OUTCOMES, stepsOf } from './report-outcomes.js';
import { readUpload } from './report-upload.js';

/** Lab reports: uploading one, and reading what became of it. */
export function reportRoutes(app: FastifyInstance, lab: Lab): void {
  void app.register(multipart);

  // A plugin's own scope, because the form reader is there only once it is loaded.
  void app.register(async (scope) => {
    scope.post('/lab_report/v1/parser/job', async (request) => {
      const settings = lab.settings;
      const { outcome, ...upload } = await readUpload(request, settings);
      if (!lab.state.users.has(upload.userId)) throw refusal(404, 'User does not exist on this team');
      if (upload.needsHumanReview && !settings.reportHumanReview) {
        throw refusal(400, 'Human review is not supported yet for your team please contact support');
      }
      const { maxReports } = settings;
      if (maxReports !== null && lab.reports.jobs.size >= maxReports) {
        const limit = `Sandbox lab report parsing is limited to ${maxReports} reports.`;
        // The status is not documented; assumed.
        throw refusal(400, `${limit} Please upgrade your contract to continue.`);
      }
      const steps = stepsOf(outcome, upload.needsHumanReview);
      if (steps === undefined) throw refusal(400, `labops-sandbox: no such outcome; there are ${OUTCOMES.join(', ')}`);
      return jobBody(lab.reports.create({ ...upload, outcome, steps }), settings);
    });
  });

  app.get('/lab_report/v1/parser/job/:job_id', (request) => {
    const job = lab.reports.jobs.get(pathUuid(request, 'job_id'));
    // The wording is not documented; assumed.
    if (job === undefined) throw refusal(404, 'Parsing job not found');
    return jobBody(job, lab.settings);
  });
}
