import { openStore } from '../../store/health-data-store.js';

export async function weekOf(userId: string, databaseUrl: string) {
  const store = await openStore({ databaseUrl }); // in a backend: once, at its start
  const days = await store.summaries({ userId, resource: 'activity', from: '2026-01-05', to: '2026-01-11' });
  const values: unknown[] = [];
  const range = { from: '2026-01-05T00:00:00Z', to: '2026-01-12T00:00:00Z' };
  for await (const { at, data } of store.samples({ userId, resource: 'glucose', ...range })) values.push([at, data]);
  const workout = await store.workoutStream({ userId, workoutId: '0e4f1c7a-5b0e-4f7e-9f39-0c4f6b1a2d11' });
  await store.close();
  return { days, values, stream: workout?.stream };
}
