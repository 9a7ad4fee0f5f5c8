import { appointments } from './appointments.js';
import { cold } from './cold.js';
import { continued } from './continued.js';
import { deadlines } from './deadlines.js';
import { deletions } from './deletions.js';
import { healthData } from './health-data.js';
import { links } from './links.js';
import { matchReviews } from './match-reviews.js';
import { notifications } from './notifications.js';
import { orders } from './orders.js';
import { refusals } from './refusals.js';
import { reports } from './reports.js';
import type { Story } from './story.js';
import { webhooks } from './webhooks.js';

/** The recorded stories, area by area. */
export const stories: readonly Story[] = [
  ...orders,
  ...links,
  ...deletions,
  ...reports,
  ...healthData,
  ...webhooks,
  ...notifications,
  ...appointments,
  ...matchReviews,
];

/**
 * The stories that are recorded with a new run after every ten events: the last run of each, which begins with carried
 * state.
 */
export const continuedStories: readonly Story[] = continued;

/** The stories in which every deadline of the default policies is met, recorded in skipped time. */
export const deadlineStories: readonly Story[] = deadlines;

/** The stories whose commands meet a worker that does not know the workflow. */
export const coldStories: readonly Story[] = cold;

/** The stories in which a worker that requires encryption refuses something. */
export const refusalStories: readonly Story[] = refusals;
