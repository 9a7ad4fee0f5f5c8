import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { openStore } from '../../store/health-data-store.js';
import { projectFolder } from '../rig/processes.js';
import { newDatabase } from '../rig/stores.js';
import { weekOf } from './backend-example.js';
import { activity, glucose, receive, sample } from './received.js';

test('the example of docs/health-data.md is the one that is compiled and run here', async () => {
  const [page, example] = await Promise.all(
    ['docs/health-data.md', 'test/store/backend-example.ts'].map((file) => readFile(join(projectFolder, file), 'utf8')),
  );
  expect(page).toContain(
    `\`\`\`ts\n${example?.replace('../../store/health-data-reader.js', '@lab-operations/client/health-data')}\`\`\``,
  );
});

const postgresUrl = inject('postgresUrl');

test.skipIf(postgresUrl === undefined)('a backend reads summaries by day, samples by range and a stream', async () => {
  const place = await newDatabase(postgresUrl ?? '');
  const store = await openStore(place);
  const userId = randomUUID();
  await receive(store, activity(userId, 'day'));
  await receive(store, glucose(userId, [sample('2026-01-05T10:00:00Z', 1), sample('2026-01-12T00:00:00Z', 2)]));
  await store.writeStream({ userId, workoutId: '0e4f1c7a-5b0e-4f7e-9f39-0c4f6b1a2d11', stream: { time: [1] } });
  await store.close();
  const { days, values, stream } = await weekOf(userId, place.databaseUrl);
  expect(days).toMatchObject([{ id: 'day', day: '2026-01-05' }]);
  expect(values).toHaveLength(1);
  expect(stream).toEqual({ time: [1] });
});
