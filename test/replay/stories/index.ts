import { appointments } from './appointments.js';
import { deletions } from './deletions.js';
import { healthData } from './health-data.js';
import { links } from './links.js';
import { orders } from './orders.js';
import { reports } from './reports.js';
import type { Story } from './story.js';
import { webhooks } from './webhooks.js';

/** What is recorded, area by area. */
export const stories: readonly Story[] = [
  ...orders,
  ...links,
  ...deletions,
  ...reports,
  ...healthData,
  ...webhooks,
  ...appointments,
];
