import type { EarlierRun } from '../../protocol/earlier-run.js';
import type { EntityRun } from '../entity/loop.js';
import type { Job } from './job.js';

/** One run of `parsingJob`. */
export interface ReportRun extends EntityRun {
  job: Job;
  earlierRun: EarlierRun | undefined;
}
