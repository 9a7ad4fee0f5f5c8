import type { FastifyInstance } from 'fastify';
import type { Lab } from './lab.js';
import { ServiceProblem } from './validation.js';

/** The features that a team may not be enabled for. */
export const features = [
  ...(['portal', 'links', 'timeseries', 'markers'] as const),
  ...(['import', 'appointments', 'walkIns', 'reports', 'management'] as const),
] as const;

/** The paths of each. */
const featurePaths = {
  portal: /^\/v2\/user\/[^/]+\/create_portal_url$/,
  links: /^\/v2\/link\//,
  timeseries: /^\/v2\/timeseries\//,
  markers: /^\/v3\/lab_tests\/markers$/,
  import: /^\/v3\/order\/import$/,
  appointments: /^\/v3\/order\/(?:[^/]+\/)?phlebotomy\//,
  walkIns: /^\/v3\/order\/(?:[^/]+\/)?psc\/appointment/,
  reports: /^\/lab_report\//,
  management: /^\/v1\/org\//,
} as const satisfies Record<(typeof features)[number], RegExp>;

/** Refuses what the team is not enabled for, after authentication. Neither the status nor the words are documented. */
export function closedFeatures(app: FastifyInstance, lab: Lab): void {
  app.addHook('preHandler', async (request) => {
    const { closedFeatures: closed, closedFeatureBody } = lab.settings;
    const path = request.url.split('?', 1)[0] ?? '';
    const feature = closed.find((name) => featurePaths[name].test(path));
    if (feature === undefined) return;
    const sentence = `The feature ${feature} is in closed beta and not enabled for your team.`;
    throw new ServiceProblem(403, closedFeatureBody === 'text' ? sentence : { detail: sentence });
  });
}
