import type { FastifyInstance, FastifyRequest } from 'fastify';
import { controlBody, dashboardJobSchema, jobMoveSchema } from './control-requests.js';
import { createInventedUser } from './invented-user.js';
import type { Lab } from './lab.js';
import type { Json } from './order-body.js';
import { pathUuid } from './path-ids.js';
import { ServiceProblem } from './problems.js';
import { jobBody } from './report-body.js';
import { OUTCOMES, stepsOf } from './report-outcomes.js';
import type { ParsingJob } from './reports.js';

/** The part of the control surface that is about parsing jobs. */
export function controlReportRoutes(app: FastifyInstance, lab: Lab): void {
  app.get('/_sandbox/reports', () => ({ jobs: [...lab.reports.jobs.values()].map((job) => revealed(lab, job)) }));
  app.get('/_sandbox/reports/:job_id', (request) => revealed(lab, requireJob(lab, request)));

  app.post('/_sandbox/reports', (request) => revealed(lab, dashboardJob(lab, request.body)));

  app.post('/_sandbox/reports/:job_id/move', (request) => {
    const job = requireJob(lab, request);
    const { status, failure_reason, results, is_reviewed, webhook } = controlBody(jobMoveSchema, request.body);
    const change = {
      status,
      ...(failure_reason === undefined ? {} : { failureReason: failure_reason }),
      ...(results === undefined ? {} : { results }),
      ...(is_reviewed === undefined ? {} : { isReviewed: is_reviewed }),
    };
    lab.reports.move(job, change, webhook);
    return revealed(lab, job);
  });

  app.delete('/_sandbox/reports/:job_id', (request) => {
    lab.reports.remove(requireJob(lab, request));
    return {};
  });
}

/** The job as the service shows it, and what the service does not show. */
function revealed(lab: Lab, job: ParsingJob): Json {
  return {
    id: job.id,
    job: jobBody(job, lab.settings.current),
    user_id: job.userId,
    outcome: job.outcome,
    files: job.files,
    history: job.history.map(({ status, at }) => ({ status, at: new Date(at).toISOString() })),
  };
}

function requireJob(lab: Lab, request: FastifyRequest): ParsingJob {
  const id = pathUuid(request, 'job_id');
  const job = lab.reports.jobs.get(id);
  if (job === undefined) throw new ServiceProblem(404, { error: `there is no parsing job ${id}` });
  return job;
}

/** A job that no product made: somebody uploaded the file elsewhere. */
function dashboardJob(lab: Lab, body: unknown): ParsingJob {
  const request = controlBody(dashboardJobSchema, body ?? {});
  const { outcome, needs_human_review: needsHumanReview, webhook } = request;
  const userId = request.user_id ?? createInventedUser(lab, true).id;
  if (!lab.state.users.has(userId)) throw new ServiceProblem(400, { error: `there is no user ${userId}` });
  const steps = stepsOf(outcome, needsHumanReview);
  if (steps === undefined) {
    throw new ServiceProblem(400, { error: `no outcome "${outcome}"; there are ${OUTCOMES.join(', ')}` });
  }
  return lab.reports.create({ userId, needsHumanReview, files: [], outcome, steps, webhook });
}
