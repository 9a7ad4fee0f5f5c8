import type { CodeAnswer, LinkReport, LinkRequest, LinkState, LinkUrl } from '../../protocol/link/messages.js';
import type { Cancellable, EntityRun } from '../entity/loop.js';
import type { Link } from './link.js';

/** A command of the product. */
export type LinkCommand =
  /** `joins`: the link was still open when this was requested. */
  | { kind: 'requestLink'; request: LinkRequest; joins: boolean }
  | { kind: 'reportLinkResult'; report: LinkReport }
  /** `codeRequest`: the number of the one that was current when the code was accepted. */
  | { kind: 'submitMfaCode'; code: string; codeRequest: number }
  | { kind: 'cancel' };

export type LinkAnswer = LinkUrl | LinkState | CodeAnswer;

/** One run of `linkProvider`. */
export interface LinkRun extends EntityRun<LinkCommand, LinkAnswer>, Cancellable {
  link: Link;
  /** Codes on their way, so one that is sent twice at once goes to the service once. */
  submitting: { code: string; answer: Promise<CodeAnswer> }[];
}
