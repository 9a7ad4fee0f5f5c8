import type { Rig } from '../rig/environments.js';
import { secret } from '../unit/webhooks/sending.js';

/** What an ingress on this machine is started with. */
export const ingressEnv = ({ address, taskQueue }: Rig) => ({
  TEMPORAL_ADDRESS: address,
  WEBHOOK_SECRETS: secret,
  INGRESS_HOST: '127.0.0.1',
  INGRESS_DRAIN_SECONDS: '0',
  INGRESS_PORT: '0',
  TASK_QUEUE: taskQueue,
});
