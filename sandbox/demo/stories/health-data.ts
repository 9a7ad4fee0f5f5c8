import { randomUUID } from 'node:crypto';
import type { Found } from '../played-health-data.js';
import type { Story } from '../stage.js';

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
