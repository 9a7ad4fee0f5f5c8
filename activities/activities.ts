import { adoptingActivities } from './order/adopting.js';
import { appointmentActivities } from './appointment/appointments.js';
import type { ActivityDependencies } from './dependencies.js';
import { linkActivities } from './link/links.js';
import { matchReviewReconcileActivities } from './reconcile/match-reviews.js';
import { matchReviewActivities } from './match-review.js';
import { notificationActivities } from './notifications/notifications.js';
import { orderActivities } from './order/orders.js';
import { placingActivities } from './order/placing.js';
import { chainActivities } from './order/chains.js';
import { policyActivities } from './policy.js';
import { runningWorkActivities } from './deletion/running-work.js';
import { userActivities } from './deletion/users.js';
import { erasureActivities } from './deletion/erasure.js';
import { receiptActivities } from './deletion/receipt.js';
import { historyActivities } from './deletion/histories.js';
import { reportActivities } from './report/reports.js';
import { reconcileActivities } from './reconcile/reconcile.js';
import { notificationReplayActivities } from './operators/notification-replay.js';
import { rejectedEventActivities } from './operators/rejected-events.js';
import { workoutStreamActivities } from './workout-stream.js';
import { webhookActivities } from './operators/webhook-endpoints.js';

export function createActivities(dependencies: ActivityDependencies) {
  return {
    ...policyActivities(),
    ...placingActivities(dependencies),
    ...adoptingActivities(dependencies),
    ...orderActivities(dependencies),
    ...chainActivities(dependencies),
    ...linkActivities(dependencies),
    ...userActivities(dependencies),
    ...erasureActivities(dependencies),
    ...historyActivities(dependencies),
    ...receiptActivities(dependencies),
    ...runningWorkActivities(dependencies),
    ...reportActivities(dependencies),
    ...notificationActivities(dependencies),
    ...reconcileActivities(dependencies),
    ...workoutStreamActivities(dependencies),
    ...rejectedEventActivities(dependencies),
    ...notificationReplayActivities(dependencies),
    ...webhookActivities(dependencies),
    ...appointmentActivities(dependencies),
    ...matchReviewActivities(dependencies),
    ...matchReviewReconcileActivities(dependencies),
  };
}

export type Activities = ReturnType<typeof createActivities>;
