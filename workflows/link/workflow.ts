import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { isLinkAddressable, linkProviderId } from '../../protocol/ids.js';
import { linkResultOf } from '../../protocol/link/link-report.js';
import {
  cancelLinkUpdate,
  connectionReportedSignal,
  linkProviderName,
  linkStateQuery,
  reportLinkResultUpdate,
  requestLinkUpdate,
  submitMfaCodeUpdate,
  type CodeAnswer,
  type LinkProviderInput,
  type LinkReport,
  type LinkRequest,
  type LinkResult,
  type LinkState,
  type LinkUrl,
  type MfaCode,
} from '../../protocol/link/messages.js';
import { readCode } from '../../protocol/link/mfa-code.js';
import { labPhaseKey, ofUser } from '../../protocol/search-attributes.js';
import { Alarm } from '../entity/alarm.js';
import { attentionAttribute, deliveryOf } from '../entity/attention.js';
import { CommandQueue } from '../entity/commands.js';
import { showToOperators } from '../entity/operators.js';
import { deliverBeforeEnd, keepDelivering } from '../entity/outbox.js';
import { carryOut, checkOptions, validateCode, validateOpen, validateReport, validateRequest } from './commands.js';
import { readConnection, deadlinesOf, meetDeadlines } from './deadlines.js';
import { openLink, questionOf, hearWebhook, end, clear, raise, type Link } from './link.js';
import { caseFileOf, resultOf, stateOf } from './view.js';

/** Carries one link of a user with a provider from its token to the connection, for as long as the user may take. */
export async function linkProvider(input: LinkProviderInput): Promise<LinkResult> {
  check(input);
  const run: LinkRun = {
    link: openLink(input, Date.now()),
    commands: new CommandQueue(),
    alarm: new Alarm(),
    heard: false,
    cancelled: false,
    wasCancelled: false,
    submitting: [],
  };
  listen(run);
  watchForCancellation(run);
  // A code on its way is not called back: what the service made of it counts, cancelled or not.
  await CancellationScope.nonCancellable(() => follow(run));
  return resultOf(run.link);
}

/** What another language's backend sends is not checked by any compiler. */
function check(input: Partial<LinkProviderInput> | undefined): void {
  const { userId = '', provider = '' } = input ?? {};
  if (!isLinkAddressable(userId, provider) || workflowInfo().workflowId !== linkProviderId(userId, provider)) {
    const message = 'the workflow ID must be link-provider/<user id>/<provider>, as linkProviderId makes it';
    throw ApplicationFailure.nonRetryable(message, 'InvalidCommand', { fields: [] });
  }
  checkOptions(input ?? {});
}

/** Follows the link until its end is told. */
async function follow(run: LinkRun): Promise<void> {
  const delivery = new CancellationScope();
  const delivering = delivery.run(() =>
    keepDelivering(
      run.link,
      deliveryOf(run.link, { raise, clear }, () => (run.heard = true)),
    ),
  );
  do {
    await followToTheEnd(run);
    await settle(run);
  } while (run.link.outcome === undefined || !run.commands.isEmpty || !allHandlersFinished());
  delivery.cancel();
  await delivering;
}

/** Works until there is an outcome, one thing at a time. */
async function followToTheEnd(run: LinkRun): Promise<void> {
  const { link, commands, alarm } = run;
  for (;;) {
    run.heard = false;
    if (run.cancelled) await cancel(run);
    await meetDeadlines(link);
    await commands.carryOutNext((command) => carryOut(link, command));
    show(run);
    if (link.outcome !== undefined && commands.isEmpty) break;
    const isSpent = run.wasCancelled || workflowInfo().continueAsNewSuggested;
    if (isSpent && !run.heard) await continueAnew(run);
    // What was heard meanwhile is due at once: it needs no timer.
    if (!run.heard) alarm.set(deadlinesOf(link)[0]);
    await condition(() => run.heard || alarm.rang || !commands.isEmpty);
  }
  alarm.disarm();
}

/** A success that was reported counts, cancelled or not. */
async function cancel(run: LinkRun): Promise<void> {
  const { link } = run;
  run.cancelled = false;
  run.wasCancelled = true;
  if (link.claim?.by === 'success') await readConnection(link);
  if (link.outcome === undefined) end(link, 'cancelled', Date.now());
}

/** Waits until everybody who asked is answered, or something new is asked. */
async function settle({ link, commands }: LinkRun): Promise<void> {
  await deliverBeforeEnd(link, () => !commands.isEmpty);
  await condition(() => allHandlersFinished() || !commands.isEmpty);
}

/** Starts over with a new run: what was asked for is answered first, and everything known goes along. */
async function continueAnew(run: LinkRun): Promise<void> {
  const { link, commands } = run;
  await condition(() => allHandlersFinished() || !commands.isEmpty);
  if (!commands.isEmpty || run.heard) return;
  const { userId, provider } = link;
  await makeContinueAsNewFunc<typeof linkProvider>({ workflowType: linkProviderName })({
    userId,
    provider,
    carried: link,
  });
}

function show({ link }: LinkRun): void {
  const state = stateOf(link);
  showToOperators(caseFileOf(state), [
    { key: labPhaseKey, value: state.phase },
    attentionAttribute(state.attention),
    // Set at the start, but perhaps by a backend in another language.
    ...ofUser(state.userId),
  ]);
}

function watchForCancellation(run: LinkRun): void {
  void CancellationScope.current().cancelRequested.catch(() => {
    run.cancelled = true;
    run.heard = true;
  });
}

function listen(run: LinkRun): void {
  const { link } = run;
  setHandler(connectionReportedSignal, () => hearOf(run), {
    description: 'A webhook reported a connection of this user with this provider.',
  });
  setHandler(linkStateQuery, () => stateOf(link), {
    description: 'Where the link stands, what it waits for and until when. Without token, URL and code.',
  });
  setHandler(requestLinkUpdate, (request) => ask<LinkUrl>(run, requested(run, request)), {
    description: 'Gives the link for the user’s browser, a new one if its token has ended.',
    validator: (request: LinkRequest) => validateRequest(run, request),
  });
  setHandler(
    reportLinkResultUpdate,
    // The validator has read it.
    (report) => ask<LinkState>(run, { kind: 'reportLinkResult', report: linkResultOf(report) ?? report }),
    {
      description: 'What the password step answered the user’s browser.',
      validator: (report: LinkReport) => validateReport(run, report),
    },
  );
  setHandler(submitMfaCodeUpdate, (given) => submitOnce(run, readCode(given.code) ?? ''), {
    description: 'Hands the user’s code to the provider.',
    validator: (given: MfaCode) => validateCode(run, given),
  });
  setHandler(cancelLinkUpdate, () => ask<LinkState>(run, { kind: 'cancel' }), {
    description: 'Ends the link; a connection that is made nevertheless stays.',
    validator: () => validateOpen(run),
  });
}

function hearOf(run: LinkRun): void {
  if (run.link.outcome !== undefined) return;
  hearWebhook(run.link, Date.now());
  run.heard = true;
}

/** Whoever asked is answered also where the workflow is cancelled meanwhile: the cancellation waits for its turn too. */
async function ask<Answer extends LinkAnswer>({ commands }: LinkRun, command: LinkCommand): Promise<Answer> {
  return CancellationScope.nonCancellable(async () => (await commands.ask(command)) as Answer);
}

/** A link that still stood when it was asked for does not begin anew because it ends before the answer's turn. */
function requested({ link }: LinkRun, request: LinkRequest | undefined): LinkCommand {
  return { kind: 'requestLink', request: link.outcome === undefined ? {} : (request ?? {}) };
}

/** A double click sends the same code twice at once: both get the one answer. */
async function submitOnce(run: LinkRun, code: string): Promise<CodeAnswer> {
  const twin = run.submitting.find((submitted) => submitted.code === code);
  if (twin) return twin.answer;
  const answer = ask<CodeAnswer>(run, { kind: 'submitMfaCode', code, question: questionOf(run.link) });
  run.submitting.push({ code, answer });
  try {
    return await answer;
  } finally {
    run.submitting = run.submitting.filter((submitted) => submitted.answer !== answer);
  }
}

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
  link: Link;
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
