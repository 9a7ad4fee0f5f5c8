import { heartbeat, log } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { FeatureNotEnabled, ServiceRefused, TooManyRequests, Unauthorized } from '../../service/errors.js';
import { matchReviewReportOf } from '../../service/match-review/snapshot.js';
import type { MatchReview } from '../../service/match-review/match-reviews.js';
import { lowerWordOf } from '../../service/word.js';
import { attemptDueAt } from '../attempt.js';
import { isAhead } from '../../protocol/time.js';
import { signalOrStart } from '../../protocol/signal-or-start.js';
import { isAddressable, matchReviewId } from '../../protocol/ids.js';
import { matchReviewReportedSignal, type MatchReviewResult } from '../../protocol/match-review/messages.js';
import { matchReviewStart } from '../../protocol/starts.js';
import type { ActivityDependencies } from '../dependencies.js';
import { asFailures, unreadable } from '../failures.js';
import { isUndecodable } from '../workflow-runs.js';

/** The findings of a pass over the results that wait for a review. */
interface MatchReviewsReconciled {
  /** Reviews that no workflow followed: one was started for each. */
  started: number;
}

/** Recovers the match reviews whose webhooks were lost: a review that is followed reads by itself. */
export function matchReviewReconcileActivities(dependencies: ActivityDependencies) {
  return {
    /** Starts the workflow of every open review that has none. Repeating it does no harm. */
    async reconcileMatchReviews(): Promise<MatchReviewsReconciled> {
      return asFailures('ServiceRefused', async () => {
        let [started, isListed] = [0, false];
        try {
          for await (const item of dependencies.service.matchReviews.list()) {
            isListed = true;
            heartbeat();
            if (needsFollowing(item) && (await startIfMissed(dependencies, item))) started += 1;
          }
        } catch (error) {
          // A list that has begun is not off: its cursor has expired, or a proxy refused a page, and the next attempt begins again.
          if (isListed && isRefusedPage(error)) throw unreadable(error);
          if (!isOff(error)) throw error;
          log.info('the team has no match review', { status: error.status });
        }
        dependencies.observer?.reconciled({ matchReviews: started });
        return { started };
      });
    },
  };
}

/** A refused key stays refused, and a 429 says when to ask again. */
function isRefusedPage(error: unknown): error is ServiceRefused {
  const isForAll = error instanceof TooManyRequests || (error instanceof Unauthorized && error.status !== 403);
  return error instanceof ServiceRefused && !isForAll;
}

/** A closed beta: "queue not enabled" is a 400, and a deployment that lacks the endpoint answers 404 or 403. A wrong key is a 401. */
function isOff(error: unknown): error is ServiceRefused {
  if (error instanceof FeatureNotEnabled) return true;
  if (error instanceof Unauthorized) return error.status === 403;
  return error instanceof ServiceRefused && (error.status === 400 || error.status === 404);
}

function needsFollowing({ id, status }: MatchReview): boolean {
  // A review that is over needs no decision, but a service may still list it.
  if (['resolved', 'matched'].includes(lowerWordOf(status ?? ''))) return false;
  if (isAddressable(id)) return true;
  log.warn('a match review was skipped: its id cannot be part of a workflow ID', { idLength: id.length });
  return false;
}

async function startIfMissed({ temporal, taskQueue }: ActivityDependencies, item: MatchReview): Promise<boolean> {
  if (await isSettled(temporal, item)) return false;
  const reported = matchReviewReportOf(item);
  await signalOrStart(temporal.workflow, taskQueue, matchReviewStart(reported), matchReviewReportedSignal, reported);
  return true;
}

/** True if a workflow follows the review, or an operator has ended the one that did and nothing has changed since. */
async function isSettled(temporal: Client, { id, updated_at: updatedAt }: MatchReview): Promise<boolean> {
  try {
    const workflow = temporal.workflow.getHandle(matchReviewId(id));
    const { status, closeTime, runId } = await workflow.describe();
    if (closeTime === undefined) return true;
    const isOurs = status.name === 'COMPLETED' && !(await isAbandoned(temporal, id, runId));
    const isChanged =
      Date.parse(updatedAt ?? '') > closeTime.getTime() && !isAhead(updatedAt ?? undefined, attemptDueAt());
    return !isOurs && !isChanged;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** One whose result cannot be decoded counts as abandoned: it must not end the pass before the reviews after it. */
async function isAbandoned(temporal: Client, rawResultId: string, runId: string): Promise<boolean> {
  const workflow = temporal.workflow.getHandle(matchReviewId(rawResultId), runId);
  try {
    const result = (await workflow.result()) as Partial<MatchReviewResult> | null;
    return result?.outcome === 'abandoned';
  } catch (error) {
    // Temporal is away, which the next attempt may change; a result that cannot be decoded stays as it is.
    if (!isUndecodable(error)) throw error;
    const { name } = error instanceof Error ? error : new Error(String(error));
    log.error('the result of a match review could not be read, so it is not started again', {
      rawResultId,
      runId,
      name,
    });
    return true;
  }
}
