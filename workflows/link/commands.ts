import type { ApplicationFailure } from '@temporalio/workflow';
import { codeRule, linkResultOf, readCode } from '../../protocol/link/link-report.js';
import {
  type CodeAnswer,
  type LinkOptions,
  linkPageFaults,
  type LinkRequest,
  type LinkState,
  type LinkUrl,
  type MfaCode,
} from '../../protocol/link/messages.js';
import type { OfActor } from '../../protocol/ids.js';
import type { LinkReport } from '../../protocol/link/link-report.js';
import { activities } from '../activity-options.js';
import { actorOf, commandWait, mostBeforeCancelling, refusalOf, refuse, refuseField } from '../entity/commands.js';
import { obtainPolicy } from '../entity/policy.js';
import { iso } from '../entity/spans.js';
import { readConnection, connectionQueryOf } from './deadlines.js';
import {
  pageOf,
  sourceSlug,
  receiveResult,
  loseToken,
  beginNext,
  giveToken,
  hasUsableToken,
  codeRequestOf,
  type Link,
  type LinkRun,
  doubt,
  recordConnection,
  end,
  endUnlessConnected,
} from './link.js';
import { codeAnswerOf, stateOf } from './view.js';

export async function cancelLink(link: Link, actor: OfActor): Promise<LinkState> {
  if (link.outcome === 'cancelled') return stateOf(link);
  if (link.outcome !== undefined) throw ended(link);
  end(link, 'cancelled', Date.now(), actor);
  return stateOf(link);
}

/** The link is over unless the service shows a connection. Until it says so nothing else can be done. */
async function settleEnding(link: Link): Promise<void> {
  if (!link.ending) return;
  await readConnection(link);
  if (link.ending) throw undecided();
}

function undecided(): ApplicationFailure {
  const message =
    'The link is about to end, but the lab service does not answer whether there is a connection; try again later';
  return refuse('ServiceUnavailable', message);
}

/** The link that the user has, or a new one if its token has ended. */
export async function requestLink(link: Link, request: LinkRequest, joins: boolean): Promise<LinkUrl> {
  await settleEnding(link);
  if (request.newLink) await startNew(link, request.newLink, joins);
  if (link.outcome !== undefined) throw ended(link);
  if (!hasUsableToken(link, Date.now())) await makeLink(link);
  const { token } = link;
  if (!token) throw ended(link);
  return { linkToken: token.token, linkWebUrl: token.url, expiresAt: iso(token.expiresAt) };
}

/** The options of a caller that joins an open link change nothing; a wrong policy is refused all the same. */
async function startNew(link: Link, options: LinkOptions, joins: boolean): Promise<void> {
  if (joins && options.policy == null) return;
  const policy = await obtainPolicy('link', options.policy, {
    scheduleToCloseTimeout: commandWait,
  });
  if (!joins && link.outcome !== undefined) beginNext(link, { ...options, policy }, Date.now());
}

async function makeLink(link: Link): Promise<void> {
  const { userId, provider, policy } = link;
  // The token's life counts from before it can have been made, so no user is sent to one that has ended.
  const expiresAt = Date.now() + policy.tokenLife;
  const isChosen = sourceSlug(link) !== undefined;
  const readsConnections = link.connectionsBefore === undefined;
  const request = {
    userId,
    ...(isChosen && { provider }),
    ...(readsConnections && { readsConnections }),
    ...pageOf(link),
  };
  try {
    const made = await activities.createLinkToken.executeWithOptions({ summary: `link to ${provider}` }, [request]);
    link.notifies ??= made.notifies;
    if (made.connections) link.connectionsBefore = made.connections;
    giveToken(link, { token: made.linkToken, url: made.linkWebUrl, expiresAt }, Date.now());
  } catch (error) {
    const refusal = refusalOf(error);
    // A user or provider that the service refuses now will be refused later, too. A link that had a token goes on.
    if (refusal.type === 'LinkRefused' && link.tokens === 0) {
      link.errorType = 'link_refused';
      endUnlessConnected(link, { outcome: 'failed' }, Date.now());
    }
    throw refusal;
  }
}

/** The password step's answer. A link that its webhook has connected already answers with that. */
export async function reportLinkResult(link: Link, report: LinkReport): Promise<LinkState> {
  await settleEnding(link);
  if (link.outcome === 'connected') return stateOf(link);
  if (link.outcome !== undefined) throw ended(link);
  await conclude(link, report);
  return stateOf(link);
}

/** If the report leaves room for a connection, the service is asked before anything is concluded. */
async function conclude(link: Link, report: LinkReport): Promise<void> {
  receiveResult(link, report, Date.now());
  if (link.claim) await readConnection(link);
}

/** @param codeRequest the number of the request for a code that was current when the code was accepted */
export async function submitMfaCode(link: Link, code: string, codeRequest: number): Promise<CodeAnswer> {
  await settleEnding(link);
  // The code before this one may have worked, though its answer was lost, or its connection does not show yet.
  if (link.claim) await readConnection(link);
  if (link.outcome !== undefined && link.outcome !== 'connected') throw ended(link);
  if (link.outcome === 'connected' || link.claim?.by === 'success') return codeAnswerOf(link);
  // This code waited while another one was answered, so it does not answer what was asked since: it would cost an attempt.
  if (codeRequest !== codeRequestOf(link)) return codeAnswerOf(link);
  const { token } = link;
  if (token) await complete(link, token.token, code);
  else loseToken(link);
  if (link.consequence !== 'ask_code_again' && link.errorType !== 'answer_lost') link.questionsDone = codeRequest + 1;
  return answerOf(link);
}

/** Failures after which the code has certainly not been handed on; after all others it may have been. */
const certain: readonly string[] = [
  'LinkRefused',
  'ServiceUnreachable',
  'TooManyRequests',
  'FeatureNotEnabled',
  'Unauthorized',
];

async function complete(link: Link, linkToken: string, code: string): Promise<void> {
  const { provider } = link;
  const request = { ...connectionQueryOf(link), provider, linkToken, code };
  try {
    const summary = `hand the code to ${provider}`;
    const { report, connection } = await activities.completeMfa.executeWithOptions({ summary }, [request]);
    if (!connection) return await conclude(link, report);
    receiveResult(link, report, Date.now());
    recordConnection(link, connection, link.claim, Date.now());
  } catch (error) {
    const refusal = refusalOf(error);
    // A token that has expired is refused, whatever the service's sentence says.
    const isExpired = refusal.type === 'LinkRefused' && (link.token?.expiresAt ?? Infinity) <= Date.now();
    if (isExpired) return conclude(link, { state: 'error', errorType: 'token_expired' });
    if (certain.includes(refusal.type ?? '')) throw refusal;
    delete link.consequence;
    link.errorType = 'answer_lost';
    doubt(link, Date.now());
    await readConnection(link);
    // The service is still down: nothing is known yet, and the user is read before the next code is sent.
    if (link.claim) throw refusal;
  }
}

/** A link that has failed for good is a refusal; the last wrong code is an answer like the others. */
function answerOf(link: Link): CodeAnswer {
  const { outcome, errorType = 'unknown', consequence, ending } = link;
  if (outcome === 'connected' || consequence === 'ask_code_again') return codeAnswerOf(link);
  if (ending) throw undecided();
  if (outcome === undefined) return codeAnswerOf(link);
  throw refuse('LinkFailed', `The link has ended for good: ${errorType}`, { reason: errorType });
}

/** The conditions for accepting a command at all; a refusal here leaves no trace in the history. */

function validateOpen({ link }: LinkRun): void {
  if (link.outcome !== undefined) throw ended(link);
}

/** Webhooks are often faster than the product: a connected link is not a reason to refuse it. */
function validateOpenOrConnected(run: LinkRun): void {
  if (run.link.outcome !== 'connected') validateOpen(run);
}

/** A repetition succeeds. */
export function validateCancellation(run: LinkRun, given: OfActor | undefined): void {
  actorOf(given);
  if (run.link.outcome !== 'cancelled') validateOpen(run);
  run.commands.requireRoom(mostBeforeCancelling);
}

/** After a link's end the next one may begin, while the last notification is under way. */
export function validateRequest(run: LinkRun, request: LinkRequest | undefined): void {
  const { newLink } = request ?? {};
  if (newLink) checkOptions(newLink);
  else validateOpen(run);
  run.commands.requireRoom();
}

export function checkOptions(page: LinkOptions): void {
  const [fault] = linkPageFaults(page);
  if (fault) throw refuseField(fault.field, fault.message);
}

export function validateReport(run: LinkRun, report: LinkReport): void {
  if (linkResultOf(report) === undefined) throw refuseField('state', 'must be a non-empty string');
  validateOpenOrConnected(run);
  run.commands.requireRoom();
}

/** The refusal does not repeat the code. */
export function validateCode(run: LinkRun, given: MfaCode): void {
  if (sourceSlug(run.link) === undefined) {
    const message = "must be named when the link is started: a link without one gets its code on the service's page";
    throw refuseField('provider', message);
  }
  if (readCode(given?.code) === undefined) {
    throw refuse('InvalidCode', `The code ${codeRule}`, { fields: [{ field: 'code', message: codeRule }] });
  }
  validateOpenOrConnected(run);
  run.commands.requireRoom();
}

function ended({ outcome }: Pick<Link, 'outcome'>): ApplicationFailure {
  return refuse('LinkEnded', `The link has ended: ${outcome}`, { ...(outcome !== undefined && { reason: outcome }) });
}
