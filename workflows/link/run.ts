import type { Alarm } from '../alarm.js';
import type { CommandQueue } from '../command-queue.js';
import type { LinkCase } from './case.js';
import type { CodeAnswer, LinkReport, LinkRequest, LinkState, LinkUrl } from './messages.js';

/** What the product asks for. */
export type LinkCommand =
  | { kind: 'requestLink'; request: LinkRequest }
  | { kind: 'reportLinkResult'; report: LinkReport }
  /** `question`: the one that stood when the code was accepted. */
  | { kind: 'submitMfaCode'; code: string; question: number }
  | { kind: 'cancel' };

export type LinkAnswer = LinkUrl | LinkState | CodeAnswer;

/** One run of `linkProvider`: the case it works on, and what wakes it. */
export interface LinkRun {
  kase: LinkCase;
  commands: CommandQueue<LinkCommand, LinkAnswer>;
  alarm: Alarm;
  /** Something was heard that the main loop has not looked at yet. */
  heard: boolean;
  /** An operator, or the product through Temporal, cancelled the workflow, and it was not looked at yet. */
  cancelled: boolean;
  /** It was looked at. Temporal cancels a run once, so that a link that begins anew after it goes on in a new run. */
  wasCancelled: boolean;
  /** Codes on their way, so that one that is sent twice at once goes to the service once. */
  submitting: { code: string; answer: Promise<CodeAnswer> }[];
}
