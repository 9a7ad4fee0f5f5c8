import type { FastifyInstance } from 'fastify';
// In your backend: '@lab-operations/client/health-data', with the package pg.
import type { HealthDataReader } from '../../store/health-data-reader.js';
import { html, show, table, words, type Html, type Part } from './html.js';
import { userOf } from './session.js';

/** What is shown of a series, at most. */
const mostSamples = 100;
const days = 14;
const resources = ['glucose', 'heartrate', 'blood_pressure', 'weight'];

/** What the user's devices have sent. It is read from the worker's database, not from the lab service. */
export function healthDataRoutes(app: FastifyInstance, health: HealthDataReader | undefined): void {
  app.get('/health', async (request, reply) => {
    const userId = userOf(request);
    if (health === undefined) return show(reply, 'Your health data', html`<p>No health data are kept here.</p>`);
    const range = lastDays();
    const [summaries, connections, histories] = await Promise.all([
      health.summaries({ userId, from: range.from.slice(0, 10), to: range.to.slice(0, 10) }),
      health.connections(userId),
      health.historyNotices(userId),
    ]);
    const rows = summaries.map(({ day, resource, id, provider, data }): Part[] => [
      day,
      resource === 'workouts'
        ? html`<a href="/health/workouts/${encodeURIComponent(id)}">workout</a>`
        : words(resource),
      provider,
      fieldsOfData(data),
    ]);
    const series = resources.map((name) => html`<li><a href="/health/series/${name}">${words(name)}</a></li>`);
    const sources = connections.map(({ provider, eventType, receivedAt }) => [provider, eventType, receivedAt]);
    const pasts = histories.map(({ resource, provider }) => [provider, words(resource)]);
    const content = html`<h2>The last ${days} days</h2>
      ${table(['Day', 'What', 'From', 'Values'], rows, 'Your devices have sent nothing yet.')}
      <h2>Series</h2>
      <ul>
        ${series}
      </ul>
      <h2>Where it comes from</h2>
      ${table(['Device', 'Last event', 'At'], sources, 'No device has reported itself.')}
      ${pasts.length > 0 && table(['Device', 'Its past was fetched'], pasts, '')}`;
    return show(reply, 'Your health data', content);
  });

  app.get('/health/series/:resource', async (request, reply) => {
    const userId = userOf(request);
    const { resource } = request.params as { resource: string };
    const rows: Part[][] = [];
    for await (const { at, provider, data } of health?.samples({ userId, resource, ...lastDays() }) ?? []) {
      rows.push([at.slice(0, 16).replace('T', ' '), provider, fieldsOfData(data)]);
      if (rows.length === mostSamples) break;
    }
    return show(reply, words(resource), table(['When (UTC)', 'From', 'Values'], rows, 'There are no values.'));
  });

  app.get('/health/workouts/:id', async (request, reply) => {
    const { id: workoutId } = request.params as { id: string };
    const workout = await health?.workoutStream({ userId: userOf(request), workoutId });
    const content = workout?.stream == null ? 'Its stream has not been fetched yet.' : fieldsOfData(workout.stream);
    return show(reply, 'Workout', html`<p>${content}</p>`);
  });
}

function lastDays(): { from: string; to: string } {
  const dayMs = 86_400_000;
  return { from: new Date(Date.now() - days * dayMs).toISOString(), to: new Date(Date.now() + dayMs).toISOString() };
}

/** Each resource has its own form, so the page shows the fields as they were sent. */
function fieldsOfData(data: unknown): Html {
  if (typeof data !== 'object' || data === null) return html`${String(data)}`;
  const shown = Object.entries(data).filter(([name]) => !hidden.has(name));
  const parts = shown.map(([name, value]) => `${words(name)}: ${typeof value === 'object' ? sizeOf(value) : value}`);
  return html`${parts.join(', ')}`;
}

const hidden = new Set(['user_id', 'id', 'source', 'provider', 'calendar_date', 'timestamp', 'timezone_offset']);

function sizeOf(value: unknown): string {
  return Array.isArray(value) ? `${value.length} values` : '…';
}
