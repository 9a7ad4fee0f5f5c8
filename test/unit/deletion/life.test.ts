import { describe, expect, test } from 'vitest';
import type { DeletionPolicy } from '../../../protocol/deletion/policy.js';
import { inTurn, Life, silent, unavailable } from '../life.js';
import { begin, opening, requested, start, usual, userId } from './lives.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import { nextMoment, openDeletion } from '../../../workflows/deletion/deletion.js';
import { stateOf } from '../../../workflows/deletion/view.js';

/* The lives of deletions, from the request to the end: what callers and the product learn, and when the service is asked. */

const final = (type: string) => ({ failure: { type } });
const kit = { workflowId: 'kit-order/a', name: 'kitOrder' };
const link = { workflowId: 'link-provider/u/oura', name: 'linkProvider' };

const request = (life: Life, more: object = {}) =>
  life.update('request', { userId, policy: resolvePolicy('deletion'), ...more });
const undo = (life: Life) => life.update('undo');

const gone = { readUser: { standing: 'scheduled' } };
const there = { readUser: usual['readUser'] };
const running = (...work: object[]) => ({ findRunningWork: { work, notifies: true } });
const short: DeletionPolicy = { grace: '1h', reminderBefore: '30m' };
/** What an undo gives back, and what it cannot; nothing of a user whom nobody had deleted. */
const restored = { restored: ['user', 'data'], notRestored: ['connections'] };
const withdrawn = { restored: [], notRestored: [] };

/** Hours. */
const minutes = (count: number) => count / 60;
const resultOf = ({ run }: Life) => (run.end as { result?: Record<string, unknown> } | undefined)?.result;
const refusal = (name: 'request' | 'undo', refused: string) => ({ name, refused });
/** As many callers get an answer that shows this phase. */
const answersIn = (...phases: string[]) => phases.map((phase) => ({ value: { phase } }));
const seenOf = ({ run }: Life) => run.shown.details;
const phaseOf = ({ run }: Life) => run.shown.attributes['LabPhase'];

/** The request, and whatever comes before the grace. */
const begins = ['0h findRunningWork', '0h readUser', '0h findRunningWork', '0h scheduleDeletion'];

describe('a deletion that nobody undoes', () => {
  test('is accepted, has one reminder a day before the end of its week, and is final once the user is seen to be gone: operators see each step', async () => {
    const graceUntil = '2026-03-08T10:00:00.000Z';
    const life = await requested();
    expect(phaseOf(life)).toBe('grace');
    expect(seenOf(life)).toContain('### Grace');
    expect(seenOf(life)).toContain('**Can be undone until** 2026-03-08 10:00:00');
    // The product's own reference of the user may be a name.
    expect(JSON.stringify(await life.run.query('state')) + seenOf(life)).not.toContain('reference-1');
    const value = { phase: 'grace', graceUntil, connections: ['oura'], scheduledBefore: false, work: [] };
    expect(life.run.replies).toMatchObject([{ value }]);
    const { calls, events, announced } = await life.given(gone, 1000);
    expect(calls.slice(0, -2)).toEqual([...begins, '168h readUser', '168h eraseHealthData']);
    expect(events).toEqual([
      ...['0h user.deletion_scheduled', '144h user.deletion_reminder', '168h user.deleted', '168h completed'],
    ]);
    expect(announced[1]?.data).toMatchObject({ graceUntil, scheduledBefore: false });
    expect(resultOf(life)).toMatchObject({ outcome: 'deleted', endedAt: graceUntil });
    expect(phaseOf(life)).toBe('deleted');
    for (const said of [
      '01 10:00:00 | The service accepted the deletion |',
      'Reminded the product',
      'The health data were erased',
    ]) {
      expect(seenOf(life)).toContain(said);
    }
    expect(seenOf(life)).not.toMatch(/running workflows found|takes long|cannot be read|already been scheduled/i);
  });

  test('erases health data by both ids of the user, unless the deployment keeps none', async () => {
    const life = await (await requested()).given(gone, 1000);
    expect(life.argumentsOf('eraseHealthData')).toEqual([{ userId, clientUserId: 'reference-1' }]);
    const without = await requested();
    await without.given({ readUser: { standing: 'scheduled', keepsNoHealthData: true } }, 1000);
    expect(without.calls.slice(4)).toEqual(['168h readUser', '168h findHistories', '168h writeReceipt']);
    expect(without.events.at(-1)).toBe('168h completed');
  });

  test('erases the histories of the user’s other workflows once the product is notified, and says what was left', async () => {
    const runs = [{ workflowId: 'kit-order/a', runId: 'run-1' }];
    const histories = {
      erased: [{ workflowId: 'kit-order/a', completedAt: '2026-03-02T10:00:00.000Z' }],
      left: [{ workflowId: 'kit-order/b', name: 'kitOrder', because: 'open' }],
    };
    const found = { runs, workflows: histories.erased, left: histories.left };
    const life = await (await requested({ findHistories: found, eraseHistories: unavailable })).given(gone, 170);
    expect(life.calls.slice(6, 8)).toEqual(['168h findHistories', '168h eraseHistories']);
    expect(life.events.slice(2)).toEqual(['168h user.deleted', '168h user.attention_raised erasure_delayed']);
    expect(await request(life)).toMatchObject({ refused: 'UserUnknown' });
    await life.given({ eraseHistories: null }, 1000);
    expect(life.argumentsOf('eraseHistories').at(-1)).toEqual(runs);
    expect(life.events.slice(4)).toEqual(['170.167h user.attention_cleared erasure_delayed', '170.167h completed']);
    expect(resultOf(life)).toMatchObject({ outcome: 'deleted', histories });
    expect(seenOf(life)).toContain('of 1 workflows were erased');
    const answers = { findHistories: 'kept', writeReceipt: { receipt: 'a.signed.receipt' } };
    const keeping = await (await requested(answers)).given(gone, 1000);
    expect(resultOf(keeping)).toMatchObject({ outcome: 'deleted', histories: 'kept', receipt: 'a.signed.receipt' });
    expect(keeping.calls).not.toContain('168h eraseHistories');
  });

  test('counts the lab service’s own grace in the receipt from the last request, not from the first, also in the next run', async () => {
    const delayed = await (await requested({ scheduleDeletion: unavailable })).given({}, 5);
    await (await delayed.given({ scheduleDeletion: 'accepted' }, 10)).given(gone);
    delayed.run.suggestNewRun();
    await request(delayed);
    const next = await (await delayed.next()).until(1000);
    expect(next.argumentsOf('writeReceipt')).toMatchObject([{ sentUntil: '2026-03-01T15:01:00.000Z' }]);
  });

  test('has no reminder if no product is notified, its time is the start, or it fell due when the grace was over', async () => {
    const without = await requested({ findRunningWork: { work: [], notifies: false } });
    expect(without.run.nextTimer()).toBe(start + 168 * 3_600_000);
    expect((await requested({}, { grace: '1d' })).events).toEqual(['0h user.deletion_scheduled']);
    const late = await requested({}, { grace: '2d' });
    Object.assign(late.answers, gone);
    late.run.now = start + 50 * 3_600_000;
    await late.until(50);
    expect(late.events).toEqual(['0h user.deletion_scheduled', '50h user.deleted', '50h completed']);
  });

  test('is not final if the user is there at its end, or while the data were erased: somebody else has restored them', async () => {
    const seen = await (await requested()).until(1000);
    expect(seen.events.slice(2)).toEqual(['168h user.deletion_undone', '168h completed']);
    const undone = { by: 'elsewhere', ...restored, lostConnections: ['oura'] };
    expect(resultOf(seen)).toMatchObject({ outcome: 'undone', undo: undone });
    const later = await (await requested({ eraseHealthData: 'present' })).given(gone, 1000);
    expect(later.events.slice(2)).toEqual(['168h user.deletion_undone', '168h completed']);
    expect(seenOf(later)).not.toContain('The health data were erased');
  });

  test('asks a person to look if the service, or the store, does not answer at its end for a round, and goes on asking', async () => {
    const life = await requested();
    await life.given({ readUser: unavailable }, 169);
    expect(life.events.slice(2)).toEqual(['168h user.attention_raised confirmation_delayed']);
    expect(await undo(life)).toMatchObject({ refused: 'GraceEnded' });
    await life.given({ ...gone, eraseHealthData: unavailable }, 170);
    expect(life.events.slice(3)).toEqual([
      '169.167h user.attention_cleared confirmation_delayed',
      '169.167h user.attention_raised erasure_delayed',
    ]);
    expect((await life.given({ eraseHealthData: 'erased' }, 1000)).events.slice(5)).toEqual([
      '170.167h user.attention_cleared erasure_delayed',
      '170.167h user.deleted',
      '170.167h completed',
    ]);
  });

  test('is not given up for what the service, or the store, refuses at its end: it may have happened', async () => {
    const life = await requested();
    await life.given({ readUser: final('RequestInvalid') }, 168);
    expect(life.run.end).toBeUndefined();
    await life.given({ ...gone, eraseHealthData: final('StoreRefused') }, 169.5);
    expect(life.run.end).toBeUndefined();
    expect((await life.given({ eraseHealthData: 'erased' }, 171)).events.at(-1)).toBe('170h completed');
  });
});

/** Reads that show a deletion half a minute after it was accepted. */
const lagging = (acceptedAt: number) => (now: number) => ({
  standing: now - start < acceptedAt + 30_000 ? 'present' : 'scheduled',
});

test.each([
  ['it is short', 0, 5_000],
  ['the service was down for longer', 72 * 3_600_000 + 60_000, 24 * 3_600_000],
] as const)('a grace that ends before a read can show the deletion waits: %s', async (_why, acceptedAt, grace) => {
  const scheduleDeletion = (now: number) => (now - start < acceptedAt ? unavailable : 'accepted');
  const policy = { ...resolvePolicy('deletion'), grace };
  const life = await requested({ scheduleDeletion, readUser: lagging(acceptedAt) }, policy);
  await life.until(1000);
  expect(resultOf(life)).toMatchObject({ outcome: 'deleted' });
});

describe('an undo', () => {
  test('in the grace restores the user, says what is not restored, and ends the deletion', async () => {
    const life = await requested({ undoDeletion: null });
    await life.until(24);
    const report = { by: 'command', ...restored, lostConnections: ['oura'] };
    expect(await undo(life)).toMatchObject({
      value: { phase: 'undone', undo: { at: '2026-03-02T10:00:00.000Z', ...report } },
    });
    const about = { userId, clientUserId: 'reference-1', readableAt: start + 35_000 };
    expect(life.argumentsOf('undoDeletion')).toEqual([about]);
    expect(life.calls).toEqual([...begins, '24h undoDeletion']);
    expect(life.events.slice(1)).toEqual(['24h user.deletion_undone', '24h completed']);
    expect(life.announced.at(-1)?.data).toMatchObject({ userId, ...report });
    expect(phaseOf(life)).toBe('undone');
    expect(seenOf(life)).not.toContain('An undo w');
  });

  test('that was accepted in time is carried out, and has its answer when it is sent again, though the grace ends meanwhile', async () => {
    const life = await requested({ undoDeletion: silent }, short);
    for (const hours of [0.9, 1.1]) {
      await life.until(hours);
      await undo(life);
    }
    await life.given({ undoDeletion: null });
    expect(life.run.replies.slice(1)).toMatchObject(answersIn('undone', 'undone'));
    expect(life.calls.slice(4)).toEqual(['1.1h undoDeletion']);
    expect(life.events.slice(2)).toEqual(['1.1h user.deletion_undone', '1.1h completed']);
  });

  test('just before the reminder is followed by none, whenever the product can be notified', async () => {
    const life = await requested();
    await life.until(144 - 10 / 3600);
    life.answers['notify'] = silent;
    await undo(life);
    life.run.now = start + 144 * 3_600_000 + 5_000;
    await life.given({ notify: undefined });
    expect(life.events.slice(1)).toEqual(['144.001h user.deletion_undone', '144.001h completed']);
  });

  test('that waits while somebody else restores the user has the answer that it is undone', async () => {
    const life = await requested();
    await life.given({ readUser: silent }, 1);
    await request(life);
    await undo(life);
    await life.given(there);
    expect(life.run.replies.find(({ name }) => name === 'undo')).toMatchObject({ value: { phase: 'undone' } });
    expect(life.calls).not.toContain('1h undoDeletion');
  });

  test('withdraws the requests before it, too', async () => {
    const life = await requested();
    await request(life);
    await undo(life);
    expect(life.events.slice(1)).toEqual(['0h user.deletion_undone', '0h completed']);
  });

  test('of a deletion that the service has not accepted for longer than its grace is carried out at once', async () => {
    const life = await requested({ scheduleDeletion: unavailable }, { grace: '1d', reminderBefore: '1h' });
    await life.until(24 * 3 + 0.1);
    expect(await undo(life)).toMatchObject({ value: { phase: 'undone' } });
    expect(life.calls.at(-1)).toBe('72.1h undoDeletion');
  });

  test('that comes again while the product is notified has the answer of the first', async () => {
    const life = await requested();
    life.answers['notify'] = silent;
    await undo(life);
    expect(await undo(life)).toMatchObject({ name: 'undo', value: { phase: 'undone' } });
    expect(life.calls.filter((call) => call.includes('undo'))).toHaveLength(1);
  });

  test('that the service refuses leaves no doubt: the grace goes on', async () => {
    const life = await requested({ undoDeletion: final('UndoRefused') });
    expect(await undo(life)).toEqual(refusal('undo', 'UndoRefused'));
    expect(seenOf(life)).toContain('An undo was not carried out');
    expect(seenOf(life)).not.toContain('An undo waits');
    const { calls } = await life.given(gone, 1000);
    expect(calls.slice(4, 7)).toEqual(['0h undoDeletion', '168h readUser', '168h eraseHealthData']);
  });

  test('without an answer is looked into when a read can show what came of it', async () => {
    const found = await requested({ undoDeletion: unavailable });
    await found.until(1);
    expect(await undo(found)).toEqual(refusal('undo', 'ServiceUnavailable'));
    const { calls, events } = await found.until(1000);
    expect(calls.slice(4)).toEqual(['1h undoDeletion', '1.01h readUser']);
    expect(events.slice(1)).toEqual(['1.01h user.deletion_undone', '1.01h completed']);
    expect(resultOf(found)).toMatchObject({ undo: { by: 'command' } });
    const lost = await (await requested({ undoDeletion: unavailable })).given(gone);
    await undo(lost);
    await lost.until(1000);
    expect(lost.calls.slice(5, 8)).toEqual(['0.01h readUser', '168h readUser', '168h eraseHealthData']);
    expect(lost.events.at(-1)).toBe('168h completed');
  });

  test('without an answer is a person’s case if no read shows what came of it, and stays in doubt until the end', async () => {
    const life = await (await requested({ undoDeletion: unavailable })).given({ readUser: unavailable });
    await undo(life);
    await life.until(2);
    expect(life.events.slice(1)).toEqual(['0.01h user.attention_raised undo_doubtful']);
    const { events } = await life.given(there, 1000);
    const what = events.slice(2).map((event) => event.replace(/^\S+ /, ''));
    expect(what).toEqual(['user.attention_cleared undo_doubtful', 'user.deletion_undone', 'completed']);
    expect(resultOf(life)).toMatchObject({ undo: { by: 'command' } });
  });

  test('without an answer is read once at a time, and holds up neither the reminder nor the end', async () => {
    const life = await (await requested({ undoDeletion: unavailable })).given({ readUser: silent });
    await undo(life);
    const reads = () => life.run.calls.filter(({ call }) => call.name === 'readUser');
    for (const hours of [100, 145, 167]) {
      await life.until(hours);
      expect(reads()).toHaveLength(1);
    }
    expect(life.events.slice(1)).toEqual(['144h user.deletion_reminder']);
    await life.until(168);
    expect(phaseOf(life)).toBe('confirming');
    expect(reads()).toHaveLength(1);
  });

  test('without an answer just before the end delays the last read, so it shows what came of it', async () => {
    const life = await requested({ undoDeletion: unavailable }, short);
    await life.given(gone, 1 - 10 / 3600);
    await undo(life);
    expect((await life.until(1000)).calls.slice(5, 7)).toEqual(['1.007h readUser', '1.007h eraseHealthData']);
  });

  test('is refused before the request is answered, when the grace is over, and when the user is deleted', async () => {
    const early = new Life(opening, { ...usual, findRunningWork: silent });
    await early.run.start({ userId, policy: resolvePolicy('deletion') });
    await early.run.update({ name: 'request', argument: { userId } });
    expect(await undo(early)).toEqual(refusal('undo', 'GraceNotBegun'));
    const late = await (await requested()).given(gone);
    late.run.now = start + 168 * 3_600_000;
    expect(await undo(late)).toEqual(refusal('undo', 'GraceEnded'));
    await late.given({ notify: silent }, 168);
    expect(await undo(late)).toEqual(refusal('undo', 'GraceEnded'));
    expect(await request(late)).toEqual(refusal('request', 'UserUnknown'));
  });

  describe('before anything was sent', () => {
    /** An undo that comes before the user was read, or meanwhile. */
    const unread = { readUser: unavailable };

    test.each([
      ['is cancelled', { cancelWork: silent }, { cancelWork: { fate: 'cancelled' } }],
      ['is looked for once more', { findRunningWork: silent }, running()],
    ])('asks the service only if the user was read as scheduled, while running work %s', async (_what, held, then) => {
      for (const [standing, report, asks] of [
        [there, withdrawn, false],
        [gone, restored, true],
      ] as const) {
        const answers = { ...unread, ...running(kit), undoDeletion: 'undone' };
        const life = await requested(answers, { onRunningWork: 'cancel' });
        await life.given({ ...standing, ...held }, minutes(1.1));
        await undo(life);
        await life.given(then);
        expect(life.run.replies[1]).toMatchObject({ value: { phase: 'undone', undo: { by: 'command', ...report } } });
        expect(JSON.stringify(life.run.replies[1])).not.toContain('lostConnections');
        expect(life.calls.join().includes('undoDeletion')).toBe(asks);
        expect(life.calls.join()).not.toContain('scheduleDeletion');
      }
    });

    test.each([
      ['somebody else may have had them scheduled', 'undone', restored],
      ['if it shows the user, nobody had deleted them', 'present', withdrawn],
    ])('asks the service about a user who was not read: %s', async (_what, undoDeletion, report) => {
      const life = await requested({ ...unread, undoDeletion });
      expect(await undo(life)).toMatchObject({ value: { phase: 'undone', undo: { by: 'command', ...report } } });
      expect(life.calls).toEqual(['0h findRunningWork', '0h readUser', '0h findEarlierDeletion', '0h undoDeletion']);
      expect(life.events).toEqual(['0h user.deletion_undone', '0h completed']);
    });

    test('is refused if the service does not answer, and the deletion goes on', async () => {
      const life = await requested({ ...unread, undoDeletion: unavailable });
      expect(await undo(life)).toEqual(refusal('undo', 'ServiceUnavailable'));
      await life.given(there, 1);
      expect(life.events.at(-1)).toMatch(/user.deletion_scheduled$/);
      expect(life.events.join()).not.toContain('undone');
    });

    test('of a user whose deletion was announced as final is refused: the service might still undo it', async () => {
      const life = await requested({ ...unread, findEarlierDeletion: { outcome: 'deleted' } });
      expect(await undo(life)).toEqual(refusal('undo', 'GraceEnded'));
      expect(life.calls).not.toContain('0h undoDeletion');
      expect(resultOf(life)).toMatchObject({ outcome: 'deleted' });
    });
  });

  test('before the service has accepted the deletion waits until no request can arrive any more, then undoes', async () => {
    const life = await requested({ scheduleDeletion: unavailable });
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    await undo(life);
    expect(life.run.replies).toHaveLength(1);
    expect(seenOf(life)).toContain('An undo waits until no request of the deletion can arrive any more');
    const { calls } = await life.until(1);
    expect(calls.slice(3)).toEqual(['0h scheduleDeletion', '0.026h undoDeletion']);
    expect(life.run.replies[1]).toMatchObject({ value: { phase: 'undone', undo: { restored: ['user', 'data'] } } });
    // A request may be on its way as long as it has no answer.
    const unanswered = await requested({ scheduleDeletion: unavailable });
    await unanswered.given({ scheduleDeletion: silent }, 0.1);
    await undo(unanswered);
    await unanswered.given({ scheduleDeletion: { failure: { ended: 'called_back' } } });
    await unanswered.until(1);
    expect(unanswered.calls.slice(4)).toEqual(['0.1h scheduleDeletion', '0.126h undoDeletion']);
  });

  test('in the grace waits as well, if a request before the one that was answered got no answer', async () => {
    const life = await requested({ scheduleDeletion: { atLast: 'accepted' } });
    expect(life.run.replies).toMatchObject(answersIn('grace'));
    await undo(life);
    await life.until(1);
    expect(life.calls.slice(-2)).toEqual(['0h scheduleDeletion', '0.026h undoDeletion']);
  });

  test('that fails before the grace lets the deletion go on from where it was, and has nothing done twice', async () => {
    const failing = { scheduleDeletion: unavailable, undoDeletion: final('UndoRefused') };
    const life = await requested({ ...failing, ...running(kit) }, { onRunningWork: 'cancel' });
    await undo(life);
    await life.until(minutes(1));
    await life.given({ scheduleDeletion: 'scheduled' }, 1);
    expect(life.run.replies[1]).toEqual(refusal('undo', 'UndoRefused'));
    expect(seenOf(life)).toContain('An undo was not carried out');
    expect(life.calls).toEqual([
      ...['0h findRunningWork', '0h readUser', '0h cancelWork', '0h findRunningWork', '0h scheduleDeletion'],
      ...['0.026h undoDeletion', '0.026h scheduleDeletion'],
    ]);
    // Its grace counts from the first attempt, and "scheduled" is the echo of that.
    const graceUntil = '2026-03-08T10:00:00.000Z';
    expect(life.announced.at(-1)?.data).toMatchObject({ graceUntil, scheduledBefore: false });
  });
});

test.each([
  ['before the grace', { readUser: silent }],
  ['before it is known what runs', { findRunningWork: silent }],
  ['in the grace', {}],
])('a deletion that an operator cancels through Temporal %s ends', async (_when, answers) => {
  const life = await requested(answers);
  await life.run.cancel();
  await life.given(usual);
  expect(life.run.end).toEqual({ kind: 'failed', type: 'cancelled' });
});

describe('a user’s running work', () => {
  const answers = running(kit, link);
  const left = [kit, link].map((each) => ({ ...each, fate: 'left' }));

  test('refuses the deletion by the usual policy: nothing is asked of the service', async () => {
    const life = await requested(answers);
    expect(life.run.replies).toEqual([refusal('request', 'UserHasRunningWork')]);
    expect(life.calls).toEqual(['0h findRunningWork']);
    expect(life.events).toEqual(['0h completed']);
    expect(resultOf(life)).toMatchObject({ outcome: 'running_work', work: left });
    expect(phaseOf(life)).toBe('running_work');
    expect(seenOf(life)).toContain('Running workflows found: 2; policy: refuse');
  });

  test('is left alone, or cancelled, by the policy, and the answer and the notification say what became of it', async () => {
    const alone = await requested(answers, { onRunningWork: 'leave' });
    expect(alone.run.replies).toMatchObject([{ value: { work: left } }]);
    expect(alone.calls).not.toContain('0h cancelWork');
    const cancelWork = (_now: number, { name }: { name: string }) =>
      name === 'kitOrder' ? final('OrderEnded') : { fate: 'cancelled', reason: 'NoLongerFollowed' };
    const cancelled = await requested({ ...answers, cancelWork }, { onRunningWork: 'cancel' });
    const work = [
      { ...kit, fate: 'not_cancelled', reason: 'OrderEnded' },
      { ...link, fate: 'cancelled', reason: 'NoLongerFollowed' },
    ];
    expect(cancelled.run.replies).toMatchObject([{ value: { phase: 'grace', work } }]);
    expect(cancelled.announced[0]?.data).toMatchObject({ work });
    expect(seenOf(cancelled)).toContain('- kitOrder `kit-order/a`: not cancelled (OrderEnded)');
    expect(cancelled.calls.slice(1, 4)).toEqual(['0h readUser', '0h cancelWork', '0h cancelWork']);
  });

  test('that takes long to cancel keeps no caller waiting for more than half a minute, and an undo until it is done', async () => {
    const life = await requested({ ...answers, cancelWork: silent }, { onRunningWork: 'cancel' });
    expect(life.run.replies).toEqual([]);
    await life.until(minutes(0.5));
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    expect(seenOf(life)).toContain('Cancelling running work takes long');
    await undo(life);
    expect(life.run.replies).toHaveLength(1);
    await life.given({ cancelWork: { fate: 'cancelled' } });
    const undone = { phase: 'undone', work: [{ fate: 'cancelled' }, { fate: 'cancelled' }], undo: { restored: [] } };
    expect(life.run.replies[1]).toMatchObject({ value: undone });
    expect(life.calls).toEqual(['0h findRunningWork', '0h readUser', '0.008h cancelWork', '0.008h cancelWork']);
  });

  test('that takes long to cancel keeps nobody waiting if the caller was answered before, or if there is none', async () => {
    const policy = { onRunningWork: 'cancel' } as const;
    const life = await requested({ ...answers, readUser: unavailable, cancelWork: silent }, policy);
    await life.given(there, minutes(10));
    const none = await requested({}, policy);
    for (const each of [life, none]) {
      expect(each.run.summaries).not.toContain('to cancel running work');
      expect(seenOf(each)).not.toContain('takes long');
    }
    expect(life.run.summaries).toContain('cancel kitOrder');
  });

  describe('that began meanwhile', () => {
    const searches = (...found: object[][]) => inTurn(...found.map((work) => ({ work, notifies: true })));

    test('refuses the deletion by the usual policy', async () => {
      const life = await requested({ findRunningWork: searches([], [link]) });
      expect(life.run.replies).toEqual([refusal('request', 'UserHasRunningWork')]);
      expect(life.calls).toEqual(begins.slice(0, 3));
      expect(resultOf(life)).toMatchObject({ outcome: 'running_work', work: [{ ...link, fate: 'left' }] });
    });

    test('is left alone beside what was found before, which counts once', async () => {
      const life = await requested({ findRunningWork: searches([kit], [kit, link]) }, { onRunningWork: 'leave' });
      expect(life.announced[0]?.data['work']).toEqual(left);
    });

    test('is cancelled, too, but for what had ended with what was cancelled before', async () => {
      const ended = { workflowId: 'place-kit-order/a', name: 'placeKitOrder' };
      const cancelWork = (_now: number, { name }: { name: string }) => ({
        fate: name === 'linkProvider' ? 'cancelled' : 'ended',
      });
      const findRunningWork = searches([kit], [kit, link, ended]);
      const life = await requested({ findRunningWork, cancelWork }, { onRunningWork: 'cancel' });
      const work = [
        { ...kit, fate: 'ended' },
        { ...link, fate: 'cancelled' },
      ];
      expect(life.announced[0]?.data['work']).toEqual(work);
      expect(seenOf(life)).toContain('More running workflows found: 2; policy: cancel');
      expect(seenOf(life)).toContain('linkProvider `link-provider/u/oura`: cancelled');
    });
  });

  test('that cannot be listed is searched without end, and the caller waits half a minute for it', async () => {
    const within: unknown[] = [];
    const findRunningWork = (_now: number, _user: string, call: { within?: number }) => {
      within.push(call.within);
      return within.length === 1 ? unavailable : { work: [kit], notifies: true };
    };
    const alone = await requested({ findRunningWork }, { onRunningWork: 'leave' });
    expect(alone.run.replies).toMatchObject(answersIn('requested'));
    expect(seenOf(alone)).toContain('Temporal’s list cannot be read; it is tried again');
    expect(within.splice(0)).toEqual([30_000, undefined, undefined]);
    const life = await requested({ findRunningWork });
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    expect(within).toEqual([30_000, undefined]);
    // Nobody waits any more, so the product is notified.
    expect(life.events).toEqual(['0h user.deletion_failed running_work', '0h completed']);
    expect(life.announced[0]?.data).toMatchObject({ work: [{ ...kit, fate: 'left' }] });
  });
});

describe('a user', () => {
  test('whom the service does not know is not deleted, and keeps the work', async () => {
    const life = await requested({ readUser: { standing: 'unknown' }, ...running(kit) }, { onRunningWork: 'cancel' });
    expect(life.run.replies).toEqual([refusal('request', 'UserUnknown')]);
    expect(life.calls).toEqual(begins.slice(0, 2));
    expect(resultOf(life)).toMatchObject({ outcome: 'unknown_user' });
    expect(life.events).toEqual(['0h completed']);
  });

  test('whom something else than the service calls unknown is read again ten minutes later, and the caller is answered', async () => {
    const readUser = (now: number) => (now === start ? { standing: 'unknown', unsure: true } : { standing: 'unknown' });
    const life = await requested({ readUser });
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    expect(seenOf(life)).toContain('A 404 that may not be the lab service’s own answer; the user is read again');
    await life.until(1);
    expect(life.calls).toEqual(['0h findRunningWork', '0h readUser', '0h readUser', '0.167h readUser']);
    expect(life.events).toEqual(['0.167h user.deletion_failed unknown_user', '0.167h completed']);
  });

  test('who was scheduled before has a grace that may end earlier', async () => {
    const life = await requested({ ...gone, scheduleDeletion: 'scheduled', findEarlierDeletion: silent });
    expect(phaseOf(life)).toBe('requested');
    await life.given({ findEarlierDeletion: {} });
    expect(life.run.replies).toMatchObject([{ value: { phase: 'grace', scheduledBefore: true } }]);
    expect(life.calls).toEqual(['0h findRunningWork', '0h readUser', '0h findEarlierDeletion', ...begins.slice(2)]);
    expect(seenOf(life)).toContain('The deletion had already been scheduled');
    expect(seenOf(life)).toMatch(/the service may end it earlier/);
    const accepted = await requested({ ...gone, scheduleDeletion: 'accepted' });
    expect(accepted.run.replies).toMatchObject([{ value: { phase: 'grace', scheduledBefore: false } }]);
  });

  test('who was scheduled before stays deleted if a deletion was final, of which the product was notified', async () => {
    const life = await requested({ ...gone, findEarlierDeletion: { outcome: 'deleted' } });
    expect(life.run.replies).toEqual([refusal('request', 'UserUnknown')]);
    expect(resultOf(life)).toMatchObject({ outcome: 'deleted' });
    expect(life.events).toEqual(['0h completed']);
    expect(seenOf(life)).toContain('An earlier deletion has ended for good');
  });
});

describe('the service', () => {
  /** The caller is answered before the user can be read. */
  const lateRead = { readUser: (now: number) => (now === start ? unavailable : { standing: 'present' }) };

  test('that refuses the deletion of a user who is there is repeated to the caller', async () => {
    const life = await requested({ scheduleDeletion: final('DeletionRefused') });
    expect(life.run.replies).toEqual([refusal('request', 'DeletionRefused')]);
    expect(life.events).toEqual(['0h failed: DeletionRefused']);
    expect(life.calls.slice(4)).toEqual(['0h readUser']);
  });

  test('that refuses after the caller was answered has the product notified', async () => {
    const life = await requested({ ...lateRead, scheduleDeletion: final('DeletionRefused') });
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    const at = '0.017h';
    const { events } = await life.until(1);
    expect(events).toEqual([`${at} user.deletion_failed DeletionRefused`, `${at} failed: DeletionRefused`]);
  });

  const inDoubt = (from: string, until: string) => [
    `${from} user.attention_raised deletion_delayed`,
    ...[`${until} user.attention_cleared deletion_delayed`, `${until} user.deletion_scheduled`],
  ];

  const refusals = ['Unauthorized', 'FeatureNotEnabled'];
  test.each(refusals)('that refuses the team (%s) is the caller’s case, later a person’s for an hour', async (type) => {
    const at = await requested({ scheduleDeletion: final(type) });
    expect(at.run.replies).toEqual([refusal('request', type)]);
    expect(at.events).toEqual([`0h failed: ${type}`]);
    const later = await requested({ ...lateRead, scheduleDeletion: final(type) });
    await later.until(0.5);
    await later.given({ scheduleDeletion: 'accepted' }, 2);
    const asked = ['0.017h findRunningWork', '0.017h scheduleDeletion', '1.017h scheduleDeletion'];
    expect(later.calls.slice(3)).toEqual(asked);
    expect(later.events).toEqual(inDoubt('0.017h', '1.017h'));
  });

  test('that refuses the team while a read may be somebody else’s answer is a person’s case: nobody waits any more', async () => {
    const readUser = inTurn({ standing: 'present' }, { standing: 'unknown', unsure: true }, { standing: 'present' });
    const life = await requested({ readUser, scheduleDeletion: final('Unauthorized') });
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    await life.given({ scheduleDeletion: 'accepted' }, 1);
    expect(life.events).toEqual(inDoubt('0.167h', '0.333h'));
  });

  test.each([
    ['present', 'scheduled', { value: { phase: 'grace', scheduledBefore: false } }],
    ['scheduled', 'scheduled', { value: { phase: 'grace', scheduledBefore: true } }],
    ['present', 'unknown', { value: { phase: 'grace', scheduledBefore: false } }],
    ['scheduled', 'unknown', { refused: 'UserUnknown' }],
  ] as const)('that denies a user who was %s, and is then %s, has deleted unless nobody is there', async (...given) => {
    const [before, after, reply] = given;
    const readUser = inTurn({ standing: before }, { standing: after });
    expect((await requested({ readUser, scheduleDeletion: 'unknown' })).run.replies).toMatchObject([reply]);
  });

  test('that denies a user whom it shows is asked again every ten minutes, and a person is asked to look', async () => {
    const life = await requested({ scheduleDeletion: 'unknown' });
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    await life.until(minutes(15));
    await life.given({ scheduleDeletion: 'accepted' }, 1);
    expect(life.secondsOf('scheduleDeletion')).toEqual([0, 600, 1200]);
    expect(life.events, 'once').toEqual(inDoubt('0h', '0.333h'));
    // It is believed again.
    await life.given({ readUser: unavailable }, 169);
    expect((await life.given(gone, 170)).events.slice(4)).toEqual([
      ...['168h user.attention_raised confirmation_delayed', '169.167h user.attention_cleared confirmation_delayed'],
      ...['169.167h user.deleted', '169.167h completed'],
    ]);
  });

  const outOfTime = { failure: { ended: 'out_of_time' } };

  const outs = [{ scheduleDeletion: outOfTime }, { readUser: outOfTime }];
  test.each(outs)('has no answer when its time is up: the request is repeated, and followed (%j)', async (answers) => {
    const life = await requested(answers);
    await life.until(0.1);
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    expect(life.run.end).toBeUndefined();
    const [activity = ''] = Object.keys(answers);
    expect(life.calls.filter((call) => call.endsWith(activity)).length).toBeGreaterThan(1);
  });

  const delays = [{ scheduleDeletion: 'unknown' }, { scheduleDeletion: unavailable }];
  test.each(delays)('is asked on after an undo that fails, and so is the person: %j', async (answers) => {
    const life = await requested({ ...answers, undoDeletion: final('UndoRefused') });
    await life.until(0.1);
    await undo(life);
    await life.until(1);
    expect(life.events).toEqual([expect.stringContaining('user.attention_raised deletion_delayed')]);
    await life.given({ undoDeletion: { by: 'command' }, ...there });
    await undo(life);
    expect(life.run.shown.attributes['LabAttention']).toEqual([]);
  });

  test('that does not answer is asked in rounds of half a minute, an hour and days, with the pauses that it asks for', async () => {
    const rounds: unknown[] = [];
    const readUser = (now: number, _user: string, { within = 0 }: { within?: number }) => {
      rounds.push([(now - start) / 60_000, within / 60_000]);
      const isPausing = rounds.length === 4;
      const details = isPausing ? { fields: [], retryAfterMs: 7_200_000 } : undefined;
      return { failure: { type: 'ServiceUnavailable', isFinal: false, ...(details && { details }) } };
    };
    const life = await requested({ readUser });
    expect(life.run.replies).toMatchObject(answersIn('requested'));
    expect(life.events).toEqual([]);
    expect(life.run.shown.attributes['LabAttention']).toBeUndefined();
    expect(seenOf(life)).toContain('Attempts failed with ServiceUnavailable; they are repeated');
    await life.until(3);
    expect(rounds).toEqual([[0, 0.5], [1, 60], ...[11, 21, 141, 151, 161, 171].map((at) => [at, 1440])]);
    // A person is asked to look once.
    expect(life.events).toEqual(['0.017h user.attention_raised deletion_delayed']);
    expect(life.run.shown.attributes['LabAttention']).toEqual(['deletion_delayed']);
    expect(seenOf(life)).toContain('**Attention** deletion delayed since');
  });
});

describe('a request for a deletion that is under way', () => {
  test('gets its state, and reads the user: who was restored meanwhile is deleted by a new one', async () => {
    const life = await requested();
    await life.given(gone, 24);
    expect(await request(life)).toMatchObject({ value: { phase: 'grace', graceUntil: '2026-03-08T10:00:00.000Z' } });
    await life.given(there, 48);
    expect(await request(life, { clientUserId: 'reference-2' })).toMatchObject({
      value: { phase: 'grace', requestedAt: '2026-03-03T10:00:00.000Z', graceUntil: '2026-03-10T10:00:00.000Z' },
    });
    expect(life.events.slice(1)).toEqual(['48h user.deletion_undone', '48h user.deletion_scheduled']);
    expect(life.announced[1]?.data).toMatchObject({ by: 'elsewhere' });
    const again = begins.map((call) => call.replace('0h', '48h'));
    expect(life.calls.slice(4)).toEqual(['24h readUser', '48h readUser', ...again]);
    const { events } = await life.given(gone, 1000);
    expect(events.slice(3)).toEqual(['192h user.deletion_reminder', '216h user.deleted', '216h completed']);
  });

  test('right after the one before is looked into when a read shows what came of that', async () => {
    const life = await requested();
    expect(await request(life)).toMatchObject({ value: { phase: 'grace' } });
    expect(life.calls.slice(4)).toEqual([]);
    await life.until(1);
    expect(life.calls.slice(4, 7)).toEqual(['readUser', 'findRunningWork', 'readUser'].map((each) => `0.01h ${each}`));
    expect(life.events.slice(1)).toEqual(['0.01h user.deletion_undone', '0.01h user.deletion_scheduled']);
    expect(life.announced[1]?.data).toMatchObject({ by: 'elsewhere' });
  });

  test('whose read gets no answer within half a minute is answered, and looked into later', async () => {
    const within: unknown[] = [];
    const life = await requested();
    await life.until(1);
    life.answers['readUser'] = (_now: number, _user: string, call: { within?: number }) => {
      within.push(call.within);
      return within.length === 1 ? unavailable : { standing: 'present' };
    };
    expect(await request(life)).toMatchObject({ value: { phase: 'grace' } });
    expect(within.slice(0, 2)).toEqual([30_000, 3_600_000]);
    expect(life.announced[1]?.data).toMatchObject({ by: 'elsewhere' });
    expect(life.announced[2]?.type).toBe('user.deletion_scheduled');
  });

  test.each([
    ['present', ['1h user.deletion_undone', '1h user.deletion_scheduled']],
    ['scheduled', ['1h user.deleted', '1h completed']],
  ])('after the grace waits for the last read, which shows the user as %s', async (standing, events) => {
    const life = await requested({}, short);
    await life.given({ readUser: silent }, 1);
    expect(await request(life)).toMatchObject({ name: 'request', value: { phase: 'confirming' } });
    await life.given({ readUser: { standing } });
    expect(life.events.slice(2)).toEqual(events);
  });

  test('whom a read then shows as scheduled begins no other one, even if somebody restores them later', async () => {
    const life = await (await requested()).given(gone);
    await request(life);
    await life.until(1);
    expect(life.calls.slice(4)).toEqual(['0.01h readUser']);
    const { events } = await life.given(there, 1000);
    expect(events.slice(2)).toEqual(['168h user.deletion_undone', '168h completed']);
  });

  test('while an undo is being carried out is for the next deletion, which cannot be undone yet', async () => {
    const life = await requested({ undoDeletion: silent });
    await undo(life);
    await request(life);
    expect(await undo(life)).toEqual(refusal('undo', 'GraceNotBegun'));
    await life.given({ undoDeletion: null });
    expect(life.run.replies.slice(2)).toMatchObject([{ name: 'undo' }, { name: 'request' }]);
    expect(life.run.replies.slice(2)).toMatchObject(answersIn('undone', 'grace'));
    expect(life.events.slice(1)).toEqual(['0h user.deletion_undone', '0h user.deletion_scheduled']);
    // That one can be undone, too.
    expect(await undo(life)).toMatchObject({ value: { phase: 'undone' } });
  });

  test('of several at once one finds out that the user was restored, and one new deletion begins', async () => {
    const life = await requested();
    await life.given({ readUser: silent }, 1);
    await request(life);
    await request(life);
    await life.given(there);
    expect(life.events.slice(1)).toEqual(['1h user.deletion_undone', '1h user.deletion_scheduled']);
    expect(life.run.replies.slice(1)).toMatchObject(answersIn('grace', 'grace'));
  });

  test('whose read ends after the grace begins one new deletion, not two', async () => {
    const life = await requested({}, short);
    await life.given({ readUser: silent }, 1 - 1 / 3600);
    await request(life);
    life.run.now = start + 3_601_000;
    await life.given(there);
    expect(life.events.slice(2)).toEqual(['1h user.deletion_undone', '1h user.deletion_scheduled']);
    await undo(life);
    expect(life.events.slice(4)).toEqual(['1h user.deletion_undone', '1h completed']);
  });

  test('after one that was refused, while the product is notified, is a new one that is not', async () => {
    const [none, kits] = [running(), running(kit)].map((each) => each.findRunningWork);
    const life = await requested({ findRunningWork: inTurn(unavailable, kits, none), notify: silent });
    expect(await request(life)).toMatchObject({ value: { phase: 'grace' } });
    expect(await request(life)).toMatchObject({ value: { phase: 'grace' } });
  });

  test('leaves the undo before it to be announced, also if a worker meanwhile has no receiver', async () => {
    const life = await requested();
    life.answers['notify'] = unavailable;
    await undo(life);
    life.answers['findRunningWork'] = { work: [], notifies: false };
    await request(life);
    await life.given({ notify: undefined }, 1);
    const types = life.announced.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['user.deletion_undone', 'user.deletion_scheduled']));
  });

  test('after a deletion that somebody else undid waits for nothing of that one', async () => {
    const life = await (await requested()).given({ readUser: silent });
    await request(life);
    await life.until(0.02);
    await request(life);
    await life.given({ ...there, findRunningWork: silent });
    expect(life.run.calls).toMatchObject([{ call: { name: 'findRunningWork' } }]);
    expect(life.run.timers.size).toBe(0);
  });

  test('sets no timer again for the end that is waited for already', async () => {
    const life = await (await requested()).given(gone, 1);
    const timers = () => life.run.commands.filter((each) => each === 'startTimer').length;
    const before = timers();
    await request(life);
    expect(timers()).toBe(before);
  });

  test('gives its reference to the undo if the first gave none', async () => {
    for (const first of [undefined, 'reference-1']) {
      const life = new Life(opening, { ...usual, undoDeletion: null });
      await begin(life, { userId, policy: resolvePolicy('deletion'), clientUserId: first });
      await request(life, { clientUserId: 'reference-2' });
      await undo(life);
      expect(life.argumentsOf('undoDeletion')).toMatchObject([{ userId, clientUserId: first ?? 'reference-2' }]);
    }
  });
});

describe('an input', () => {
  test.each<[string, unknown, string?]>([
    ['an unknown field', { userId, graceDays: 2 }],
    ['no user', {}],
    ['nothing', undefined],
    ['an id that is not one, though its workflow ID is made of it', { userId: 'a/b' }, 'delete-user/a/b'],
    ['an id that is not a text, though its workflow ID is made of it', { userId: 5 }, 'delete-user/5'],
    ['another user than its ID names', { userId: 'user-2' }],
    ['a reference that is not a text', { userId, clientUserId: 5 }],
  ])(
    'with %s is refused: the run fails, and so does the request',
    async (_what, input, workflowId = opening.workflowId) => {
      const life = new Life({ ...opening, workflowId }, usual);
      await begin(life, input);
      expect(life.run.replies).toEqual([refusal('request', 'InvalidCommand')]);
      expect(life.events).toEqual(['0h failed: InvalidCommand']);
      expect(life.calls).toEqual([]);
      expect(await life.run.query('state')).toMatchObject({ phase: 'failed', failure: 'InvalidCommand' });
      const right = await requested();
      expect(await right.update('request', input)).toEqual(refusal('request', 'InvalidCommand'));
      expect(right.run.end).toBeUndefined();
      expect(right.run.accepted).toEqual(['request']);
    },
  );

  test('that is wrong at the start is the answer to a request that is right', async () => {
    const life = new Life(opening, usual);
    await life.run.start({ userId, graceDays: 2 }, [], { name: 'request', argument: { userId } });
    expect(life.run.replies).toEqual([refusal('request', 'InvalidCommand')]);
    expect(life.run.end).toMatchObject({ kind: 'failed', type: 'InvalidCommand' });
  });

  test('may write the user’s id in capitals, and a reference as null', async () => {
    const id = 'aaaaaaaa-0000-4000-8000-000000000001';
    const life = new Life({ ...opening, workflowId: `delete-user/${id}` }, usual);
    await begin(life, { userId: id.toUpperCase(), clientUserId: null, policy: resolvePolicy('deletion') });
    expect(life.run.replies[0]).toMatchObject({ value: { phase: 'grace', userId: id } });
  });

  test('with a policy that cannot be followed fails the run and the request', async () => {
    const life = new Life(opening, { ...usual, resolvePolicy: final('PolicyInvalid') });
    await begin(life, { userId, policy: { grace: 'soon' } });
    expect(life.run.replies).toEqual([refusal('request', 'PolicyInvalid')]);
    expect(life.events).toEqual(['0h failed: PolicyInvalid']);
  });
});

describe('a history that grows long', () => {
  /** A new request in the step in which the run ends; the input of the next one. */
  async function inputAfter(life: Life) {
    life.run.suggestNewRun();
    await request(life);
    return (life.run.end as unknown as { input: { carried: { nextIfRestored: object } } }).input;
  }

  test('goes on in the next run, to the same end', async () => {
    const life = await (await requested()).given(gone, 24);
    await inputAfter(life);
    const after = await life.next();
    expect(life.events.at(-1)).toBe('24h continued');
    const { events } = await after.until(1000);
    expect(events).toEqual(['120h user.deletion_reminder', '144h user.deleted', '144h completed']);
  });

  test('is refused to a release that does not know its format, also for the request that waits', async () => {
    const { carried } = await inputAfter(await requested());
    const later = { ...carried, nextIfRestored: { ...carried.nextIfRestored, version: 99 } };
    const begun = await new Life(opening, usual).start({ userId, carried: later });
    expect(JSON.stringify(begun.run.end)).toContain('has version 99');
  });

  test('takes along what is in doubt: an undo without an answer, and when it can be looked into', async () => {
    const life = await requested({ undoDeletion: unavailable });
    await life.until(1);
    await undo(life);
    await inputAfter(life);
    const after = await life.next({ ...life.answers, ...gone });
    expect(after.calls).toEqual([]);
    const { events } = await after.given(there, 1);
    expect(events).toEqual(['0.01h user.deletion_undone', '0.01h user.deletion_scheduled']);
    expect(after.announced[0]?.data).toMatchObject({ by: 'command' });
  });

  test('takes along that a request without an answer may still arrive: an undo waits until it cannot', async () => {
    const life = await requested({ scheduleDeletion: unavailable });
    await life.given(usual, 0.02);
    await inputAfter(life);
    const after = await life.next();
    await undo(after);
    expect((await after.until(1)).calls).toEqual(['0.006h undoDeletion']);
  });
});

test('the state has no field for what is not known or did not happen', () => {
  const newDeletion = () => openDeletion({ userId: 'user-1', policy: resolvePolicy('deletion') }, start);
  const none = { scheduledBefore: false, work: [], attention: [] };
  const bare = { userId: 'user-1', phase: 'requested', requestedAt: '2026-03-01T10:00:00.000Z', ...none };
  expect(stateOf(newDeletion())).toStrictEqual(bare);
  expect(nextMoment(newDeletion())).toBeUndefined();
  for (const by of ['operator-1', null]) {
    const { journal } = openDeletion({ ...newDeletion(), by: by as string }, start);
    expect(journal).toStrictEqual([{ at: bare.requestedAt, what: 'deletion requested', ...(by && { by }) }]);
  }
  const connections = ['oura'];
  const undo = { at: bare.requestedAt, by: 'command' as const, restored: [], notRestored: [] };
  const ended = { undo, outcome: 'failed' as const, failure: 'Unauthorized', endedAt: bare.requestedAt };
  expect(stateOf({ ...newDeletion(), scheduledAt: start + 5, phase: 'grace', connections, ...ended })).toStrictEqual({
    ...bare,
    phase: 'failed',
    scheduledAt: '2026-03-01T10:00:00.005Z',
    graceUntil: '2026-03-08T10:00:00.005Z',
    connections,
    ...ended,
  });
});
