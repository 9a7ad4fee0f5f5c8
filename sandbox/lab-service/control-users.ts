import { z } from 'zod';
import { announceConnection, announceError, breakConnection, connect, connectedSource } from './connections.js';
import { webhook } from './state.js';
import { command, orText, refused, required, requiredUser, userIdOrNew, requiredOrder } from './control-command.js';
import { healthDataSchema, sendHealthData } from './health-data.js';
import type { Lab } from './lab.js';
import { jobMoveSchema, jobBody, outcomes, stepsOf, type ParsingJob } from './reports.js';
import { createInventedUser, deleteUser, userBody } from './users.js';
import { matchReviewBody, newReviewSchema, reviewMoveSchema } from './match-reviews.js';

const newUserSchema = z.strictObject({
  /** Default: an invented one. */
  client_user_id: z.string().optional(),
  /** true (default): invented demographics; false: none. */
  demographics: z.boolean().default(true),
});

const newJobSchema = z.strictObject({
  /** Default: a new user with demographics. */
  user_id: z.uuid().optional(),
  needs_human_review: z.boolean().default(false),
  /** As a file's marker names it. */
  outcome: z.string().default('completed'),
  /** false: no webhook reports it, now or later. */
  webhook,
});

const connectionSchema = z.strictObject({
  provider: z.string().min(1),
  /** A timestamp with zone. Default: now. */
  created_on: z.iso.datetime({ offset: true }).optional(),
  webhook,
});

const brokenConnectionSchema = z.strictObject({
  provider: z.string().min(1),
  error_type: z.string().min(1).default('token_refresh_failed'),
  webhook,
});

const connectionWebhookSchema = z.strictObject({
  provider: z.string().min(1),
  event_type: z
    .enum(['provider.connection.created', 'provider.connection.error'])
    .default('provider.connection.created'),
});

const userId = z.string();

/** Commands about users, their portal links and their health data. */
export function userCommands(lab: Lab) {
  return {
    /** Makes a user with invented demographics, or without any. */
    createUser: command(z.tuple([newUserSchema.prefault({})]), ({ client_user_id: clientUserId, demographics }) => {
      const user = createInventedUser(lab, demographics, clientUserId);
      return { user: userBody(user), info: user.info };
    }),

    /** The users whose deletion is scheduled and can be undone, in order of their deletion. */
    deletedUsers: command(z.tuple([]), () => [...lab.state.deletedUsers.keys()].map((id) => ({ user_id: id }))),

    /** Deletes a user in the dashboard, with the same grace period as through the service's own endpoint. */
    deleteUser: command(z.tuple([userId]), (id) => deleteUser(lab, id)),

    /** The portal links that were made, with what a shortened one leads to. */
    portalLinks: command(z.tuple([]), () =>
      lab.state.portalLinks.map(({ url, context, orderId }) => ({ url, context, order_id: orderId })),
    ),

    /** Sends a user's health data: a summary, a batch of samples, a notice, or a payload as untidy as real ones. */
    sendHealthData: command(z.tuple([userId, healthDataSchema]), (id, data) =>
      sendHealthData(lab, requiredUser(lab, id), data),
    ),
  };
}

/** Commands about links and connections. */
export function linkCommands(lab: Lab) {
  return {
    /** The link tokens that were made, with the state of each. */
    linkTokens: command(z.tuple([]), () =>
      lab.links.tokens().map(({ user, provider, page, state }) => ({ user_id: user.id, provider, page, state })),
    ),

    /** Connects a user without a link, in the past too; a connection of the same source gives way to it. */
    connect: command(z.tuple([userId, connectionSchema]), (id, { provider, created_on: createdOn, ...options }) => {
      const at = createdOn === undefined ? lab.clock.now() : Date.parse(createdOn);
      return connectedSource(connect(lab, requiredUser(lab, id), provider, at, options));
    }),

    /** Breaks a connection: it stays, with an error, until the user connects again. Returns false if there is none. */
    breakConnection: command(
      z.tuple([userId, brokenConnectionSchema]),
      (id, { provider, error_type: errorType, webhook: isReported }) => {
        const user = requiredUser(lab, id);
        if (isReported) announceError(lab, user, provider, errorType);
        return breakConnection(lab, user, provider, errorType);
      },
    ),

    /** Sends the webhook of a connection, even if there is none: a stale one, or an error. */
    sendConnectionWebhook: command(
      z.tuple([userId, connectionWebhookSchema]),
      (id, { provider, event_type: eventType }) => {
        const user = requiredUser(lab, id);
        if (eventType === 'provider.connection.error') announceError(lab, user, provider, null);
        else announceConnection(lab, user, provider, eventType);
      },
    ),
  };
}

/** Commands about parsing jobs. */
export function reportCommands(lab: Lab) {
  const jobId = z.string();
  const found = (id: string): ParsingJob => required(lab.reports.jobs.get(id.toLowerCase()), `parsing job ${id}`);
  /** As the service shows it, and what the service does not show. */
  const revealed = (job: ParsingJob) => ({
    id: job.id,
    job: jobBody(job),
    user_id: job.userId,
    /** The outcome that its file asked for. */
    outcome: job.outcome,
    files: job.files,
    history: job.history.map(({ status, at }) => ({ status, at: new Date(at).toISOString() })),
  });

  return {
    /** Every parsing job, in order of creation. */
    jobs: command(z.tuple([]), () => [...lab.reports.jobs.values()].map(revealed)),

    /** One parsing job, with what was kept of its file. */
    job: command(z.tuple([jobId]), (id) => revealed(found(id))),

    /** Makes a parsing job elsewhere: no product uploaded its file, but its webhooks are sent. */
    createJob: command(z.tuple([newJobSchema.prefault({})]), (job) => {
      const { user_id: user, needs_human_review: needsHumanReview, outcome } = job;
      const steps = stepsOf(outcome, needsHumanReview);
      if (steps === undefined) throw refused(`no outcome "${outcome}"; there are ${outcomes.join(', ')}`);
      const request = { userId: userIdOrNew(lab, user), needsHumanReview, files: [], outcome, steps };
      return revealed(lab.reports.create({ ...request, webhook: job.webhook }));
    }),

    /** Gives a parsing job any status. What was planned for it no longer happens. */
    moveJob: command(z.tuple([jobId, orText(jobMoveSchema, 'status')]), (id, move) => {
      const job = found(id);
      lab.reports.move(job, move);
      return revealed(job);
    }),
  };
}

/** Commands about results that match no order. */
export function matchReviewCommands(lab: Lab) {
  return {
    /** A result arrives that matches no order without doubt. */
    createMatchReview: command(z.tuple([newReviewSchema.prefault({})]), (requested) => {
      const named = requested.order_ids?.map((id) => requiredOrder(lab, id));
      const candidates = named ?? lab.matchReviews.candidatesFor(requested.decision_code);
      const { event } = lab.matchReviews.create(requested, candidates);
      return { id: event.id, order_ids: candidates.map(({ id }) => id) };
    }),

    /** Every review, also those that are over, in order of creation. */
    matchReviews: command(z.tuple([]), () =>
      [...lab.matchReviews.reviews.values()].map((review) => matchReviewBody(review)),
    ),

    /** What the service's staff do, or a status of theirs that is unknown. */
    moveMatchReview: command(z.tuple([z.string(), orText(reviewMoveSchema, 'status')]), (id, move) => {
      const review = required(lab.matchReviews.reviews.get(id), `match review ${id}`);
      lab.matchReviews.move(review, move);
      return matchReviewBody(review);
    }),
  };
}
