import { describe, expect, test } from 'vitest';
import type { MatchReviewPolicy } from '../../../protocol/match-review/policy.js';
import type { MatchReviewState } from '../../../protocol/match-review/messages.js';
import type { MatchReviewSnapshot } from '../../../service/match-review/snapshot.js';
import { inTurn, Life, silent, unavailable, type Answers } from '../life.js';
import { found, life, opening, policy, rawResultId, reported, shown, day, hour, item, start } from './reviews.js';
import { resolvePolicy as policyOf } from '../../../protocol/policy/policies.js';

/* The lives of match reviews: what is asked of the service, what is announced, and what a decision is answered. */

const orderId = '00000000-0000-4000-8000-00000000000b';
const userId = 'user-1';
const over = (changes: Partial<MatchReviewSnapshot>) => item({ status: 'resolved', allowedActions: [], ...changes });
const withStaff = item({ status: 'pending_ops_review', allowedActions: [] });
const accepted = over({ resolutionAction: 'accepted', resolvedOrderId: orderId });
const rejected = over({ resolutionAction: 'rejected' });
const order = { orderId, userId, origin: 'initial', events: [] };

/** The service shows another state of the review from now on, and a webhook reports that there is news. */
async function report(review: Life, of?: MatchReviewSnapshot, status = 'pending_customer_review'): Promise<void> {
  review.answers['readMatchReview'] = shown(of);
  await review.signal('matchReviewReported', reported(status).argument);
}

const stateOf = async ({ run }: Life) => (await run.query('state')) as MatchReviewState;
const sentOf = (review: Life) => review.argumentsOf('decideMatchReview');
const readsOf = (review: Life) => review.secondsOf('readMatchReview');
const refusalOf = async (reply: Promise<unknown>) => ((await reply) as { refused?: string } | undefined)?.refused;
const at = (span: number) => new Date(start + span).toISOString();

/** A review whose decisions get these answers in turn, the last of them again and again. */
const reviewDeciding = (answers: unknown[], others: Answers = {}) =>
  life(item(), { decideMatchReview: inTurn(...answers), ...others });

/** What ends at this moment, after a person was asked. */
const ended = (at: string, outcome: string) => [
  ...[`${at} match_review.attention_cleared decision_needed`, `${at} match_review.ended ${outcome}`, `${at} completed`],
];

const lost = { failure: { type: 'AnswerLost' } };
const ours = (of?: MatchReviewSnapshot) => ({ ...shown(of), isOurs: true });
const theirs = (of?: MatchReviewSnapshot) => ({ ...shown(of), isOurs: false });
const gaveOrder = { order, isOurs: true };

/** A webhook says that there is news. */
const remark = (review: Life) => review.signal('matchReviewReported', reported('pending_customer_review').argument);

/** The result of an earlier run of the review. */
const earlier = {
  ...{ version: 1, rawResultId, phase: 'gone', subReasonCodes: [], allowedActions: [], waiting: { for: 'nothing' } },
  ...{ timeline: [{ at: at(-day), what: 'decided: unsure' }], attention: [], raised: {}, announced: [] as string[] },
  policy: policyOf('match review', { decisionReminders: ['2h'] }),
};

describe('a review that nobody decides', () => {
  test('is announced, asked for twice, and followed without end', async () => {
    const review = await (await life(item())).until(200);
    expect(review.events).toEqual([
      ...['0h match_review.review_needed', '0h match_review.attention_raised decision_needed'],
      ...['24h match_review.review_reminder 1', '72h match_review.review_reminder 2'],
    ]);
    const hours = readsOf(review).map((seconds) => seconds / 3600);
    expect(hours.slice(0, 6)).toEqual([1, 3, 7, 15, 24, 36]);
  });

  test('by the service’s staff needs a person after a week, once the service was asked', async () => {
    const review = await (await life(withStaff)).until(169);
    expect(readsOf(review).at(-1)).toBe(168 * 3600);
    expect(review.events).toEqual([
      ...['0h match_review.phase_changed with_service', '168h match_review.attention_raised service_review_overdue'],
    ]);
  });

  test('has the reminders of its policy, also if that comes later or has to be resolved', async () => {
    const resolvePolicy = (_now: number, { policy: asked }: { policy: MatchReviewPolicy }) =>
      policyOf('match review', asked);
    const review = await life(item(), { resolvePolicy }, { policy: { decisionReminders: ['2h'] } });
    expect(review.calls.slice(0, 2)).toEqual(['0h resolvePolicy', '0h identifyMatchReview']);
    expect((await review.until(3)).events.slice(2)).toEqual(['2h match_review.review_reminder 1']);
    await review.signal('reviewRequested', { policy: { decisionReminders: ['2h', '5h'] } });
    expect((await review.until(80)).events.slice(3)).toEqual(['5h match_review.review_reminder 2']);
    await review.signal('reviewRequested', {});
    await review.signal('reviewRequested');
    expect((await review.until(100)).events).toHaveLength(4);
  });
});

test('nothing is asked before a policy is resolved', async () => {
  const review = await life(item(), { resolvePolicy: silent }, { policy: { decisionReminders: ['2h'] } });
  expect(review.run.calls.map(({ call }) => call.name)).toEqual(['resolvePolicy']);
});

describe('a run', () => {
  test('of another result than its ID names is refused, or of none', async () => {
    for (const input of [undefined, { rawResultId: 1 }, { rawResultId: 'result-2' }]) {
      const begun = await new Life(opening, {}).start(input);
      expect(begun.events).toEqual(['0h failed: InvalidCommand']);
    }
  });

  test('shows operators where the review stands', async () => {
    const review = await life(item());
    await review.signal('matchReviewReported', reported('pending_customer_review', { userId }).argument);
    await review.signal('matchReviewReported', reported('pending_customer_review', { userId: 'user-2' }).argument);
    expect(review.run.shown.details).toContain('### Awaiting decision');
    expect(review.run.shown.attributes).toMatchObject({
      ...{ LabPhase: 'awaiting_decision', LabAttention: ['decision_needed'], LabUserId: userId },
    });
    expect(await stateOf(review)).toMatchObject({ userId, phase: 'awaiting_decision' });
  });

  test('drops what is not about the review', async () => {
    const review = await life(item());
    for (const odd of [null, { status: 'resolved' }, { rawResultId: 'result-2' }, { rawResultId: 7 }]) {
      await review.signal('matchReviewReported', odd);
    }
    const dropped = 'error: a signal was dropped: it has no report of this review';
    expect(review.run.logged).toEqual([dropped, dropped, dropped, dropped]);
    expect(readsOf(review)).toEqual([]);
  });

  test('with a long history goes on in a new one, which knows everything and asks for nothing again', async () => {
    const review = await life(item());
    review.run.suggestNewRun();
    await review.until(2);
    expect(review.events.at(-1)).toBe('1h continued');
    expect(review.run.end).toMatchObject({ input: { rawResultId } });
    const next = await review.next({ readMatchReview: shown(item()) });
    expect(next.calls).toEqual([]);
    expect((await next.until(25)).events).toEqual(['22h match_review.review_reminder 1']);
  });

  test('that is cancelled gives the review up; what comes before its end is announced is followed again, in a new run', async () => {
    for (const [name, argument] of [
      ['matchReviewReported', reported('pending_customer_review').argument],
      ['reviewRequested', {}],
    ] as const) {
      const review = await life(item(), { notify: unavailable });
      await review.cancel();
      expect(await stateOf(review)).toMatchObject({ outcome: 'abandoned' });
      await review.signal(name, argument);
      expect(review.events.at(-1)).toBe('0h continued');
      expect(review.run.end).not.toHaveProperty('input.carried.ending');
    }
    const review = await life(item());
    await review.cancel();
    expect(review.events.slice(2)).toEqual(ended('0h', 'abandoned'));
  });

  test('that is cancelled and requested at once is followed', async () => {
    const review = await life(item(), { readMatchReview: silent });
    await remark(review);
    await review.run.cancel();
    await review.signal('reviewRequested', {});
    await review.given({ readMatchReview: shown(item()) });
    expect(review.events.at(-1)).toBe('0h continued');
  });

  test('that the product requested reads the review again at once', async () => {
    const review = await life(rejected, {}, { policy });
    expect(review.events).toEqual(['0h match_review.ended rejected', '0h completed']);
    const again = await life(rejected, { notify: unavailable, readMatchReview: shown(item()) });
    await again.signal('reviewRequested', {});
    expect(readsOf(again)).toEqual([0]);
    expect(again.run.end).toBeUndefined();
    const open = await life(item());
    await open.signal('reviewRequested', {});
    expect(readsOf(open)).toEqual([]);
    const ended = await life(rejected, { notify: unavailable });
    await remark(ended);
    expect(ended.run.shown.details).not.toMatch(/followed again/i);
  });
});

describe('what is there already', () => {
  const after = (previous: object, of: MatchReviewSnapshot | undefined, more: object = {}) =>
    life(of, { identifyMatchReview: found(of, { previous: { ...earlier, ...previous } }) }, { policy, ...more });

  test('goes on with its history, its policy and its decision, and announces nothing again', async () => {
    const announced = (await life(withStaff)).announced.map(({ id }) => id);
    const decision = { action: 'unsure' };
    const review = await after({ announced, decision }, withStaff);
    expect(review.events).toEqual([]);
    expect(await stateOf(review)).toMatchObject({ decision, timeline: [{ what: 'decided: unsure' }, {}] });
    expect(review.calls).toEqual(['0h identifyMatchReview']);
    const reminded = await (await after({}, item())).until(5);
    expect(reminded.events.slice(2)).toEqual(['2h match_review.review_reminder 1']);
    expect(await stateOf(reminded)).not.toHaveProperty('decision');
  });

  test('with more than two hundred announcements remembers the last two hundred', async () => {
    const announced = Array.from({ length: 300 }, (_, count) => `${rawResultId}/${count}`);
    const review = await after({ announced }, accepted);
    const { result } = review.run.end as { result: { announced: string[] } };
    expect(review.announced).toHaveLength(1);
    expect(result.announced).toEqual([...announced.slice(-199), review.announced[0]?.id]);
  });

  test('asks the same question under another id', async () => {
    const review = await after({ raised: { decision_needed: 1 } }, item());
    const raised = review.announced.find(({ type }) => type === 'match_review.attention_raised');
    expect(raised?.id).toContain('decision_needed.2/');
  });

  test('has the policy that the product requests', async () => {
    const later = policyOf('match review', { decisionReminders: ['5h'] });
    const requested = { name: 'reviewRequested', argument: { policy: later } };
    const identifyMatchReview = found(item(), { previous: earlier });
    const begun = new Life(opening, { identifyMatchReview, readMatchReview: shown(item()) });
    const review = await (await begun.start({ rawResultId, policy }, requested)).until(10);
    expect(review.events.slice(2)).toEqual(['5h match_review.review_reminder 1']);
  });

  test.each<[string, object]>([
    ['matchReviewReported', reported('pending_customer_review').argument],
    ['reviewRequested', {}],
  ])('is read at once after %s, until then each quarter of an hour at least, first after 2 min', async (...given) => {
    const unread = { identifyMatchReview: { notifies: true }, readMatchReview: unavailable };
    const review = await (await life(item(), unread)).until(12);
    const pauses = readsOf(review).map((seconds, n, all) => seconds - (all[n - 1] ?? 0));
    expect([pauses[0], Math.max(...pauses)]).toEqual([120, 900]);
    const before = readsOf(review).length;
    await review.signal(...given);
    await review.given({ readMatchReview: shown(item()) }, 12.1);
    expect(readsOf(review).slice(before)).toEqual([12 * 3600, 12 * 3600 + 120]);
    expect(review.events[0]).toBe('12.033h match_review.review_needed');
  });

  test('is asked about after a day, until the service shows the review', async () => {
    const refused = { failure: { type: 'Unauthorized' } };
    const unread = { identifyMatchReview: { notifies: true }, readMatchReview: refused };
    const review = await (await life(item(), unread)).until(48);
    expect(review.events).toEqual(['24h match_review.attention_raised review_unreadable']);
    expect(await stateOf(review)).toMatchObject({ attention: [{ reason: 'review_unreadable' }] });
    await review.given({ readMatchReview: shown(item()) }, 48.5);
    const cleared = 'match_review.attention_cleared review_unreadable';
    expect(review.events.slice(1).map((event) => event.replace(/^\S+ /, ''))).toEqual([
      ...['match_review.review_needed', 'match_review.attention_raised decision_needed', cleared],
    ]);
  });

  test('may be older than a webhook that came meanwhile: it is read again', async () => {
    const review = await life(item(), { identifyMatchReview: silent });
    await review.signal('matchReviewReported', reported('pending_ops_review').argument);
    await review.given({ identifyMatchReview: found(item()), readMatchReview: shown(withStaff) });
    expect(readsOf(review)).toEqual([0]);
    expect(await stateOf(review)).toMatchObject({ phase: 'with_service' });
  });
});

test('a review whose signal could not be decrypted is read at once, and again within minutes if the service is silent', async () => {
  const review = await life(item(), { readMatchReview: unavailable });
  await review.signal('unreadable');
  await review.given({ readMatchReview: shown(withStaff) }, 0.1);
  expect(readsOf(review)).toEqual([0, 120]);
  expect(await stateOf(review)).toMatchObject({ phase: 'with_service', attention: [{ reason: 'unreadable_signal' }] });
});

test('a reminder says how the result was interpreted: a critical one is urgent', async () => {
  const review = await (await life(item({ interpretation: 'critical' }))).until(25);
  const reminders = review.announced.filter(({ type }) => type === 'match_review.review_reminder');
  expect(reminders).toMatchObject([{ data: { reminder: 1, interpretation: 'critical' } }]);
});

test('a result that turns out to be critical does not wait until the receiver is tried again', async () => {
  const triedAt: number[] = [];
  const notify = (now: number) => {
    triedAt.push((now - start) / hour);
    return unavailable;
  };
  const review = await (await life(item(), { notify })).until(0.1);
  await report(review, item());
  expect(triedAt).toEqual([0]);
  await report(review, item({ interpretation: 'critical' }));
  expect(triedAt).toEqual([0, 0.1]);
});

describe('a decision', () => {
  test('to accept, with a note of up to five thousand characters, gives the result to its order, whose workflow is notified, and ends the review', async () => {
    const review = await reviewDeciding([gaveOrder]);
    const note = '𝔸'.repeat(5000);
    const reply = await review.update('accept', { orderId, userId, note });
    expect(reply).toMatchObject({
      value: {
        ...{ phase: 'accepted', status: 'resolved', resolvedOrderId: orderId, resolvedUserId: userId },
        decision: { action: 'accept', orderId, userId },
      },
    });
    expect(sentOf(review)).toEqual([{ action: 'accept', orderId, userId, note, rawResultId, mayBeOurs: false }]);
    expect(review.argumentsOf('forwardOrder')).toEqual([{ snapshot: order, rootOrderId: orderId }]);
    expect(review.run.shown.details).toContain('Decided: accept');
    // A deletion of the user finds the review by it.
    expect(review.run.shown.attributes).toMatchObject({ LabUserId: userId });
    expect(review.events.slice(2)).toEqual(ended('0h', 'accepted'));
    expect(review.run.end).toMatchObject({ result: { decision: { action: 'accept', orderId, userId } } });
  });

  test('to accept that is answered after a cancellation still brings its order to its workflow', async () => {
    const review = await life(item(), { decideMatchReview: silent });
    await review.update('accept', { orderId });
    await review.run.cancel();
    await review.given({ decideMatchReview: gaveOrder });
    const next = review.run.end as { input?: object };
    const last = next.input === undefined ? review : await new Life(opening, {}).start(next.input);
    const forwarded = [review, last].flatMap((run) => run.argumentsOf('forwardOrder'));
    expect(forwarded[0]).toEqual({ snapshot: order, rootOrderId: orderId });
    expect(last.events.at(-2)).toBe('0h match_review.ended accepted');
  });

  test('to reject ends the review, also if the service does not say by whom', async () => {
    for (const decided of [rejected, over({}), over({ resolvedOrderId: orderId })]) {
      const review = await reviewDeciding([ours(decided)]);
      expect(await review.update('reject')).toMatchObject({ value: { phase: 'rejected' } });
      expect(sentOf(review)).toEqual([{ action: 'reject', rawResultId, mayBeOurs: false }]);
      expect(review.events.slice(3)).toEqual(['0h match_review.ended rejected', '0h completed']);
      expect(review.calls).not.toContain('0h forwardOrder');
    }
  });

  test('to leave it to the service’s staff waits for them, and the same decision twice is one', async () => {
    const review = await reviewDeciding([{ item: withStaff, isOurs: true }]);
    for (let time = 0; time < 2; time += 1) {
      expect(await review.update('markUnsure')).toMatchObject({ value: { phase: 'with_service' } });
    }
    expect(sentOf(review)).toHaveLength(1);
    expect(await review.update('reject')).toMatchObject({ value: { phase: 'with_service' } });
    expect(sentOf(review)).toHaveLength(2);
  });

  test('that was made before is answered at once, also while another one is in doubt', async () => {
    const review = await reviewDeciding([ours(withStaff), lost], { readMatchReview: shown(withStaff) });
    await review.update('markUnsure');
    await review.update('reject');
    expect(await review.update('markUnsure')).toMatchObject({ value: { decision: { action: 'unsure' } } });
    expect(sentOf(review)).toHaveLength(2);
  });

  test('on a review that was never read says nothing of its status', async () => {
    const review = await reviewDeciding([gaveOrder], { identifyMatchReview: { notifies: true } });
    const reply = await review.update('accept');
    expect(reply).toMatchObject({ value: { phase: 'accepted' } });
    expect(reply).not.toHaveProperty('value.status');
  });

  test('that was made twice at once is one; another order or user is another', async () => {
    const review = await life(item(), { decideMatchReview: silent, notify: unavailable });
    const same = { orderId: orderId.toUpperCase(), note: 'another' };
    for (const given of [{ orderId }, same, { orderId: 'order-2' }, { orderId, userId }, {}]) {
      await review.update('accept', given);
    }
    await review.given({ decideMatchReview: gaveOrder });
    const others = review.run.replies.slice(2).map(({ refused }) => refused);
    expect(review.run.replies.slice(0, 2)).toMatchObject(Array(2).fill({ value: { phase: 'accepted' } }));
    expect(others).toEqual(Array(3).fill('ReviewEnded'));
    expect(sentOf(review)).toHaveLength(1);
    // The end is not announced yet: these are refused before they are in the history, or answered as before.
    expect(await review.update('accept', { orderId })).toMatchObject({ value: { phase: 'accepted' } });
    expect(await refusalOf(review.update('reject'))).toBe('ReviewEnded');
    expect(review.run.accepted).toHaveLength(6);
    expect(review.run.refusals.at(-1)).toEqual({ fields: [], reason: 'accepted' });
  });

  test.each<[string, object]>([
    ['accept', { userId: 1 }],
    ['accept', { by: 1 }],
    ['accept', { note: '' }],
    ['accept', { note: '𝔸'.repeat(5001) }],
    ['reject', { orderId }],
    ['markUnsure', { userId }],
  ])('that is wrong is refused before it is in the history: %s %j', async (name, given) => {
    const review = await reviewDeciding([gaveOrder]);
    expect(await refusalOf(review.update(name, given))).toBe('InvalidCommand');
    expect(review.run.refusals).toMatchObject([{ fields: [{ field: Object.keys(given)[0] }] }]);
    expect(review.run.accepted).toEqual([]);
    expect(sentOf(review)).toEqual([]);
  });

  test('to leave it to the staff is not one to reject, whatever they have made of it by then', async () => {
    const review = await reviewDeciding([ours(over({}))]);
    expect(await review.update('markUnsure')).toMatchObject({ value: { phase: 'resolved' } });
  });

  test.each([
    ['accept', 'rejected', rejected],
    ['reject', 'accepted', accepted],
  ])('to %s what somebody else has %s is refused, and what is shown is what there is', async (name, reason, of) => {
    const review = await reviewDeciding([theirs(of)], { readOrder: order });
    expect(await refusalOf(review.update(name))).toBe('ReviewEnded');
    expect(review.run.refusals).toEqual([{ fields: [], reason }]);
    expect(review.run.end).toMatchObject({ result: { phase: reason } });
    expect(review.run.end).not.toHaveProperty('result.decision');
    expect(review.run.shown.details).not.toContain('Decided');
  });

  const previous = { ...earlier, outcome: 'rejected', announced: [`${rawResultId}/rejected/ended`] };
  const endedBefore = { identifyMatchReview: found(item(), { previous }) };
  const { status: _status, ...withoutStatus } = item({ allowedActions: [] });

  test.each<[string, object, string, Answers?]>([
    ['that somebody else has left to the staff is refused with that', theirs(withStaff), 'pending_ops_review'],
    ['without a status is refused without a reason that it knows', theirs(withoutStatus), 'unknown'],
    ['that the service does not show any more is refused', theirs(), 'gone'],
    ['that is not believed to be open again is refused, too late', theirs(withStaff), 'unknown', endedBefore],
  ])('on a review %s', async (_what, answer, reason, answers) => {
    const review = await reviewDeciding([answer], answers);
    expect(await refusalOf(review.update('reject'))).toBe('ReviewEnded');
    expect(review.run.refusals).toEqual([{ fields: [], reason }]);
    expect(readsOf(review)).toEqual(answers ? [] : [0]);
  });

  test('that the service refuses is not in doubt, and shows that it knows something else: it is read', async () => {
    const refusal = { failure: { type: 'ActionNotAllowed' } };
    const review = await reviewDeciding([refusal], { readMatchReview: shown(withStaff) });
    expect(await refusalOf(review.update('accept'))).toBe('ActionNotAllowed');
    expect(readsOf(review)).toEqual([0]);
    expect(await stateOf(review)).toMatchObject({ phase: 'with_service' });
    expect(review.run.shown.details).not.toContain('was not answered');
  });

  test('on a review whose end an earlier run announced shows that it is open again', async () => {
    const review = await reviewDeciding([ours(rejected)], endedBefore);
    await review.update('reject');
    expect(review.announced.at(-1)?.id).toBe(`${rawResultId}/rejected.2/ended`);
  });

  test('that is answered ends the silence: what follows does not wait for the next poll', async () => {
    const review = await reviewDeciding([gaveOrder], { readMatchReview: unavailable });
    await remark(review);
    await review.update('accept');
    expect(review.events.at(-1)).toBe('0h completed');
    expect(review.run.logged).toEqual(['warn: match review could not be read']);
  });
});

describe('a decision that is not answered', () => {
  test.each<[string, object]>([
    ['AnswerLost', lost],
    ['ServiceUnavailable', unavailable],
    ['CommandTimedOut', { failure: { ended: 'worker_lost' } }],
  ])('(%s) is read at once, and once more when the service cannot be at work any more', async (type, failure) => {
    const review = await reviewDeciding([failure]);
    expect(await refusalOf(review.update('reject'))).toBe(type);
    expect(review.run.shown.details).toContain('was not answered');
    expect(readsOf(review)).toEqual([0]);
    await review.given({ readMatchReview: shown(rejected) }, 1);
    expect(readsOf(review)).toEqual([0, 35]);
    expect(review.run.end).toMatchObject({ result: { phase: 'rejected', decision: { action: 'reject' } } });
    expect(review.run.shown.details).toMatch(/decided: reject/i);
  });

  const isSilent = { readMatchReview: unavailable };

  test.each<[boolean, string, string, string, Answers, hours?: number]>([
    [true, 'reject', 'reject', 'the service is silent', isSilent],
    [false, 'reject', 'accept', 'the service is silent', isSilent],
    [true, 'reject', 'reject', 'it does not show the review', { readMatchReview: shown() }],
    [false, 'markUnsure', 'markUnsure', 'it shows that nothing happened', {}],
    [false, 'reject', 'reject', 'it has shown for long enough that nothing happened', {}, 0.02],
  ])(
    'holds up the next one, and may be ours: %s, if %s is followed by %s while %s',
    async (mayBeOurs, first, next, _while, answers, hours) => {
      const review = await reviewDeciding([lost, ours(rejected)]);
      await review.update(first);
      await review.given(answers, hours);
      await review.update(next);
      await review.until(1);
      expect(sentOf(review)).toMatchObject([{ mayBeOurs: false }, { mayBeOurs }]);
      expect(readsOf(review)).toEqual([0, 35]);
      expect(review.secondsOf('decideMatchReview')).toEqual([0, hours === undefined ? 35 : 72]);
      expect(review.run.replies.at(-1)).toMatchObject({ value: { phase: 'rejected' } });
    },
  );

  test('is in doubt no longer once another one is answered', async () => {
    const review = await reviewDeciding([lost, ours(withStaff)]);
    await review.update('markUnsure');
    await review.given({ readMatchReview: unavailable });
    await review.update('markUnsure');
    expect(readsOf(await review.until(0.9))).toEqual([0, 35]);
  });

  test.each<[string, MatchReviewSnapshot, object, object | undefined]>([
    ['was carried out is not sent again', accepted, { value: { phase: 'accepted' } }, { action: 'accept', orderId }],
    ['was overtaken by somebody else is refused', rejected, { refused: 'ReviewEnded' }, undefined],
  ])('and %s', async (_what, after, reply, decision) => {
    const review = await reviewDeciding([lost], { readOrder: order });
    await review.update('accept', { orderId });
    await review.given({ readMatchReview: shown(after) });
    await review.update('accept', { orderId });
    await review.until(0.01);
    expect(sentOf(review)).toHaveLength(1);
    expect(review.run.replies.at(-1)).toMatchObject(reply);
    expect((review.run.end as { result?: { decision?: object } }).result?.decision).toEqual(decision);
  });

  test('is asked about later if the service is silent, and in doubt until it has answered', async () => {
    const review = await reviewDeciding([lost], { readMatchReview: unavailable });
    await review.update('reject');
    await review.until(1.5);
    await review.given({ readMatchReview: shown(over({})) }, 10);
    expect(review.run.end).toMatchObject({ result: { phase: 'resolved', decision: { action: 'reject' } } });
  });

  const again = { ...order, orderId: 'order-2', parentId: orderId, origin: 'recreation' };

  /** The service shows that a decision without an answer gave the result to an order, which is read. */
  async function acceptedFor(readOrder: unknown): Promise<Life> {
    const review = await reviewDeciding([lost], { readOrder });
    await review.update('accept', { orderId });
    return review.given({ readMatchReview: shown({ ...accepted, resolvedOrderId: 'order-2' }) }, 0.01);
  }

  const { parentId: recreates, ...apart } = again;

  test.each([
    ['', again],
    [' for another patient', { ...apart, recreates }],
  ])('to accept is carried out if the result was given to an order that was made for that one%s', async (_, of) => {
    const review = await acceptedFor(of);
    expect(review.argumentsOf('readOrder')[0]).toBe('order-2');
    expect(review.run.end).toMatchObject({ result: { decision: { action: 'accept', orderId } } });
    expect((await acceptedFor(silent)).run.calls).toMatchObject([{ call: { name: 'readOrder' } }]);
  });

  test.each([{ ...again, parentId: 'order-3' }, null])('to accept is not carried out for %j', async (of) => {
    const { run } = await acceptedFor(of);
    expect(run.end).toBeDefined();
    expect(run.end).not.toHaveProperty('result.decision');
  });

  test('is in doubt as well if nobody has ever reported or shown the review', async () => {
    const answers = { identifyMatchReview: found(), readMatchReview: shown(), decideMatchReview: lost };
    const review = await new Life(opening, answers).start({ rawResultId, policy }, { name: 'reviewRequested' });
    await review.update('reject');
    expect(review.events).toEqual([]);
    expect(readsOf(await review.until(0.01))).toEqual([0, 35]);
  });

  test('counts as carried out by what a webhook reported if the service does not show the review', async () => {
    const review = await reviewDeciding([lost]);
    await review.update('reject');
    await review.given({ readMatchReview: shown() });
    await review.signal('matchReviewReported', reported('resolved', { resolutionAction: 'rejected' }).argument);
    expect(review.run.end).toMatchObject({ result: { phase: 'rejected', decision: { action: 'reject' } } });
  });
});

describe('a review that is over', () => {
  test('brings its order to its workflow, which is read for that', async () => {
    const review = await life(item(), { readOrder: { ...order, passthrough: 'labops:order-0:r:2' } });
    await report(review, accepted);
    expect(review.argumentsOf('forwardOrder')).toMatchObject([{ rootOrderId: 'order-0' }]);
    expect(review.events.slice(3)).toEqual(['0h match_review.ended accepted', '0h completed']);
  });

  test('is not over before the order’s workflow is notified', async () => {
    const review = await life(item(), { readOrder: order, forwardOrder: silent });
    await report(review, accepted);
    expect(review.events).toHaveLength(2);
    expect(review.run.end).toBeUndefined();
  });

  test('says so if the service does not know the order, or gives it an id that nothing can be called by', async () => {
    const odd = { ...order, orderId: 'an order' };
    for (const readOrder of [null, odd, { ...odd, passthrough: 'labops:order-0:r:2' }]) {
      const review = await life(item(), { readOrder });
      await report(review, accepted);
      expect(review.run.end).toMatchObject({ result: { phase: 'accepted' } });
      expect(review.run.shown.details).toContain('The service does not know the order');
      expect(review.calls).not.toContain('0h forwardOrder');
    }
  });

  test('reads its order again for a day if the service is silent', async () => {
    const review = await life(item(), { readOrder: unavailable });
    await report(review, accepted);
    expect(review.run.logged).toEqual(['warn: the order of a match review could not be read']);
    expect(review.run.end).toBeUndefined();
    await review.given({ readOrder: order }, 10);
    expect(review.secondsOf('readOrder')).toEqual([0, 7200]);
    expect(review.events.at(-1)).toBe('2h completed');
    const never = await life(item(), { readOrder: unavailable });
    await report(never, accepted);
    await never.until(100);
    expect(never.run.shown.details).toContain('The order could not be read');
  });

  test('is gone once the service has not shown it for ten minutes', async () => {
    const review = await life(item());
    await report(review, undefined);
    expect(readsOf(await review.until(10))).toEqual([0, 600]);
    expect(review.events.slice(2)).toEqual(ended('0.167h', 'gone'));
  });
});

test('a webhook’s report is read field by field, by whatever spelling of its id', async () => {
  const review = await life(item());
  const fields = { decisionCode: 7, resolutionAction: 'accepted', resolvedUserId: userId, resolvedOrderId: orderId };
  const { argument } = reported('resolved', { ...fields, userId });
  await review.signal('matchReviewReported', { ...argument, rawResultId: rawResultId.toUpperCase() });
  expect(readsOf(review)).toEqual([0]);
  expect(await stateOf(review)).toMatchObject({ userId });
  await report(review, undefined, 'odd');
  await review.until(hour);
  expect(review.run.end).toMatchObject({
    result: { phase: 'accepted', resolvedOrderId: orderId, resolvedUserId: userId },
  });
});
