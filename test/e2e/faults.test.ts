import { rm } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { planOf } from '../../proof/faults/plan.js';
import { run } from '../../proof/faults/run.js';
import { manyConnections, newFolder, openStage } from '../../proof/faults/stage.js';
import { findPostgres, startPostgres } from '../rig/postgres.js';

/** `npm run faults` plays more subjects, longer. */
const patienceMs = 1_800_000;
/** A limit that finds what never ends: on a busy machine two workers need minutes for what is late. */
const settleMs = 700_000;
const postgres = await findPostgres();
/**
 * Each story of an order once, and each kind of fault: Temporal that stands still, a worker and an ingress that are killed among them, and
 * a reset of the product's way to Temporal, which is never without a connection.
 */
const plan = planOf({ seed: 676, orders: 11, seconds: 10, hasDatabase: postgres !== undefined });

test(
  'processes are killed, connections break, the service and the receiver fail, webhooks get lost: everything ends as without faults',
  async () => {
    const folder = await newFolder(plan.seed);
    const { clocks } = plan;
    const programs = { buildFolder: inject('buildFolder'), temporal: inject('devServerProgram') };
    const server = postgres === undefined ? undefined : await startPostgres(postgres, manyConnections);
    const stage = await openStage({ ...programs, folder, clocks, databaseUrl: server?.url });
    try {
      const { violations, met } = await run(stage, plan, { settleMs });
      expect(violations).toEqual([]);
      expect(met).toBeGreaterThan(0);
    } finally {
      await stage.close();
      await server?.stop();
      await rm(folder, { recursive: true });
    }
  },
  patienceMs,
);
