import type { Client } from '@temporalio/client';
import type { LabService } from '../service/lab-service.js';
import { appointmentActivities } from './appointments.js';
import { linkActivities } from './links.js';
import { matchReviewReconcileActivities } from './match-review-reconcile.js';
import { matchReviewActivities } from './match-reviews.js';
import { notificationActivities } from './notifications.js';
import type { NotificationTarget } from './notification-receiver.js';
import type { ActivityObserver } from './observer.js';
import { orderActivities } from './orders.js';
import { placingActivities } from './placing.js';
import { chainActivities } from './chains.js';
import { policyActivities } from './policies.js';
import { runningWorkActivities } from './running-work.js';
import { userActivities } from './users.js';
import { erasureActivities } from './erasure.js';
import type { ReportFiles } from './report-file/report-files.js';
import { reportActivities } from './reports.js';
import { reconcileActivities } from './reconcile.js';
import type { WorkerStore } from './worker-store.js';
import { rejectedEventActivities } from './rejected-events.js';
import { workoutStreamActivities } from './workout-streams.js';
import { webhookActivities } from './webhooks.js';

/** The dependencies of the activities. */
export interface ActivityDependencies {
  service: LabService;
  /** For signals to our own workflows. */
  temporal: Client;
  taskQueue: string;
  /** True if the deployment returns `passthrough` on orders; otherwise orders are recognised by their content. */
  echoesPassthrough: boolean;
  /** The source of reports' files. */
  reportFiles: ReportFiles;
  /** True if payloads are encrypted before they reach Temporal. Otherwise no payload may contain a credential. */
  encrypts: boolean;
  /**
   * The product's endpoint for notifications. `off`: the deployment has none on purpose, and no notification is scheduled.
   * Absent: this worker does not know it, and every delivery fails until another worker takes it up.
   */
  target?: NotificationTarget | 'off';
  /**
   * The store for health data and rejected events. `off`: the deployment keeps none on purpose. Absent: this worker does
   * not know it, and whatever needs it fails until another worker takes it up.
   */
  workerStore?: WorkerStore | 'off';
  /** Is notified of what the activities did, for metrics. */
  observer?: ActivityObserver;
}

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
