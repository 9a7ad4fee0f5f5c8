import type { Story } from './stage.js';
import { drawAtHome } from './stories/appointments.js';
import { earlyCancel, lateCancel, lateCustomer, refusedName } from './stories/customers.js';
import { firstKit } from './stories/first-kit.js';
import { watchWearer } from './stories/health-data.js';
import { linkWithCode } from './stories/links.js';
import { changedMind, leftForGood } from './stories/leavers.js';
import { criticalResult } from './stories/critical.js';
import { oldReport } from './stories/reports.js';
import { correctedResult, lostAnswer, lostKit, redrawnSample } from './stories/mishaps.js';

export interface Act {
  title: string;
  /** Played side by side. */
  stories: readonly Story[];
}

/** One story to learn to read them; then several at once, as in life. */
export const programme: readonly Act[] = [
  { title: 'One kit, from placing to results', stories: [firstKit] },
  {
    title: 'Customers hesitate, mistype and change their minds',
    stories: [lateCustomer, refusedName, earlyCancel, lateCancel],
  },
  {
    title: 'Labs, the post and the network fail, and some results are critical',
    stories: [lostAnswer, lostKit, redrawnSample, correctedResult, criticalResult],
  },
  { title: 'Blood is drawn at home', stories: [drawAtHome] },
  { title: 'A report of another lab', stories: [oldReport] },
  // Alone, because the person who watches may type in it.
  { title: 'A user links a device with a code', stories: [linkWithCode] },
  { title: 'A watch sends health data, and its wearer leaves', stories: [watchWearer] },
  { title: 'Customers leave, and some come back', stories: [changedMind, leftForGood] },
];
