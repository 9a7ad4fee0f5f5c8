import type { StoryStep } from '../../lab-service/stories.js';

/** Shorter than in life: several are played side by side, and should end together. */

export const toCustomer: readonly StoryStep[] = [
  { after: '1d', status: 'transit_customer' },
  { after: '1d', status: 'with_customer' },
];

export const toLab: readonly StoryStep[] = [
  { after: '1d', awaits: 'registration', status: 'transit_lab' },
  { after: '1d', status: 'delivered_to_lab' },
];

export const withResults: readonly StoryStep[] = [...toCustomer, ...toLab, { after: '2d', status: 'completed' }];

/** As long as in life. */
export const unhurried: readonly StoryStep[] = [
  { after: '1d', status: 'transit_customer' },
  { after: '2d', status: 'out_for_delivery' },
  { after: '8h', status: 'with_customer' },
  { after: '3d', awaits: 'registration', status: 'transit_lab' },
  { after: '2d', status: 'delivered_to_lab' },
  { after: '3d', status: 'completed' },
];
