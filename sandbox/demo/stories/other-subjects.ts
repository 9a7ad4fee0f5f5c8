import { randomUUID } from 'node:crypto';
import { errors, type LinkState } from '../../../client/index.js';
import { type Stage, type Story, StoryFailed } from '../stage.js';
import type { Found, PlayedLink } from '../played.js';

export const drawAtHome: Story = {
  label: 'visit',
  colour: 'blue',
  inRealTime: true,
  promise: 'Blood is drawn at home. Another customer books the first slot, so ours chooses the second.',
  async play(stage) {
    const visit = await stage.visit();
    const [first, second] = await visit.slots();
    if (!first || !second) throw new StoryFailed('there are no slots to choose from');
    await stage.moment();
    stage.acts('the customer hesitates, and another customer books the first slot');
    await stage.takeSlotAway(first);
    const refusal: unknown = await visit.choose(first).catch((error: unknown) => error);
    stage.check('a slot that is gone is not booked', refusal instanceof errors.SlotGone);
    await stage.moment();
    stage.acts('the customer chooses the second slot');
    const { phase } = await visit.choose(second);
    stage.check('the appointment is confirmed', phase === 'confirmed');
    await stage.moment();
    stage.acts('the phlebotomist comes and draws blood');
    await stage.control.moveAppointment(visit.handle.orderId, 'in_progress');
    await stage.control.moveAppointment(visit.handle.orderId, 'completed');
    const { outcome, appointment } = await visit.end();
    stage.check('blood was drawn at the second slot', outcome === 'completed' && appointment?.startAt === second.start);
    return 'blood was drawn at the only appointment';
  },
};

export const oldReport: Story = {
  label: 'report',
  colour: 'cyan',
  promise:
    'A customer has a report from another lab as a PDF. It is read, a person reviews it, and its values come back.',
  async play(stage) {
    const lines = ['Lab report of Testperson Invented', 'Invented Laboratory, Springfield', 'labops-sandbox: review'];
    const report = await stage.submitReport(lines, { needsHumanReview: true });
    const { outcome, isReviewed, counts } = await report.end(stage.signal);
    stage.check('the report was read and reviewed', outcome === 'completed' && isReviewed === true);
    await report.notifications.first('completed');
    stage.acts(
      'the product reads the biomarkers from the lab service; neither they nor the file were ever in Temporal',
    );
    const biomarkers = await report.handle.biomarkers();
    stage.check('every biomarker can be read', biomarkers.length > 0 && biomarkers.length === counts?.results);
    const [first] = biomarkers;
    const [loinc] = first?.loinc_matches ?? [];
    stage.check('they are matched to LOINC', loinc?.loinc_code !== undefined);
    return `completed and reviewed: ${biomarkers.length} biomarkers, ${first?.test_name} is LOINC ${loinc?.loinc_code}`;
  },
};

/** By the sandbox's conventions (docs/sandbox.md): a code is asked for by SMS, and further ones by e-mail. */
const username = 'mfa-sms-testperson';
const rightCodes: Readonly<Record<string, string>> = { sms: '123456', email: '654321' };
const mistypedCode = '111111';

/** After so many answers of the person who watches, the story types the code itself, so it ends. */
const mostQuestions = 5;

export const linkWithCode: Story = {
  label: 'link',
  colour: 'magenta',
  inRealTime: true,
  promise: 'A user links a device. The provider asks for a code that only the user has, and the user mistypes it once.',
  patienceMs: 180_000,
  async play(stage) {
    const link = await stage.link('invented_watch');
    await stage.moment();
    const asked = await link.logIn(username);
    stage.check('the provider asks for a code', asked.phase === 'awaiting_code' && asked.mfa?.hint !== undefined);
    await stage.moment();
    stage.acts(`the user mistypes it: ${mistypedCode}`);
    const mistyped = await link.submit(mistypedCode);
    stage.check('a wrong code costs an attempt', mistyped?.outcome === 'wrong_code' && mistyped.attemptsLeft === 2);
    const answers = await typeCodes(stage, link);
    const { outcome, connectedAt, errorType } = await link.end();
    // The person who watches may have typed a code that ends a link.
    const isConnected = outcome === 'connected' && connectedAt !== undefined;
    stage.check('the link is connected', isConnected || answers > 0);
    return isConnected ? 'connected after a wrong code, confirmed by the lab service' : `${outcome}: ${errorType}`;
  },
};

/** Types codes until the link has ended. Returns how many of them a person has typed. */
async function typeCodes(stage: Stage, link: PlayedLink): Promise<number> {
  let answers = 0;
  for (;;) {
    const state = await link.handle.state();
    if (state.phase === 'awaiting_password') await link.logIn(username);
    else if (state.phase !== 'awaiting_code') return answers;
    else {
      await stage.moment();
      const typed = answers < mostQuestions ? await stage.typed(questionFor(state)) : undefined;
      if (typed !== undefined) answers += 1;
      const code = typed ?? rightCode(state);
      stage.acts(`the user types ${code}`);
      await link.submit(code);
    }
  }
}

function questionFor(state: LinkState): string {
  return `type the code, which is ${rightCode(state)}, and press Enter`;
}

function rightCode({ mfa }: LinkState): string {
  return rightCodes[mfa?.method ?? 'sms'] ?? mistypedCode;
}

const resource = 'glucose';
const count = 288;

export const watchWearer: Story = {
  label: 'wearer',
  colour: 'green',
  promise:
    'A watch sends summaries, samples and a workout. Each is stored once. Then the customer leaves, and all of it is deleted.',
  async play(stage) {
    const wearer = await stage.wearer();
    const workoutId = randomUUID();
    const batch = { kind: 'samples', resource, count, from: '2026-01-05T00:00:00Z' } as const;
    await wearer.sends(
      `the watch sends the summaries of two days and ${count} samples`,
      { kind: 'summary', calendar_date: '2026-01-04' },
      { kind: 'summary', calendar_date: '2026-01-05' },
      batch,
    );
    await wearer.sends('a workout’s stream is too large for a webhook, so the lab service only announces it', {
      kind: 'workout_stream',
      workout_id: workoutId,
    });
    stage.showStreamOf(workoutId);
    const all = await wearer.untilStreamed(resource, workoutId);
    stage.check('everything is stored', all.days.length === 2 && all.samples === count);
    stage.acts(`the product reads ${wordsFor(all)}; they were never in Temporal`);

    await stage.moment();
    await wearer.repeatNext(`daily.data.${resource}.created`);
    await wearer.sends('the watch sends the same samples again, and their message arrives three times', batch);
    const again = await wearer.found(resource, workoutId);
    stage.check('nothing was added', wordsFor(again) === wordsFor(all));
    stage.acts(`the product reads ${wordsFor(again)}, as before`);

    await stage.moment();
    await wearer.sendsLate('the summary of a third day is delayed on its way', { kind: 'summary' });
    const deletion = await stage.deleteUser(wearer.userId, '1d');
    const { outcome } = await deletion.handle.result();
    stage.check('the deletion is final', outcome === 'deleted');
    await wearer.lateArrives('the summary of the third day arrives after the deletion');
    const left = await wearer.found(resource, workoutId);
    stage.check('nothing is left', left.days.length + left.samples === 0 && left.moments === undefined);
    stage.acts('the product finds nothing any more');
    return `${wordsFor(all)}, each stored once and then deleted`;
  },
};

function wordsFor({ days, samples, moments = 0 }: Found): string {
  return `${days.length} summaries, ${samples} samples and a stream of ${moments} moments`;
}

export const changedMind: Story = {
  label: 'regrets',
  colour: 'magenta',
  promise:
    'A customer leaves and comes back within the week. The data is still there, but the watch must be linked again.',
  async play(stage) {
    const deletion = await stage.deleteNewUser(['invented_watch']);
    const { userId } = deletion.handle;
    stage.check('the user can be restored', deletion.handle.requested?.phase === 'grace');
    stage.check('the user is not there meanwhile', !(await stage.isUser(userId)));
    await stage.days(2);
    stage.acts('the customer comes back; the product undoes the deletion');
    const { undo } = await deletion.handle.undo();
    const lost = undo?.lostConnections ?? [];
    stage.check('user and data are back', undo?.restored.join() === 'user,data');
    stage.check('the watch is not', lost.join() === 'invented_watch');
    const { outcome } = await deletion.handle.result();
    stage.check('the deletion is undone', outcome === 'undone' && (await stage.isUser(userId)));
    stage.check('the product was notified', deletion.notifications.has('deletion_undone'));
    return `undone: user and data are back, ${lost.length} connection has to be linked again`;
  },
};

export const leftForGood: Story = {
  label: 'leaves',
  colour: 'red',
  promise: 'A customer leaves. The product is notified before the deletion becomes final, and once it is final.',
  async play(stage) {
    const deletion = await stage.deleteNewUser();
    await deletion.notifications.first('deletion_reminder');
    stage.acts('the product asks the customer once more; the customer does not answer');
    const { outcome } = await deletion.handle.result();
    stage.check('the deletion is final', outcome === 'deleted');
    stage.check('the product was notified', deletion.notifications.has('deleted'));
    const refused = await deletion.handle.undo().catch((error: unknown) => error);
    stage.check('it cannot be undone', refused instanceof Error && refused.name === 'GraceEnded');
    stage.acts('the product tries to undo the deletion: refused, the week is over');
    await stage.untilErased(deletion.handle.userId);
    return 'deleted; the lab service has erased the data';
  },
};
