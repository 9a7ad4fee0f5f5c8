import { appointmentActivities } from './appointments.js';
import type { ActivityDependencies } from './dependencies.js';
import { linkActivities } from './links.js';
import { matchReviewReconcileActivities } from './match-review-reconcile.js';
import { matchReviewActivities } from './match-reviews.js';
import { notificationActivities } from './notifications.js';
import { orderActivities } from './orders.js';
import { placingActivities } from './placing.js';
import { chainActivities } from './chains.js';
import { policyActivities } from './policies.js';
import { runningWorkActivities } from './running-work.js';
import { userActivities } from './users.js';
import { erasureActivities } from './erasure.js';
import { reportActivities } from './reports.js';
import { reconcileActivities } from './reconcile.js';
import { rejectedEventActivities } from './rejected-events.js';
import { workoutStreamActivities } from './workout-streams.js';
import { webhookActivities } from './webhooks.js';

export function createActivities(dependencies: ActivityDependencies) {
  return {
    ...policyActivities(),
    ...placingActivities(dependencies),
    ...orderActivities(dependencies),
    ...chainActivities(dependencies),
    ...linkActivities(dependencies),
    ...userActivities(dependencies),
    ...erasureActivities(dependencies),
    ...runningWorkActivities(dependencies),
    ...reportActivities(dependencies),
    ...notificationActivities(dependencies),
    ...reconcileActivities(dependencies),
    ...workoutStreamActivities(dependencies),
    ...rejectedEventActivities(dependencies),
    ...webhookActivities(dependencies),
    ...appointmentActivities(dependencies),
    ...matchReviewActivities(dependencies),
    ...matchReviewReconcileActivities(dependencies),
  };
}

export type Activities = ReturnType<typeof createActivities>;
