import * as healthData from './health-data.js';
import * as orders from './orders.js';
import * as others from './others.js';
import type { StoryName } from './plan.js';
import type { Scene } from './product.js';

/** Each story returns the result of its workflow. */
export const stories: Record<StoryName, (scene: Scene) => Promise<object>> = {
  results: orders.results,
  'patient known': orders.patientKnown,
  import: orders.imported,
  cancelled: orders.cancelled,
  'cancelled too late': orders.cancelledTooLate,
  replaced: orders.replaced,
  abandoned: orders.abandoned,
  'sample unusable': orders.sampleUnusable,
  redraw: orders.redrawn,
  corrected: orders.corrected,
  critical: orders.critical,
  visit: others.visit,
  link: others.link,
  'link with code': others.linkWithCode,
  'link with wrong code': others.linkWithWrongCode,
  report: others.report,
  'report without results': others.reportWithoutResults,
  'report failed': others.reportFailed,
  deletion: others.deletion,
  'deletion undone': others.deletionUndone,
  'deletion refused': others.deletionRefused,
  'health data': healthData.stored,
  'health data erased': healthData.erased,
};
