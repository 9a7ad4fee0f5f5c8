import { ApplicationFailure } from '@temporalio/workflow';
import { refusalOf } from '../command-queue.js';
import { completingMfa, linking } from '../proxies.js';
import {
  beginAgain,
  doubt,
  end,
  giveToken,
  hasUsableToken,
  hearConnection,
  hearResult,
  loseToken,
  type LinkCase,
} from './case.js';
import { ended } from './command-validation.js';
import { readConnection, soughtBy } from './confirmation.js';
import { mayBeConnected } from './consequences.js';
import type { CodeAnswer, LinkReport, LinkRequest, LinkState, LinkUrl } from './messages.js';
import type { LinkAnswer, LinkCommand } from './run.js';
import { codeAnswerOf, stateOf } from './view.js';

/** Carries out one command and answers with what came of it. */
export async function carryOut(kase: LinkCase, command: LinkCommand): Promise<LinkAnswer> {
  if (command.kind === 'requestLink') return requestLink(kase, command.request);
  if (kase.outcome !== undefined) throw ended(kase);
  switch (command.kind) {
    case 'reportLinkResult':
      return reportLinkResult(kase, command.report);
    case 'submitMfaCode':
      return submitMfaCode(kase, command.code);
    case 'cancel':
      end(kase, 'cancelled', Date.now());
      return stateOf(kase);
    default:
      return command satisfies never;
  }
}

/** The link that the user has, or a new one where its token has ended. */
async function requestLink(kase: LinkCase, request: LinkRequest): Promise<LinkUrl> {
  if (kase.outcome !== undefined && request.anew) beginAgain(kase, request.anew, Date.now());
  if (kase.outcome !== undefined) throw ended(kase);
  if (!hasUsableToken(kase, Date.now())) await makeLink(kase);
  const { token } = kase;
  if (!token) throw ended(kase);
  return { linkToken: token.token, linkWebUrl: token.url, expiresAt: new Date(token.expiresAt).toISOString() };
}

async function makeLink(kase: LinkCase): Promise<void> {
  const { userId, provider, redirectUrl, policy } = kase;
  // The token's life counts from before it can have been made, so that no user is sent to one that has ended.
  const expiresAt = Date.now() + policy.tokenLife;
  const wish = { userId, provider, ...(redirectUrl !== undefined && { redirectUrl }) };
  try {
    const made = await linking.createLinkToken.executeWithOptions({ summary: `link to ${provider}` }, [wish]);
    kase.notifies = made.notifies;
    giveToken(kase, { token: made.linkToken, url: made.linkWebUrl, expiresAt }, Date.now());
  } catch (error) {
    const refusal = refusalOf(error);
    // A user or a provider that the service does not take now it will not take later.
    if (refusal.type === 'LinkRefused') {
      kase.errorType = 'link_refused';
      end(kase, 'failed', Date.now());
    }
    throw refusal;
  }
}

/** The password step's answer. Where it leaves room for a connection, the service is asked before anything is concluded. */
async function reportLinkResult(kase: LinkCase, report: LinkReport): Promise<LinkState> {
  await conclude(kase, report);
  return stateOf(kase);
}

async function conclude(kase: LinkCase, report: LinkReport): Promise<void> {
  const isDoubtful = report.state === 'error' && mayBeConnected(report.errorType);
  if (isDoubtful) {
    doubt(kase, Date.now());
    await readConnection(kase);
    if (isOver(kase)) return;
  }
  hearResult(kase, report, Date.now());
  if (kase.claim && !isDoubtful) await readConnection(kase);
}

async function submitMfaCode(kase: LinkCase, code: string): Promise<CodeAnswer> {
  // The code before this one may have worked, though its answer was lost.
  if (kase.claim) await readConnection(kase);
  if (isOver(kase)) return answerOf(kase);
  const { token } = kase;
  if (!token) {
    loseToken(kase);
    return answerOf(kase);
  }
  await complete(kase, token.token, code);
  return answerOf(kase);
}

/** Failures after which the code has certainly not been handed on; after all others it may have been. */
const certain: readonly string[] = [
  'LinkRefused',
  'ServiceUnreachable',
  'TooManyRequests',
  'FeatureNotEnabled',
  'Unauthorized',
];

async function complete(kase: LinkCase, linkToken: string, code: string): Promise<void> {
  const { provider } = kase;
  const wish = { ...soughtBy(kase), provider, linkToken, code };
  try {
    const summary = `hand the code to ${provider}`;
    const { report, connection } = await completingMfa.completeMfa.executeWithOptions({ summary }, [wish]);
    if (!connection) return await conclude(kase, report);
    hearResult(kase, report, Date.now());
    hearConnection(kase, connection.found, connection.createdAt, Date.now());
  } catch (error) {
    const refusal = refusalOf(error);
    if (certain.includes(refusal.type ?? '')) throw refusal;
    delete kase.consequence;
    kase.errorType = 'answer_lost';
    doubt(kase, Date.now());
    await readConnection(kase);
    // Still down: nothing can be said yet, and the truth is read before the next code.
    if (kase.claim) throw refusal;
  }
}

/** A link that failed for good refuses; a last wrong code is an answer like the others. */
function answerOf(kase: LinkCase): CodeAnswer {
  const { outcome, errorType = 'unknown', consequence } = kase;
  if (outcome === undefined || outcome === 'connected' || consequence === 'ask_code_again') return codeAnswerOf(kase);
  throw ApplicationFailure.nonRetryable(`The link has ended for good: ${errorType}`, 'LinkFailed', {
    fields: [],
    reason: errorType,
  });
}

function isOver({ outcome }: LinkCase): boolean {
  return outcome !== undefined;
}
