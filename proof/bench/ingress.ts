import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';
import { signWebhook, type SignedWebhook } from '../../client/testing.js';
import { kitOrderId } from '../../protocol/ids.js';
import type { StartedProcess } from '../../test/rig/processes.js';
import { inParallel, type Measure, interleaved, cpuMsOf } from './rounds.js';
import { builtFileOf, type Stage } from './stage.js';

export const secret = `whsec_${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}`;
export const atOnce = 10;

/** Printed by an ingress that listens. */
const listening = /"url":"(http[^"]+)"/;

const eventsPerShot = 400;

/** Order events go to workflows that no worker runs: only what the ingress does is measured. */
export const ingress: Measure = {
  name: 'ingress',
  title: `Ingress: CPU in µs per webhook, and webhooks per second, ${atOnce} at once, against a server that only verifies, parses and signals`,
  async run(stage, { rounds }) {
    const bare = endpointOf(
      await stage.startBuilt(builtFileOf('bare-ingress'), { WEBHOOK_SECRETS: secret }, listening),
    );
    const project = await startIngress(stage, 'polled-by-nobody');
    const orders = await openedOrders(stage);
    const measured = await interleaved(
      rounds,
      Object.entries({ 'verify and parse 2 KB': reading, 'order event to signal': orderEvent(orders) }).flatMap(
        ([kind, bodyOf]) => [
          { name: `${kind}, bare`, shot: () => send(bare, bodyOf) },
          { name: `${kind}, project`, against: `${kind}, bare`, shot: () => send(project, bodyOf) },
        ],
      ),
    );
    await Promise.all([bare.stop(), project.stop()]);
    return measured;
  },
};

/** The first webhooks, which may find that the server has closed idle connections, are not counted. */
async function send(
  server: Endpoint,
  bodyOf: (index: number) => Record<string, unknown>,
): Promise<Record<string, number>> {
  const signed = Array.from({ length: atOnce + eventsPerShot }, (_, index) =>
    signWebhook({ body: bodyOf(index), secret }),
  );
  const sendSome = (count: number) =>
    inParallel(count, atOnce, async () => {
      const next = signed.pop();
      if (next) await server.send(next);
    });
  await sendSome(atOnce);
  const cpuBefore = await cpuMsOf(server.pid);
  const before = performance.now();
  await sendSome(eventsPerShot);
  const seconds = (performance.now() - before) / 1000;
  const cpu = (await cpuMsOf(server.pid)) - cpuBefore;
  return { 'CPU µs': (cpu * 1000) / eventsPerShot, 'webhooks/s': eventsPerShot / seconds };
}

/** Health data that nobody keeps here: read to its end, and let go. */
function reading(): Record<string, unknown> {
  const values = Array.from({ length: 25 }, (_, index) => ({
    timestamp: `2026-01-05T08:${index + 10}:00Z`,
    value: 61,
  }));
  const source = { provider: 'invented', type: 'watch' };
  return { event_type: 'daily.data.heartrate.created', user_id: randomUUID(), data: { source, data: values } };
}

const orderEvent = (orders: readonly string[]) => (index: number) => {
  const id = orders[index % orders.length] ?? '';
  const at = new Date().toISOString();
  const events = ['ordered', 'awaiting_registration', 'transit_customer'].map((low, event) => ({
    id: event,
    created_at: at,
    status: `received.testkit.${low}`,
  }));
  const patient = {
    patient_details: { first_name: 'Testperson', last_name: 'Invented', email: 'testperson@example.com' },
  };
  const data = { id, user_id: randomUUID(), ...patient, status: 'received', created_at: at, updated_at: at, events };
  return { event_type: 'labtest.order.updated', data };
};

async function openedOrders(stage: Stage): Promise<string[]> {
  const ids = Array.from({ length: 20 }, () => randomUUID());
  const options = { taskQueue: 'polled-by-nobody', args: [{}] };
  const { workflow } = stage.client();
  await Promise.all(ids.map((id) => workflow.start('kitOrder', { ...options, workflowId: kitOrderId(id) })));
  return ids;
}

/** A process that takes webhooks, and the connections to it, which stay open. */
export interface Endpoint {
  pid: number;
  send(webhook: SignedWebhook): Promise<void>;
  stop(): Promise<void>;
}

/** The ingress of dist/, for the orders of a task queue. */
export async function startIngress(stage: Stage, taskQueue: string): Promise<Endpoint> {
  const local = { INGRESS_HOST: '127.0.0.1', INGRESS_PORT: '0', INGRESS_DRAIN_SECONDS: '0' };
  const settings = { ...local, HEALTH_DATA: 'off', LABOPS_ENCRYPTION: 'optional', LOG_LEVEL: 'info' };
  const env = { ...settings, WEBHOOK_SECRETS: secret, TASK_QUEUE: taskQueue };
  return endpointOf(await stage.startBuilt('workers/ingress.js', env, listening));
}

function endpointOf(server: StartedProcess): Endpoint {
  const agent = new Agent({ connections: atOnce });
  const [, address = ''] = listening.exec(server.output()) ?? [];
  const url = `${new URL(address).origin}/webhooks`;
  return {
    pid: server.pid,
    async send({ headers, body }) {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent });
      await answer.body.dump();
      if (answer.statusCode !== 204) throw new Error(`a webhook was answered ${answer.statusCode}`);
    },
    async stop() {
      await agent.close();
      await server.stop();
    },
  };
}
