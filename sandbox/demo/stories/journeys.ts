import type { StoryStep } from '../../lab-service/stories.js';

/** Shorter than the sandbox's own stories: several are played side by side, and should end together. */

export const toCustomer: readonly StoryStep[] = [
  { after: '1d', status: 'transit_customer' },
  { after: '1d', status: 'with_customer' },
];

export const toLab: readonly StoryStep[] = [
  { after: '1d', awaits: 'registration', status: 'transit_lab' },
  { after: '1d', status: 'delivered_to_lab' },
];

export const withResults: readonly StoryStep[] = [...toCustomer, ...toLab, { after: '2d', status: 'completed' }];
