import { ApplicationFailure } from '@temporalio/workflow';
import { refusalOf } from '../command-queue.js';
import { completingMfa, linking } from '../proxies.js';
import { hearResult, loseToken } from './answers.js';
import { beginAgain, giveToken, hasUsableToken, questionOf, type LinkCase } from './case.js';
import { doubt } from './claims.js';
import { ended } from './command-validation.js';
import { readConnection, soughtBy } from './confirmation.js';
import { hearConnection } from './connections.js';
import { end, endUnlessConnected } from './ending.js';
import type { CodeAnswer, LinkReport, LinkRequest, LinkState, LinkUrl } from './messages.js';
import type { LinkAnswer, LinkCommand } from './run.js';
import { codeAnswerOf, stateOf } from './view.js';

/** Carries out one command and answers with what came of it. */
export async function carryOut(kase: LinkCase, command: LinkCommand): Promise<LinkAnswer> {
  if (command.kind === 'cancel') return cancel(kase);
  if (kase.ending) await settleEnding(kase);
  switch (command.kind) {
    case 'requestLink':
      return requestLink(kase, command.request);
    case 'reportLinkResult':
      return reportLinkResult(kase, command.report);
    case 'submitMfaCode':
      return submitMfaCode(kase, command);
    default:
      return command satisfies never;
  }
}

function cancel(kase: LinkCase): LinkState {
  if (kase.outcome !== undefined) throw ended(kase);
  end(kase, 'cancelled', Date.now());
  return stateOf(kase);
}

/** The link is over unless the service shows a connection. Until it says so nothing else can be done. */
async function settleEnding(kase: LinkCase): Promise<void> {
  await readConnection(kase);
  if (kase.ending) throw undecided();
}

function undecided(): ApplicationFailure {
  const message =
    'The link is over unless the lab service shows a connection, and it has not said so yet; ask again later';
  return ApplicationFailure.nonRetryable(message, 'ServiceUnavailable', { fields: [] });
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
    // A user or a provider that the service does not take now it will not take later; a link that stood goes on.
    if (refusal.type === 'LinkRefused' && kase.tokens === 0) {
      kase.errorType = 'link_refused';
      endUnlessConnected(kase, { outcome: 'failed' }, Date.now());
    }
    throw refusal;
  }
}

/** The password step's answer. A link that is connected already, as its webhook told, has nothing against being told so. */
async function reportLinkResult(kase: LinkCase, report: LinkReport): Promise<LinkState> {
  if (kase.outcome === 'connected') return stateOf(kase);
  if (kase.outcome !== undefined) throw ended(kase);
  await conclude(kase, report);
  return stateOf(kase);
}

/** Where it leaves room for a connection, the service is asked before anything is concluded. */
async function conclude(kase: LinkCase, report: LinkReport): Promise<void> {
  hearResult(kase, report, Date.now());
  if (kase.claim) await readConnection(kase);
}

async function submitMfaCode(kase: LinkCase, { code, question }: SubmitMfaCode): Promise<CodeAnswer> {
  // The code before this one may have worked, though its answer was lost, or its connection does not show yet.
  if (kase.claim) await readConnection(kase);
  if (kase.outcome !== undefined && kase.outcome !== 'connected') throw ended(kase);
  if (kase.outcome === 'connected' || kase.claim?.by === 'success') return codeAnswerOf(kase);
  // It was waiting while another one was answered, and is no answer to what was asked since: it would cost an attempt.
  if (question !== questionOf(kase)) return codeAnswerOf(kase);
  const { token } = kase;
  if (token) await complete(kase, token.token, code);
  else loseToken(kase);
  if (kase.consequence !== 'ask_code_again' && kase.errorType !== 'answer_lost') kase.questionsDone = question + 1;
  return answerOf(kase);
}

type SubmitMfaCode = Extract<LinkCommand, { kind: 'submitMfaCode' }>;

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
  const wish = { ...soughtBy(kase, true), provider, linkToken, code };
  try {
    const summary = `hand the code to ${provider}`;
    const { report, connection } = await completingMfa.completeMfa.executeWithOptions({ summary }, [wish]);
    if (!connection) return await conclude(kase, report);
    hearResult(kase, report, Date.now());
    hearConnection(kase, connection, kase.claim, Date.now());
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
  const { outcome, errorType = 'unknown', consequence, ending } = kase;
  if (outcome === 'connected' || consequence === 'ask_code_again') return codeAnswerOf(kase);
  if (ending) throw undecided();
  if (outcome === undefined) return codeAnswerOf(kase);
  throw ApplicationFailure.nonRetryable(`The link has ended for good: ${errorType}`, 'LinkFailed', {
    fields: [],
    reason: errorType,
  });
}
