import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import { expect, onTestFinished, test } from 'vitest';
import { kitFor } from '../rig/cast.js';
import { clientAnsweredWith } from '../rig/grpc-answers.js';
import { patienceMs } from '../rig/patience.js';
import { startBuilt } from '../rig/built.js';

test(
  'Ctrl-C ends labops with status 130 and one line, though npm passes it on a second time',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'labops-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'order.json');
    await writeFile(path, JSON.stringify(kitFor('user-1', 'interrupted-1')));
    let started = (): void => undefined;
    const isStarted = new Promise<void>((resolve) => (started = resolve));
    // It takes the order, and does not answer.
    const client = await clientAnsweredWith((method) => {
      if (method !== 'StartWorkflowExecution') return undefined;
      started();
      return 'silence';
    });
    const { address } = (client.connection as Connection).options;
    const labops = await startBuilt('workers/labops.ts', {
      args: ['orders', 'place', '--file', path],
      env: { TEMPORAL_ADDRESS: address, LABOPS_ENCRYPTION_KEYS: undefined },
    });
    await isStarted;
    process.kill(labops.pid, 'SIGINT');
    expect(await labops.stop('SIGINT')).toEqual({ code: 130, signal: null });
    expect(labops.output()).toBe(
      'Interrupted: The order may be placed nevertheless: `labops orders cancel --reference interrupted-1` cancels it.\n',
    );
  },
  patienceMs,
);
