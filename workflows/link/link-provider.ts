import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { Alarm } from '../alarm.js';
import { CommandQueue } from '../command-queue.js';
import { keepDelivering, untilTold } from '../outbox.js';
import { labAttentionKey, labPhaseKey, ofUser } from '../search-attributes.js';
import { showToOperators } from '../visibility.js';
import { isLinkAddressable, linkProviderId } from './address.js';
import { caseFileOf } from './case-file.js';
import { openLink, questionOf, raise } from './case.js';
import { hearWebhook } from './claims.js';
import { carryOut } from './command-execution.js';
import { readConnection } from './confirmation.js';
import { end } from './ending.js';
import { checkOptions, validateCode, validateOpen, validateReport, validateRequest } from './command-validation.js';
import { deadlinesOf } from './deadlines.js';
import { meetDeadlines } from './due-deadlines.js';
import { linkResultOf } from './link-report.js';
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
} from './messages.js';
import { readCode } from './mfa-code.js';
import type { LinkAnswer, LinkCommand, LinkRun } from './run.js';
import { linkTelling } from './telling.js';
import { resultOf, stateOf } from './view.js';

/** Carries one link of a user with a provider from its token to the connection, for as long as the user may take. */
export async function linkProvider(input: LinkProviderInput): Promise<LinkResult> {
  check(input);
  const run: LinkRun = {
    kase: openLink(input, Date.now()),
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
  return resultOf(run.kase);
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
  const delivering = delivery.run(() => keepDelivering(run.kase, linkTelling(run)));
  do {
    await followToTheEnd(run);
    await tellTheEnd(run);
  } while (run.kase.outcome === undefined || !run.commands.isEmpty || !allHandlersFinished());
  delivery.cancel();
  await delivering;
}

/** Works until there is an outcome, one thing at a time. */
async function followToTheEnd(run: LinkRun): Promise<void> {
  const { kase, commands, alarm } = run;
  for (;;) {
    run.heard = false;
    if (run.cancelled) await cancel(run);
    await meetDeadlines(kase);
    await commands.carryOutNext((command) => carryOut(kase, command));
    show(run);
    if (kase.outcome !== undefined && commands.isEmpty) break;
    const isSpent = run.wasCancelled || workflowInfo().continueAsNewSuggested;
    if (isSpent && !run.heard) await continueAnew(run);
    // What was heard meanwhile is due at once: it needs no timer.
    if (!run.heard) alarm.set(deadlinesOf(kase)[0]);
    await condition(() => run.heard || alarm.rang || !commands.isEmpty);
  }
  alarm.disarm();
}

/** A success that was reported counts, cancelled or not. */
async function cancel(run: LinkRun): Promise<void> {
  const { kase } = run;
  run.cancelled = false;
  run.wasCancelled = true;
  if (kase.claim?.by === 'success') await readConnection(kase);
  if (kase.outcome === undefined) end(kase, 'cancelled', Date.now());
}

/** A receiver that stays silent does not hold an end for ever: then a person is asked to look. */
async function tellTheEnd(run: LinkRun): Promise<void> {
  const { kase, commands } = run;
  if (!(await untilTold(kase, kase.policy.notificationDeadline, () => !commands.isEmpty))) {
    raise(kase, 'notifications_undelivered');
    show(run);
  }
  await condition(() => allHandlersFinished() || !commands.isEmpty);
}

/** Starts over with a new run: what was asked for is answered first, and everything known goes along. */
async function continueAnew(run: LinkRun): Promise<void> {
  const { kase, commands } = run;
  await condition(() => allHandlersFinished() || !commands.isEmpty);
  if (!commands.isEmpty || run.heard) return;
  const { userId, provider } = kase;
  await makeContinueAsNewFunc<typeof linkProvider>({ workflowType: linkProviderName })({
    userId,
    provider,
    carried: kase,
  });
}

function show({ kase }: LinkRun): void {
  const state = stateOf(kase);
  showToOperators(caseFileOf(state), [
    { key: labPhaseKey, value: state.phase },
    { key: labAttentionKey, value: state.attention.toSorted() },
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
  const { kase } = run;
  setHandler(connectionReportedSignal, () => hearOf(run), {
    description: 'A webhook reported a connection of this user with this provider.',
  });
  setHandler(linkStateQuery, () => stateOf(kase), {
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
  if (run.kase.outcome !== undefined) return;
  hearWebhook(run.kase, Date.now());
  run.heard = true;
}

/** Whoever asked is answered also where the workflow is cancelled meanwhile: the cancellation waits for its turn too. */
async function ask<Answer extends LinkAnswer>({ commands }: LinkRun, command: LinkCommand): Promise<Answer> {
  return CancellationScope.nonCancellable(async () => (await commands.ask(command)) as Answer);
}

/** A link that still stood when it was asked for does not begin anew because it ends before the answer's turn. */
function requested({ kase }: LinkRun, request: LinkRequest | undefined): LinkCommand {
  return { kind: 'requestLink', request: kase.outcome === undefined ? {} : (request ?? {}) };
}

/** A double click sends the same code twice at once: both get the one answer. */
async function submitOnce(run: LinkRun, code: string): Promise<CodeAnswer> {
  const twin = run.submitting.find((submitted) => submitted.code === code);
  if (twin) return twin.answer;
  const answer = ask<CodeAnswer>(run, { kind: 'submitMfaCode', code, question: questionOf(run.kase) });
  run.submitting.push({ code, answer });
  try {
    return await answer;
  } finally {
    run.submitting = run.submitting.filter((submitted) => submitted.answer !== answer);
  }
}
