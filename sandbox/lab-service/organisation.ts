import { inventedTeamId } from './seed.js';

/** The stand-in's one organisation. Its id never changes. */
export const inventedOrgId = '0c9a0000-0000-4000-8000-000000000001';
/** The place that the stand-in plays: its webhook endpoints get the deliveries. */
export const playedPlace = { teamId: inventedTeamId, environment: 'sandbox' } as const;
