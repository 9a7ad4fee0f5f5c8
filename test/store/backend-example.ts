import { openHealthData } from '../../store/health-data-reader.js';

export async function weekOf(userId: string, databaseUrl: string) {
  const health = openHealthData({ databaseUrl }); // in a backend: once, at its start
  const days = await health.summaries({ userId, resource: 'activity', from: '2026-01-05', to: '2026-01-11' });
  const values: unknown[] = [];
  const range = { from: '2026-01-05T00:00:00Z', to: '2026-01-12T00:00:00Z' };
  for await (const { at, data } of health.samples({ userId, resource: 'glucose', ...range })) values.push([at, data]);
  const workout = await health.workoutStream({ userId, workoutId: '0e4f1c7a-5b0e-4f7e-9f39-0c4f6b1a2d11' });
  await health.close();
  return { days, values, stream: workout?.stream };
}
