import { randomUUID } from 'node:crypto';
import type { Found } from '../played-health-data.js';
import type { Story } from '../stage.js';

const resource = 'glucose';
const count = 288;

export const watchWearer: Story = {
  label: 'wearer',
  colour: 'green',
  promise:
    'A watch sends days, samples and a workout: each is kept once. Then the customer leaves, and nothing is left.',
  async play(stage) {
    const wearer = await stage.wearer();
    const workoutId = randomUUID();
    const batch = { kind: 'samples', resource, count, from: '2026-01-05T00:00:00Z' } as const;
    await wearer.sends(
      `the watch sends two days and ${count} samples`,
      { kind: 'summary', calendar_date: '2026-01-04' },
      { kind: 'summary', calendar_date: '2026-01-05' },
      batch,
    );
    await wearer.sends('a workout’s stream is too large for a webhook: there is only a notice of it', {
      kind: 'workout_stream',
      workout_id: workoutId,
    });
    stage.showStreamOf(workoutId);
    const all = await wearer.untilStreamed(resource, workoutId);
    stage.check('everything is kept', all.days.length === 2 && all.samples === count);
    stage.acts(`the product reads it: ${wordsFor(all)}; none of it was ever in Temporal`);

    await stage.moment();
    await wearer.repeatNext(`daily.data.${resource}.created`);
    await wearer.sends('the same samples come again, and this message three times over', batch);
    const again = await wearer.found(resource, workoutId);
    stage.check('nothing was added', wordsFor(again) === wordsFor(all));
    stage.acts(`the product reads it: ${wordsFor(again)}, as before`);

    await stage.moment();
    await wearer.sendsLate('a third day is held up on its way', { kind: 'summary' });
    const deletion = await stage.deleteUser(wearer.userId, '1d');
    const { outcome } = await deletion.handle.result();
    stage.check('the deletion is final', outcome === 'deleted');
    await wearer.lateArrives('the third day arrives, after the deletion');
    const left = await wearer.found(resource, workoutId);
    stage.check('nothing is left', left.days.length + left.samples === 0 && left.moments === undefined);
    stage.acts('the product reads it: nothing is left');
    return `${wordsFor(all)}, each kept once; nothing is left of them`;
  },
};

function wordsFor({ days, samples, moments = 0 }: Found): string {
  return `${days.length} days, ${samples} samples, a stream of ${moments} moments`;
}
