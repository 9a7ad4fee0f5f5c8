import type { StoryStep } from '../../lab-service/stories.js';

/** Shorter ways than the sandbox's own stories have: several are told side by side, and should be over together. */

export const toCustomer: readonly StoryStep[] = [
  { after: '1d', status: 'transit_customer' },
  { after: '1d', status: 'with_customer' },
];

export const toLab: readonly StoryStep[] = [
  { after: '1d', awaits: 'registration', status: 'transit_lab' },
  { after: '1d', status: 'delivered_to_lab' },
];

export const withResults: readonly StoryStep[] = [...toCustomer, ...toLab, { after: '2d', status: 'completed' }];
