import { allHandlersFinished, condition, setHandler, workflowInfo } from '@temporalio/workflow';
import { isLinkAddressable, linkProviderId, type OfActor } from '../../protocol/ids.js';
import { linkResultOf, readCode } from '../../protocol/link/link-report.js';
import * as messages from '../../protocol/link/messages.js';
import type { LinkReport } from '../../protocol/link/link-report.js';
import { anyProvider } from '../../protocol/link/provider-source.js';
import { noticeUnreadable, openRun, runLoop, acceptCancellation, workThrough } from '../entity/loop.js';
import { settlePolicy } from '../entity/policy.js';
import {
  cancelLink,
  checkOptions,
  reportLinkResult,
  requestLink,
  submitMfaCode,
  validateCancellation,
  validateCode,
  validateReport,
  validateRequest,
} from './commands.js';
import { deadlinesOf, handlePassedDeadlines, readConnection } from './deadlines.js';
import { openLink, codeRequestOf, receiveWebhook, end, clear, raise, type LinkRun } from './link.js';
import { resultOf, show, stateOf } from './view.js';
import { actorOf, refusalOf, refuse } from '../entity/commands.js';

/** Carries one link of a user with a provider from its token to the connection, for as long as the user may take. */
export async function linkProvider(input: messages.LinkProviderInput): Promise<messages.LinkResult> {
  check(input);
  const run: LinkRun = {
    ...openRun(),
    link: openLink(input, Date.now()),
    cancelled: false,
    submitting: [],
  };
  listen(run);
  // A code on its way is not called back: what the service made of it counts, cancelled or not.
  await workThrough(run, async () => {
    await settlePolicyOrFail(run);
    await runLoop(run, loopOf(run));
  });
  return resultOf(run.link);
}

/** A link with a policy that cannot be followed fails, and every caller gets the reason. */
async function settlePolicyOrFail({ link, commands }: LinkRun): Promise<void> {
  try {
    await settlePolicy(link, 'link');
  } catch (error) {
    const refusal = refusalOf(error);
    commands.refuseAll(refusal);
    await condition(allHandlersFinished);
    throw refusal;
  }
}

/** No compiler checks the input of a backend in another language. */
function check(input: Partial<messages.LinkProviderInput> | undefined): void {
  const { userId = '', provider = anyProvider } = input ?? {};
  if (!isLinkAddressable(userId, provider) || workflowInfo().workflowId !== linkProviderId(userId, provider)) {
    const message = 'the workflow ID must be link-provider/<user id>/<provider>, as linkProviderId makes it';
    throw refuse('InvalidCommand', message);
  }
  checkOptions(input ?? {});
}

function loopOf(run: LinkRun) {
  const { link } = run;
  return {
    state: link,
    attention: { raise, clear },
    act: () => act(run),
    isOver: () => link.outcome !== undefined,
    nextMoment: () => deadlinesOf(link)[0],
    mustContinueAsNew: () => run.wasCancelled === true,
    workflowType: messages.linkProviderName,
    nextInput: (): messages.LinkProviderInput => ({ userId: link.userId, provider: link.provider, carried: link }),
  };
}

async function act(run: LinkRun): Promise<void> {
  const { link, commands } = run;
  if (acceptCancellation(run)) await cancel(run);
  await handlePassedDeadlines(link);
  await commands.carryOutNext();
  show(link);
}

/** A success that was reported counts, cancelled or not. */
async function cancel(run: LinkRun): Promise<void> {
  const { link } = run;
  if (link.claim?.by === 'success') await readConnection(link);
  if (link.outcome === undefined) end(link, 'cancelled', Date.now());
}

function listen(run: LinkRun): void {
  const { link } = run;
  noticeUnreadable(run);
  const receiveReport = () => {
    if (link.outcome !== undefined) return;
    receiveWebhook(link, Date.now());
    run.hasNews = true;
  };
  setHandler(messages.connectionReportedSignal, receiveReport, {
    description: 'A webhook reported a connection of this user with this provider.',
  });
  setHandler(messages.stateQuery, () => stateOf(link), {
    description: 'Where the link stands, what it waits for and until when. Without token, URL and code.',
  });
  setHandler(messages.requestLinkUpdate, (request) => askForLink(run, request), {
    description: 'Gives the link for the user’s browser, a new one if its token has ended.',
    validator: (request: messages.LinkRequest) => validateRequest(run, request),
  });
  setHandler(
    messages.reportLinkResultUpdate,
    // The validator has read it.
    (report) => run.commands.askThrough(() => reportLinkResult(link, linkResultOf(report) ?? report)),
    {
      description: 'What the password step answered the user’s browser.',
      validator: (report: LinkReport) => validateReport(run, report),
    },
  );
  setHandler(messages.submitMfaCodeUpdate, (given) => submitOnce(run, readCode(given.code) ?? given.code), {
    description: 'Hands the user’s code to the provider.',
    validator: (given: messages.MfaCode) => validateCode(run, given),
  });
  setHandler(messages.cancelUpdate, (given) => run.commands.askThrough(() => cancelLink(link, actorOf(given))), {
    description: 'Ends the link; a connection that is made nevertheless stays.',
    validator: (given: OfActor) => validateCancellation(run, given),
  });
}

/**
 * A request that comes while the link is open joins it: no other one begins if the link ends before it is the turn of
 * the request.
 */
async function askForLink(
  { link, commands }: LinkRun,
  request: messages.LinkRequest | undefined,
): Promise<messages.LinkUrl> {
  const joins = link.outcome === undefined;
  return commands.askThrough(() => requestLink(link, request ?? {}, joins));
}

/** A double click sends the same code twice at once: both get the one answer. */
async function submitOnce(run: LinkRun, code: string): Promise<messages.CodeAnswer> {
  const twin = run.submitting.find((submitted) => submitted.code === code);
  if (twin) return twin.answer;
  const codeRequest = codeRequestOf(run.link);
  const answer = run.commands.askThrough(() => submitMfaCode(run.link, code, codeRequest));
  run.submitting.push({ code, answer });
  try {
    return await answer;
  } finally {
    run.submitting = run.submitting.filter((submitted) => submitted.answer !== answer);
  }
}
