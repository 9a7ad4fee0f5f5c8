import { describe, expect, test } from 'vitest';
import type { AnswerName } from '../../../client/webhooks/answers.js';
import { keeping, loggingHandler, orderBody, orderEvent, outcomeOf, signed } from './sending.js';

const ours = '6f0c0a49-2f0a-4b5e-8d6f-00000000000a';
const theirs = '6f0c0a49-2f0a-4b5e-8d6f-00000000000b';
const orderId = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';

const user = { user_id: 'user-1', data: {} };
const visit = { id: 'appointment-1', order_id: orderId };
const kinds: [event: Record<string, unknown>, AnswerName][] = [
  [orderEvent(orderId), 'temporal_unavailable'],
  [{ event_type: 'lab_report.parsing_job.updated', data: { id: orderId } }, 'temporal_unavailable'],
  [{ event_type: 'labtest.appointment.updated', data: visit }, 'temporal_unavailable'],
  [{ event_type: 'daily.data.steps.created', ...user }, 'health_data_accepted'],
  [{ event_type: 'provider.connection.next_year', ...user }, 'health_data_accepted'],
  [{ event_type: 'tomorrow.event', data: {} }, 'not_handled'],
  [{ event_type: 'labtest.order.updated', data: null }, 'unreadable'],
];

/** What becomes of an event at a handler whose sinks say whether they got it. */
async function sentTo(teamId: string | undefined, body: Record<string, unknown>) {
  const { taken, sink } = keeping();
  const options = { healthData: sink, rejected: sink, ...(teamId !== undefined && { teamId }) };
  return { ...(await outcomeOf(signed(body), options)), kept: taken.length };
}

describe.each(kinds)('%j', (event, usual) => {
  test('from another team is answered 204 and counted, and nothing of it is kept', async () => {
    const { lines, ...outcome } = await sentTo(ours, { ...event, team_id: theirs });
    expect(outcome).toMatchObject({ status: 204, counted: ['foreign_team'], kept: 0 });
    expect(JSON.stringify(lines)).not.toMatch(/Testperson|user-1/);
  });

  test.each([
    ['of the own team', ours, { team_id: ours }],
    ['of the own team in capitals', ours, { team_id: ours.toUpperCase() }],
    ['that names no team', ours, {}],
    ['of any team, if no team is set', undefined, { team_id: theirs }],
  ])('%s goes its usual way', async (_whose, teamId, envelope) => {
    expect((await sentTo(teamId, { ...event, ...envelope })).counted).toEqual([usual]);
  });
});

test("an order without an envelope belongs to the order's own team", async () => {
  expect((await sentTo(ours, { ...orderBody(orderId), team_id: theirs })).counted).toEqual(['foreign_team']);
  expect((await sentTo(ours, { ...orderBody(orderId), team_id: ours })).counted).toEqual(['temporal_unavailable']);
});

test('an event from another team is logged as an error until an event from the own team has come', async () => {
  const { lines, handler } = await loggingHandler({ teamId: ours, healthData: () => Promise.resolve() });
  const send = (team_id: string, type: string) =>
    handler.handle(signed({ event_type: `daily.data.${type}.created`, user_id: 'user-1', data: {}, team_id }));
  await send(theirs, 'steps');
  expect(lines.at(-1)).toMatchObject({ level: 'error', fields: { answer: 'foreign_team' } });
  await send(ours, 'steps');
  for (let times = 0; times < 9; times += 1) await send(theirs, 'steps');
  expect(lines.at(-1)).toMatchObject({ level: 'info', fields: { answer: 'foreign_team', times: 10 } });
});
