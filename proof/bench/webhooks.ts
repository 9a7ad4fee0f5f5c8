import { Agent, request } from 'undici';
import type { SignedWebhook } from '../../client/webhooks/sign.js';
import type { StartedProcess } from '../../test/rig/processes.js';
import type { Stage } from './stage.js';

export const secret = `whsec_${Buffer.from('an-invented-key-with-32-bytes-01').toString('base64')}`;
export const atOnce = 10;

/** Printed by an ingress that listens. */
export const listening = /"url":"(http[^"]+)"/;

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

export function endpointOf(server: StartedProcess): Endpoint {
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
